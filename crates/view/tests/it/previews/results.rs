//! The parts that a result adds to its call, and their colours.

use pi_subagents_view::paint::plain;
use pi_subagents_view::{Line, Role, preview};
use pi_subagents_vocabulary::{Part, ToolResult};
use serde_json::{Value, json};

use crate::script::{Script, context, run, task};

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
            let lines = preview::answered(tool, &Value::Null, &result, &context());
            format!(
                "{tool} {text:?}\n{}",
                lines.get(1).map_or("-".to_owned(), plain)
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
}

fn failed(tool: &str, text: &str) -> ToolResult {
    ToolResult {
        tool: tool.to_owned(),
        parts: vec![Part::Text(text.to_owned())],
        is_error: true,
        ..ToolResult::default()
    }
}

/// Lists the spans of a line.
fn spans(line: &Line) -> Vec<(Role, &str)> {
    let spans = line.spans().iter();
    spans.map(|span| (span.role(), span.text())).collect()
}

#[test]
fn a_failed_call_is_marked_and_says_why() {
    let calls = [
        (
            "bash",
            json!({"command": "cargo test"}),
            "\n\nCommand exited with code 3",
        ),
        (
            "bash",
            json!({"command": "cargo test --workspace --all-targets --locked && cargo clippy --workspace --all-targets -- -D warnings"}),
            "Command timed out after 5 seconds",
        ),
        (
            "edit",
            json!({"path": "README.md", "edits": [{"oldText": "a", "newText": "b"}]}),
            "Could not find the exact text in README.md. The old text must match.",
        ),
        (
            "write",
            json!({"path": "a", "content": "b\nc"}),
            "EACCES: permission denied, open 'a'",
        ),
        (
            "read",
            json!({"path": "gone.md", "offset": 3, "limit": 9}),
            "ENOENT: no such file or directory",
        ),
        ("ls", json!({"path": "gone"}), "Path not found: gone"),
        (
            "deploy",
            json!({"to": "production"}),
            "Tool deploy not found",
        ),
        ("other", json!({"a": 1}), &"long ".repeat(100)),
    ];
    let shown: Vec<String> = calls
        .iter()
        .flat_map(|(tool, arguments, text)| {
            preview::answered(tool, arguments, &failed(tool, text), &context())
        })
        .map(|line| {
            assert!(line.width() <= context().width, "{line:?}");
            plain(&line)
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    ✗ bash → cargo test  exit 3
    ✗ bash → cargo test --workspace --all-targets --locked &&
           │ cargo clippy --workspace --all-targets -- -D warnings  timed out after 5s
    ✗ edit → README.md (1 edit)  text not found
    ✗ write → a  EACCES: permission denied, open 'a'
    ✗ read → gone.md:3+9  ENOENT: no such file or directory
    ✗ ls → gone  Path not found: gone
    ✗ deploy: the sub-agent has no such tool
    ✗ other {"a":1}  long long long long long long long long long lo...
    "#);
    let (tool, arguments, text) = &calls[0];
    let line = &preview::answered(tool, arguments, &failed(tool, text), &context())[0];
    let expected = [
        (Role::Failed, "✗ bash"),
        (Role::Muted, " → cargo test"),
        (Role::Failed, "  exit 3"),
    ];
    assert_eq!(spans(line), expected);
}

/// Gives a window a call of `edit`, the record of its end, and its result. Returns the newest line
/// after each of them.
fn edited(details: &Value, is_error: bool) -> Vec<String> {
    let arguments = json!({"path": "a", "edits": [{"oldText": "x", "newText": "y\nz"}]});
    let ended = json!({"type": "tool_execution_end", "toolCallId": "call-1", "toolName": "edit",
        "isError": is_error, "result": {"content": [], "details": details}});
    let text = if is_error {
        "Could not find the exact text in a."
    } else {
        "Replaced."
    };
    let result = json!({"type": "message_end", "message": {"role": "toolResult",
        "toolCallId": "call-1", "toolName": "edit", "isError": is_error,
        "content": [{"type": "text", "text": text}]}});
    let begun = Script::new()
        .accepted(0, task("scan"))
        .started(0, "scan")
        .called(1, "scan", "edit", &arguments);
    let newest = |script: &Script| {
        let wall = script.wall();
        let window = wall.window(&run("scan")).unwrap();
        window.lines(1).next().unwrap().text()
    };
    let mut seen = vec![newest(&begun)];
    let ended = begun.printed(2, "scan", &ended.to_string());
    seen.push(newest(&ended));
    let answered = ended.printed(2, "scan", &result.to_string());
    seen.push(newest(&answered));
    seen
}

#[test]
fn the_counts_of_an_edit_come_from_its_result() {
    let diff = json!({"diff": "  1 a\n- 2 x\n+ 2 y\n+ 3 z"});
    let done = "edit → a (1 edit) +2/-1";
    let running = "edit → a (1 edit) (running)";
    assert_eq!(edited(&diff, false), [running, done, done]);
    let unknown = "edit → a (1 edit)";
    assert_eq!(edited(&json!({}), false), [running, unknown, unknown]);
    let (somehow, failed) = ("✗ edit → a (1 edit)", "✗ edit → a (1 edit)  text not found");
    assert_eq!(edited(&diff, true), [running, somehow, failed]);
}

#[test]
fn what_was_added_and_removed_has_a_role() {
    let arguments = json!({"path": "a", "content": "y\nz"});
    let line = &preview::call("write", &arguments, &context())[0];
    assert_eq!(
        spans(line),
        [(Role::Muted, "write → a"), (Role::Added, " +2")]
    );
}
