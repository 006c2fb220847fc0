//! Long previews are cut where it hurts least.

use std::path::PathBuf;

use pi_subagents_view::PreviewContext;

use super::table;
use crate::script::context;

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
        edit → src/a/very/long/path/... (1 edit)
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
