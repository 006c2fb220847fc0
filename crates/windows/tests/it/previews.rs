//! Every preview: a call, and the lines that show it.

use std::path::PathBuf;

use pi_subagents_delegation::{Part, ToolResult};
use pi_subagents_windows::paint::plain;
use pi_subagents_windows::{PreviewContext, Role, preview};
use serde_json::Value;

use crate::script::context;

/// Shows a table of calls, each followed by what a window shows of it.
fn table(calls: &str, context: &PreviewContext) -> String {
    let mut table = String::new();
    for call in calls.lines().map(str::trim).filter(|call| !call.is_empty()) {
        let (tool, arguments) = call.split_once(' ').unwrap_or((call, "null"));
        let arguments: Value = serde_json::from_str(arguments).expect(call);
        table.push_str(call);
        table.push('\n');
        for line in preview::call(tool, &arguments, context) {
            assert!(line.width() <= context.width, "{line:?}");
            table.push_str("    ");
            table.push_str(&plain(&line));
            table.push('\n');
        }
    }
    table
}

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
        edit → src/lib.rs (2 edits) +4/-3
    edit {"path":"src/lib.rs","edits":[{"oldText":"a","newText":""}]}
        edit → src/lib.rs (1 edit) +0/-1
    edit {"path":"src/lib.rs","oldText":"a\nb","newText":"c"}
        edit → src/lib.rs (1 edit) +1/-2
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
        edit → a (2 edits) +0/-0
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

