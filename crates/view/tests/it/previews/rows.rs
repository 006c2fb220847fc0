//! One row per tool, and what a call leaves out.

use super::table;
use crate::script::context;

#[test]
fn every_row_of_the_table() {
    let calls = r##"
        read {"path":"/home/ada/engine/src/lib.rs"}
        read {"path":"src/lib.rs","offset":10}
        read {"path":"src/lib.rs","limit":40}
        read {"path":"src/lib.rs","offset":10,"limit":40}
        read {"path":"src/lib.rs","offset":"10","limit":"1"}
        write {"path":"notes.md","content":"# Title\n\none\ntwo\n"}
        write {"path":"empty","content":""}
        edit {"path":"src/lib.rs","edits":[{"oldText":"a\n\nb","newText":"c"},{"oldText":"d","newText":"e\nf\ng"}]}
        edit {"path":"src/lib.rs","edits":[{"oldText":"a","newText":""}]}
        edit {"path":"src/lib.rs","oldText":"a\nb","newText":"c"}
        grep {"pattern":"fn main"}
        grep {"pattern":"fn main","path":"/home/ada/engine/src"}
        grep {"pattern":"fn main","path":"src","glob":"*.rs"}
        ls {}
        ls {"path":"/home/ada/engine/src"}
        ls {"path":"/home/ada/engine"}
        find {"pattern":"*.ts","path":"src/"}
        find {"pattern":"*.ts"}
        bash {"command":"cargo test"}
        bash {"command":"cat > a.py <<EOF\nprint(1)\nEOF"}
        bash {"command":"\n\n  cargo test\n"}
        delegate_to_subagents {"tasks":[{"name":"a"},{"name":"b"}]}
        delegate_to_subagents {"profile":"researcher","tasks":[{"profile":"writer"},{"profile":"researcher"},{}]}
        delegate_to_subagents {"tasks":[{"profile":"writer"}]}
        get_subagent_output {"sessionId":"a3f7b9c2d1e8f4a1"}
        get_subagent_session {"sessionId":"a3f7b9c2d1e8f4a1"}
        get_subagent_session {}
        list_subagent_profiles {}
        lsp_diagnostics {"file":"/home/ada/engine/src/lib.rs"}
        lsp_find_references {"filePath":"src/lib.rs","line":10,"column":4}
        lsp_hover {"path":"src/lib.rs","line":10,"character":4}
        lsp_find_symbol {"query":"Fleet"}
        lsp_refactor_symbol {"file":"src/lib.rs","line":10,"column":4,"newName":"Squad"}
        fetch_content {"url":"https://example.org/page"}
        fetch_content {"urls":["https://example.org/a","https://example.org/b","https://example.org/c"]}
        web_search {"query":"rust terminal width"}
        web_search {"queries":["one","two"]}
        fetch_repo {"url":"https://example.org/repo.git"}
        write_todos {"todos":[{"content":"a"},{"content":"b"}]}
        edit_todos {"description":"Mark the first as done","action":"complete","indices":[0]}
        edit_todos {"action":"complete","indices":[0,2]}
        edit_todos {"action":"clear"}
        list_todos {}
        lint_files {"files":["a.ts","b.ts"]}
        lint_files {"files":["a.ts","b.ts","c.ts","d.ts","/home/ada/engine/e.ts"]}
        lint_files {}
        lint_files {"files":[]}
        workflow_step {"action":"next"}
        screenshot {"url":"http://localhost","full":true}
        screenshot {}
        screenshot
    "##;
    insta::assert_snapshot!(table(calls, &context()), @r##"
    read {"path":"/home/ada/engine/src/lib.rs"}
        read → src/lib.rs
    read {"path":"src/lib.rs","offset":10}
        read → src/lib.rs:10
    read {"path":"src/lib.rs","limit":40}
        read → src/lib.rs:1+40 (40 lines)
    read {"path":"src/lib.rs","offset":10,"limit":40}
        read → src/lib.rs:10+40 (40 lines)
    read {"path":"src/lib.rs","offset":"10","limit":"1"}
        read → src/lib.rs:10+1 (1 line)
    write {"path":"notes.md","content":"# Title\n\none\ntwo\n"}
        write → notes.md +3
    write {"path":"empty","content":""}
        write → empty +0
    edit {"path":"src/lib.rs","edits":[{"oldText":"a\n\nb","newText":"c"},{"oldText":"d","newText":"e\nf\ng"}]}
        edit → src/lib.rs (2 edits)
    edit {"path":"src/lib.rs","edits":[{"oldText":"a","newText":""}]}
        edit → src/lib.rs (1 edit)
    edit {"path":"src/lib.rs","oldText":"a\nb","newText":"c"}
        edit → src/lib.rs (1 edit)
    grep {"pattern":"fn main"}
        grep → /fn main/
    grep {"pattern":"fn main","path":"/home/ada/engine/src"}
        grep → /fn main/ → src
    grep {"pattern":"fn main","path":"src","glob":"*.rs"}
        grep → /fn main/ → *.rs
    ls {}
        ls → .
    ls {"path":"/home/ada/engine/src"}
        ls → src
    ls {"path":"/home/ada/engine"}
        ls → .
    find {"pattern":"*.ts","path":"src/"}
        find → *.ts in src/
    find {"pattern":"*.ts"}
        find → *.ts
    bash {"command":"cargo test"}
        bash → cargo test
    bash {"command":"cat > a.py <<EOF\nprint(1)\nEOF"}
        bash → cat > a.py <<EOF
    bash {"command":"\n\n  cargo test\n"}
        bash → cargo test
    delegate_to_subagents {"tasks":[{"name":"a"},{"name":"b"}]}
        delegate_to_subagents → 2 tasks
    delegate_to_subagents {"profile":"researcher","tasks":[{"profile":"writer"},{"profile":"researcher"},{}]}
        delegate_to_subagents → 3 tasks [researcher, writer]
    delegate_to_subagents {"tasks":[{"profile":"writer"}]}
        delegate_to_subagents → 1 task [writer]
    get_subagent_output {"sessionId":"a3f7b9c2d1e8f4a1"}
        get_subagent_output → a3f7b9c2d1e8f4a1
    get_subagent_session {"sessionId":"a3f7b9c2d1e8f4a1"}
        get_subagent_session → a3f7b9c2d1e8f4a1
    get_subagent_session {}
        get_subagent_session
    list_subagent_profiles {}
        list_subagent_profiles
    lsp_diagnostics {"file":"/home/ada/engine/src/lib.rs"}
        lsp_diagnostics → src/lib.rs
    lsp_find_references {"filePath":"src/lib.rs","line":10,"column":4}
        lsp_find_references → src/lib.rs:10:4
    lsp_hover {"path":"src/lib.rs","line":10,"character":4}
        lsp_hover → src/lib.rs:10:4
    lsp_find_symbol {"query":"Fleet"}
        lsp_find_symbol → Fleet
    lsp_refactor_symbol {"file":"src/lib.rs","line":10,"column":4,"newName":"Squad"}
        lsp_refactor_symbol → src/lib.rs:10:4 → Squad
    fetch_content {"url":"https://example.org/page"}
        fetch_content → https://example.org/page
    fetch_content {"urls":["https://example.org/a","https://example.org/b","https://example.org/c"]}
        fetch_content → https://example.org/a +2 more
    web_search {"query":"rust terminal width"}
        web_search → rust terminal width
    web_search {"queries":["one","two"]}
        web_search → one +1 more
    fetch_repo {"url":"https://example.org/repo.git"}
        fetch_repo → https://example.org/repo.git
    write_todos {"todos":[{"content":"a"},{"content":"b"}]}
        write_todos → 2 todos written
    edit_todos {"description":"Mark the first as done","action":"complete","indices":[0]}
        edit_todos → Mark the first as done
    edit_todos {"action":"complete","indices":[0,2]}
        edit_todos → complete [0, 2]
    edit_todos {"action":"clear"}
        edit_todos → clear
    list_todos {}
        list_todos
    lint_files {"files":["a.ts","b.ts"]}
        lint → a.ts, b.ts
    lint_files {"files":["a.ts","b.ts","c.ts","d.ts","/home/ada/engine/e.ts"]}
        lint → a.ts, b.ts, c.ts +2 more
    lint_files {}
        lint → (all)
    lint_files {"files":[]}
        lint → (all)
    workflow_step {"action":"next"}
        workflow_step → next
    screenshot {"url":"http://localhost","full":true}
        screenshot {"url":"http://localhost","full":true}
    screenshot {}
        screenshot
    screenshot
        screenshot
    "##);
}

#[test]
fn what_is_missing_or_odd_is_three_dots() {
    let calls = r#"
        read {"path":5}
        read null
        read {"path":"a","offset":{},"limit":[]}
        write {"path":null,"content":7}
        edit {"path":"a"}
        edit {"edits":"[{}]"}
        edit {"path":"a","edits":[5,{"oldText":1}]}
        grep {}
        grep {"pattern":["x"],"glob":3}
        ls {"path":{}}
        ls {"path":null}
        find {"path":1}
        bash {}
        bash {"command":["ls"]}
        bash {"command":"  "}
        delegate_to_subagents {"tasks":"two"}
        delegate_to_subagents {"tasks":[5],"profile":5}
        get_subagent_output {"sessionId":5}
        lsp_hover {"line":"x"}
        lsp_find_symbol {}
        lsp_refactor_symbol {"file":"a"}
        fetch_content {}
        fetch_content {"urls":[1,2]}
        web_search {"query":null}
        write_todos {"todos":3}
        edit_todos {}
        edit_todos {"action":"complete","indices":["a",1]}
        lint_files {"files":[1]}
        workflow_step {}
        screenshot [1]
    "#;
    insta::assert_snapshot!(table(calls, &context()), @r#"
    read {"path":5}
        read → ...
    read null
        read → ...
    read {"path":"a","offset":{},"limit":[]}
        read → a:...+... (... lines)
    write {"path":null,"content":7}
        write → ... +...
    edit {"path":"a"}
        edit → a (... edits)
    edit {"edits":"[{}]"}
        edit → ... (... edits)
    edit {"path":"a","edits":[5,{"oldText":1}]}
        edit → a (2 edits)
    grep {}
        grep → /.../
    grep {"pattern":["x"],"glob":3}
        grep → /.../ → ...
    ls {"path":{}}
        ls → ...
    ls {"path":null}
        ls → .
    find {"path":1}
        find → ... in ...
    bash {}
        bash → ...
    bash {"command":["ls"]}
        bash → ...
    bash {"command":"  "}
        bash → ...
    delegate_to_subagents {"tasks":"two"}
        delegate_to_subagents → ... tasks
    delegate_to_subagents {"tasks":[5],"profile":5}
        delegate_to_subagents → 1 task [...]
    get_subagent_output {"sessionId":5}
        get_subagent_output → ...
    lsp_hover {"line":"x"}
        lsp_hover → ...:...
    lsp_find_symbol {}
        lsp_find_symbol → ...
    lsp_refactor_symbol {"file":"a"}
        lsp_refactor_symbol → a → ...
    fetch_content {}
        fetch_content → ...
    fetch_content {"urls":[1,2]}
        fetch_content → ... +1 more
    web_search {"query":null}
        web_search → ...
    write_todos {"todos":3}
        write_todos → ... todos written
    edit_todos {}
        edit_todos → ...
    edit_todos {"action":"complete","indices":["a",1]}
        edit_todos → complete [..., 1]
    lint_files {"files":[1]}
        lint → ...
    workflow_step {}
        workflow_step → ...
    screenshot [1]
        screenshot [1]
    "#);
}