#[test]
fn paths_are_as_short_as_they_can_be() {
    let calls = r#"
        read {"path":"/home/ada"}
        read {"path":"/home/ada/.bashrc"}
        read {"path":"/home/adam/x"}
        read {"path":"/home/ada/engine"}
        read {"path":"/home/ada/engineer/x"}
        read {"path":"/home/ada/engine/../x"}
        read {"path":"/home/ada/pump/a.rs"}
        read {"path":"/etc/passwd"}
        read {"path":"./src/lib.rs"}
        read {"path":"/"}
    "#;
    insta::assert_snapshot!(table(calls, &context()), @r#"
    read {"path":"/home/ada"}
        read → ~
    read {"path":"/home/ada/.bashrc"}
        read → ~/.bashrc
    read {"path":"/home/adam/x"}
        read → /home/adam/x
    read {"path":"/home/ada/engine"}
        read → .
    read {"path":"/home/ada/engineer/x"}
        read → ~/engineer/x
    read {"path":"/home/ada/engine/../x"}
        read → ~/engine/../x
    read {"path":"/home/ada/pump/a.rs"}
        read → ~/pump/a.rs
    read {"path":"/etc/passwd"}
        read → /etc/passwd
    read {"path":"./src/lib.rs"}
        read → ./src/lib.rs
    read {"path":"/"}
        read → /
    "#);
    let homeless = PreviewContext {
        home: Some(PathBuf::from("/")),
        cwd: PathBuf::new(),
        width: 100,
    };
    insta::assert_snapshot!(table(r#"read {"path":"/etc/passwd"}"#, &homeless), @r#"
    read {"path":"/etc/passwd"}
        read → /etc/passwd
    "#);
}

#[test]
fn commands_are_collapsed_split_and_cut() {
    let narrow = PreviewContext {
        width: 40,
        ..context()
    };
    let calls = r#"
        bash {"command":"cd /home/ada/engine && cargo test"}
        bash {"command":"cd \"/home/ada/engine\"; cargo test"}
        bash {"command":"cd . && cd /home/ada/engine/ && ls"}
        bash {"command":"cd /home/ada/engine"}
        bash {"command":"cd /home/ada/other && ls"}
        bash {"command":"cat /home/ada/engine/src/lib.rs /home/ada/.bashrc --out=/home/ada/engine/x"}
        bash {"command":"cargo fmt && cargo clippy && cargo test --all"}
        bash {"command":"echo 'a && b' && printf \"%s && %s\" \\\"one && cargo test --workspace"}
        bash {"command":"a1234567890 && b1234567890 && c1234567890 && d1234567890 && e1234567890 && f1234567890 && g1234567890 && h1234567890 && i1234567890"}
        bash {"command":"true &&& false && && echo a very long command that is cut in the end"}
        bash {"command":"printf 日本語日本語日本語日本語日本語日本語日本語"}
    "#;
    insta::assert_snapshot!(table(calls, &narrow), @r#"
    bash {"command":"cd /home/ada/engine && cargo test"}
        bash → cargo test
    bash {"command":"cd \"/home/ada/engine\"; cargo test"}
        bash → cargo test
    bash {"command":"cd . && cd /home/ada/engine/ && ls"}
        bash → ls
    bash {"command":"cd /home/ada/engine"}
        bash → cd .
    bash {"command":"cd /home/ada/other && ls"}
        bash → cd ~/other && ls
    bash {"command":"cat /home/ada/engine/src/lib.rs /home/ada/.bashrc --out=/home/ada/engine/x"}
        bash → cat src/lib.rs ~/.bashrc --out=x
    bash {"command":"cargo fmt && cargo clippy && cargo test --all"}
        bash → cargo fmt && cargo clippy &&
             │ cargo test --all
    bash {"command":"echo 'a && b' && printf \"%s && %s\" \\\"one && cargo test --workspace"}
        bash → echo 'a && b' &&
             │ printf "%s && %s" \"one &&
             │ cargo test --workspace
    bash {"command":"a1234567890 && b1234567890 && c1234567890 && d1234567890 && e1234567890 && f1234567890 && g1234567890 && h1234567890 && i1234567890"}
        bash → a1234567890 && b1234567890 &&
             │ c1234567890 && d1234567890 &&
             │ e1234567890 && f1234567890 &&
             │ g1234567890 && h1234567890 && ...
    bash {"command":"true &&& false && && echo a very long command that is cut in the end"}
        bash → true && & false &&
             │ echo a very long command that ...
    bash {"command":"printf 日本語日本語日本語日本語日本語日本語日本語"}
        bash → printf 日本語日本語日本語日本...
    "#);
}

#[test]
fn counts_stay_when_what_a_call_is_about_is_cut() {
    let narrow = PreviewContext {
        width: 40,
        ..context()
    };
    let calls = r#"
        edit {"path":"src/a/very/long/path/to/a/file/with/a/long/name.rs","edits":[{"oldText":"a","newText":"b"}]}
        write {"path":"日本語/日本語/日本語/日本語/日本語/日本語.md","content":"a"}
        read {"path":"src/x\u0301x\u0301x\u0301/👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧/long/name.rs","offset":1,"limit":200}
        fetch_content {"url":"https://example.org/a/very/long/address/that/does/not/fit"}
        screenshot {"a":"a very long value that does not fit at all","b":1}
        lsp_refactor_symbol {"file":"src/a/very/long/path.rs","line":1,"column":2,"newName":"aVeryLongNewNameForIt"}
        grep {"pattern":"a\nb\u001b[2J","path":"src"}
    "#;
    insta::assert_snapshot!(table(calls, &narrow), @r#"
    edit {"path":"src/a/very/long/path/to/a/file/with/a/long/name.rs","edits":[{"oldText":"a","newText":"b"}]}
        edit → src/a/very/long... (1 edit) +1/-1
    write {"path":"日本語/日本語/日本語/日本語/日本語/日本語.md","content":"a"}
        write → 日本語/日本語/日本語/日本... +1
    read {"path":"src/x\u0301x\u0301x\u0301/👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧/long/name.rs","offset":1,"limit":200}
        read → src/x́x́x́/👩‍👩‍👧👩‍👩‍👧...:1+200 (200 lines)
    fetch_content {"url":"https://example.org/a/very/long/address/that/does/not/fit"}
        fetch_content → https://example.org/a...
    screenshot {"a":"a very long value that does not fit at all","b":1}
        screenshot {"a":"a very long value th...
    lsp_refactor_symbol {"file":"src/a/very/long/path.rs","line":1,"column":2,"newName":"aVeryLongNewNameForIt"}
        lsp_refactor_symbol → src/a/...:1:2 →...
    grep {"pattern":"a\nb\u001b[2J","path":"src"}
        grep → /a b/ → src
    "#);
}

#[test]
fn results_of_ls_and_find_are_summed_up() {
    let results = [
        ("ls", "a.ts\nb.ts\nsrc/"),
        ("ls", "a.ts"),
        ("ls", "src/\nlib/"),
        ("ls", "(empty directory)"),
        ("ls", ""),
        (
            "ls",
            "a\nb/\n\n[500 entries limit reached. Use limit=1000 for more]",
        ),
        ("ls", "[slug].ts\n[50KB] limit"),
        ("find", "a.ts\nb.ts\nsrc/c.ts"),
        ("find", "a.ts"),
        ("find", "No files found matching pattern"),
        (
            "find",
            "a\nb\n\n[1000 results limit reached. 50.0KB limit reached]",
        ),
        ("grep", "a:1"),
    ];
    let summaries: Vec<String> = results
        .map(|(tool, text)| {
            let result = ToolResult {
                tool: tool.to_owned(),
                parts: vec![Part::Text(text.to_owned())],
                ..ToolResult::default()
            };
            let line = preview::summary(&result);
            format!(
                "{tool} {text:?}\n{}",
                line.as_ref().map_or("-".to_owned(), plain)
            )
        })
        .into();
    insta::assert_snapshot!(summaries.join("\n"), @r#"
    ls "a.ts\nb.ts\nsrc/"
      2 files, 1 dir
    ls "a.ts"
      1 file
    ls "src/\nlib/"
      2 dirs
    ls "(empty directory)"
      (empty)
    ls ""
      (empty)
    ls "a\nb/\n\n[500 entries limit reached. Use limit=1000 for more]"
      1 file, 1 dir+
    ls "[slug].ts\n[50KB] limit"
      2 files
    find "a.ts\nb.ts\nsrc/c.ts"
      3 matches
    find "a.ts"
      1 match
    find "No files found matching pattern"
      0 matches
    find "a\nb\n\n[1000 results limit reached. 50.0KB limit reached]"
      2 matches+
    grep "a:1"
    -
    "#);
    let failed = ToolResult {
        tool: "ls".to_owned(),
        is_error: true,
        ..ToolResult::default()
    };
    assert_eq!(preview::summary(&failed), None);
}

#[test]
fn what_was_added_and_removed_has_a_role() {
    let arguments =
        serde_json::json!({"path": "a", "edits": [{"oldText": "x", "newText": "y\nz"}]});
    let line = &preview::call("edit", &arguments, &context())[0];
    let roles: Vec<(Role, &str)> = line
        .spans()
        .iter()
        .map(|span| (span.role(), span.text()))
        .collect();
    assert_eq!(
        roles,
        [
            (Role::Muted, "edit → a"),
            (Role::Muted, " (1 edit) "),
            (Role::Added, "+2"),
            (Role::Muted, "/"),
            (Role::Removed, "-1"),
        ]
    );
}
