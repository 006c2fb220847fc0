//! What the model sees when it calls a tool.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::testing::{call, call_until};
use crate::abort::AbortSwitch;
use crate::message::Block;

#[tokio::test]
async fn read_shows_lines_and_how_to_get_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::create_dir(directory.path().join("sub")).unwrap();
    let mut seen = Vec::new();
    for arguments in [
        json!({"path": "a.txt"}),
        json!({"path": "a.txt", "offset": 2, "limit": 1}),
        json!({"path": "a.txt", "limit": 0}),
        json!({"path": "a.txt", "offset": 9}),
        json!({"path": "missing"}),
        json!({"path": "sub"}),
        json!({"path": "/dev/zero"}),
    ] {
        let shown = call(directory.path(), "read", arguments).await.text();
        seen.push(shown.replace(&directory.path().display().to_string(), "DIR"));
    }
    insta::assert_snapshot!(seen.join("\n---\n"), @"");
}

#[tokio::test]
async fn read_cuts_long_files_by_lines_and_by_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let many: String = (1..=2500).map(|number| format!("{number}\n")).collect();
    fs::write(directory.path().join("many"), many).unwrap();
    fs::write(directory.path().join("wide"), "x".repeat(1000).add_lines(100)).unwrap();
    fs::write(directory.path().join("endless"), "y".repeat(60_000)).unwrap();
    let mut seen = Vec::new();
    for (file, offset) in [("many", 1), ("many", 2400), ("wide", 1), ("endless", 1)] {
        let called = call(directory.path(), "read", json!({"path": file, "offset": offset})).await;
        let text = called.text();
        let last = text.lines().last().unwrap().to_owned();
        let mut details = called.output.details.unwrap_or(Value::Null);
        details["truncation"]["content"] = json!("…");
        seen.push(format!("{} bytes, {last} {details}", text.len()));
    }
    insta::assert_snapshot!(seen.join("\n"), @"");
}

trait AddLines {
    fn add_lines(&self, count: usize) -> String;
}

impl AddLines for String {
    fn add_lines(&self, count: usize) -> String {
        vec![self.as_str(); count].join("\n")
    }
}

#[tokio::test]
async fn read_attaches_images() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.png"), b"\x89PNG\r\n\x1a\n rest").unwrap();
    let called = call(directory.path(), "read", json!({"path": "a.png"})).await;
    assert_eq!(
        called.output.content,
        [
            Block::text("Read image file [image/png]"),
            Block::Image {
                data: "iVBORw0KGgogcmVzdA==".to_owned(),
                mime_type: "image/png".to_owned(),
            },
        ]
    );
}

#[tokio::test]
async fn write_makes_the_directories_above() {
    let directory = tempfile::tempdir().unwrap();
    let called = call(directory.path(), "write", json!({"path": "a/b/c.txt", "content": "hi"})).await;
    assert_eq!(called.text(), "Successfully wrote to a/b/c.txt");
    assert_eq!(fs::read_to_string(directory.path().join("a/b/c.txt")).unwrap(), "hi");
    let refused = call(directory.path(), "write", json!({"path": "a", "content": ""})).await;
    assert!(refused.text().starts_with("error: EISDIR: illegal operation on a directory, open"));
}

#[tokio::test]
async fn edit_keeps_line_ends_and_bom_and_shows_the_change() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.txt");
    let lines: Vec<String> = (1..=12).map(|number| format!("line {number}")).collect();
    fs::write(&file, format!("\u{feff}{}\r\n", lines.join("\r\n"))).unwrap();
    let arguments = json!({"path": "a.txt", "edits": [
        {"oldText": "line 2\n", "newText": "line two\n"},
        {"oldText": "line 11", "newText": "line eleven"},
    ]});
    let called = call(directory.path(), "edit", arguments).await;
    assert_eq!(called.text(), "Successfully replaced 2 block(s) in a.txt.");
    let details = called.output.details.unwrap();
    assert_eq!(details["firstChangedLine"], 2);
    let shown = format!("{}\n{}", details["diff"].as_str().unwrap(), details["patch"].as_str().unwrap());
    insta::assert_snapshot!(shown, @"");
    let changed = fs::read_to_string(&file).unwrap();
    assert!(changed.starts_with("\u{feff}line 1\r\nline two\r\nline 3\r\n"), "{changed:?}");
    assert!(changed.ends_with("line eleven\r\nline 12\r\n"), "{changed:?}");
}

#[tokio::test]
async fn edit_says_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), "a a b").unwrap();
    fs::write(directory.path().join("binary"), b"\xff\xfe").unwrap();
    let edit = |old: &str, new: &str| json!({"oldText": old, "newText": new});
    let mut seen = Vec::new();
    for (path, edits) in [
        ("a.txt", json!([edit("zzz", "x")])),
        ("a.txt", json!([edit("a", "x")])),
        ("a.txt", json!([edit("b", "b")])),
        ("a.txt", json!([])),
        ("a.txt", json!([edit("a a", "x"), edit("a b", "y")])),
        ("missing", json!([edit("a", "b")])),
        ("binary", json!([edit("a", "b")])),
        ("a.txt", json!(edit("b", "c"))),
        ("a.txt", json!("[{\"oldText\": \"c\", \"newText\": \"d\"}]")),
    ] {
        let called = call(directory.path(), "edit", json!({"path": path, "edits": edits})).await;
        seen.push(called.text());
    }
    insta::assert_snapshot!(seen.join("\n"), @"");
}

#[tokio::test]
async fn bash_tells_output_exit_code_and_surroundings() {
    let directory = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for arguments in [
        json!({"command": "echo out; echo err >&2; echo last"}),
        json!({"command": "true"}),
        json!({"command": "echo half; exit 3"}),
        json!({"command": "kill -9 $$"}),
        json!({"command": "read line; echo \"got: $line\""}),
        json!({"command": "echo $PI_SESSION_ID $PI_PROVIDER $PI_MODEL"}),
        json!({"command": "echo before; sleep 60", "timeout": 0.2}),
        json!({"command": "true", "timeout": 0}),
        json!({"command": "exec >/dev/null 2>&1; exit 4"}),
    ] {
        seen.push(call(directory.path(), "bash", arguments).await.text());
    }
    insta::assert_snapshot!(seen.join("\n---\n"), @"");
}

#[tokio::test]
async fn bash_keeps_the_tail_and_puts_all_of_it_into_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let command = json!({"command": "seq 1 30000"});
    let called = call(directory.path(), "bash", command).await;
    let details = called.output.details.clone().unwrap();
    let path = details["fullOutputPath"].as_str().unwrap();
    assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 30_000);
    let text = called.text();
    assert!(text.ends_with(&format!(
        "30000\n\n[Showing lines 28001-30000 of 30000. Full output: {path}]"
    )));
    let cut = &details["truncation"];
    assert_eq!(
        json!([cut["truncatedBy"], cut["totalLines"], cut["outputLines"], cut["totalBytes"]]),
        json!(["lines", 30000, 2000, 168_894])
    );
    assert!(called.updates.len() >= 2, "the first update is empty, the last one is the tail");
    assert_eq!(called.updates[0].content, []);

    let one_line = json!({"command": "head -c 200000 /dev/zero | tr '\\0' x"});
    let called = call(directory.path(), "bash", one_line).await;
    let notice = called.text().lines().last().unwrap().to_owned();
    assert!(
        notice.starts_with("[Showing last 50.0KB of line 1 (line is 195.3KB). Full output: "),
        "{notice}"
    );
}

#[tokio::test]
async fn bash_ends_with_everything_it_started() {
    crate::processes::adopt_orphans();
    let directory = tempfile::tempdir().unwrap();
    let escape = "setsid sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 & \
                  while [ ! -s pid ]; do :; done";
    let called = call(directory.path(), "bash", json!({"command": escape})).await;
    assert_eq!(called.text(), "(no output)");
    assert_eq!(state_of(directory.path()), None);
}

#[tokio::test]
async fn an_abort_ends_a_command_and_its_tree() {
    crate::processes::adopt_orphans();
    let directory = tempfile::tempdir().unwrap();
    let switch = AbortSwitch::new();
    let command = "setsid sh -c 'echo $$ > pid; exec sleep 300' & mkfifo ready; echo started > ready; wait";
    let fifo = directory.path().join("ready");
    let raise = async {
        // Opening the pipe waits for the command to be under way.
        let opened = tokio::task::spawn_blocking(move || {
            while !fifo.exists() {
                std::thread::yield_now();
            }
            fs::read_to_string(fifo)
        });
        opened.await.unwrap().unwrap();
        switch.raise();
    };
    let working = call_until(directory.path(), "bash", json!({"command": command}), &switch);
    let (called, ()) = tokio::join!(working, raise);
    assert_eq!(called.text(), "error: Command aborted");
    assert_eq!(state_of(directory.path()), None);
}

/// The state letter of the process whose id is in the file `pid`; None when it is gone.
fn state_of(directory: &std::path::Path) -> Option<String> {
    let pid = fs::read_to_string(directory.join("pid")).unwrap_or_default();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).ok()?;
    stat.rsplit(") ").next().map(|rest| rest[..1].to_owned())
}

#[tokio::test]
async fn ls_lists_directories_with_a_slash() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    assert_eq!(call(path, "ls", json!({})).await.text(), "(empty directory)");
    fs::create_dir(path.join("src")).unwrap();
    for name in [".hidden", "b.txt", "A.txt"] {
        fs::write(path.join(name), "").unwrap();
    }
    assert_eq!(call(path, "ls", json!({})).await.text(), ".hidden\nA.txt\nb.txt\nsrc/");
    let cut = call(path, "ls", json!({"limit": 2})).await;
    assert_eq!(
        cut.text(),
        ".hidden\nA.txt\n\n[2 entries limit reached. Use limit=4 for more]"
    );
    assert_eq!(cut.output.details, Some(json!({"entryLimitReached": 2})));
    let missing = call(path, "ls", json!({"path": "nope"})).await.text();
    assert_eq!(missing, format!("error: Path not found: {}/nope", path.display()));
}

#[tokio::test]
async fn grep_and_find_honour_gitignore_and_limits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for (name, text) in [
        (".gitignore", "target\n"),
        ("a.rs", "fn a() {}\n// TODO: one\n"),
        ("src/b.rs", "first\nTODO two\nthird\n"),
        ("target/c.rs", "TODO three\n"),
        (".git/config", "TODO four\n"),
        ("data.bin", "TODO\0five"),
    ] {
        let file = path.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::write(path.join("long.txt"), format!("TODO {}", "é".repeat(600))).unwrap();
    let mut seen = Vec::new();
    for (tool, arguments) in [
        ("grep", json!({"pattern": "TODO"})),
        ("grep", json!({"pattern": "todo", "ignoreCase": true, "glob": "*.rs", "context": 1})),
        ("grep", json!({"pattern": "TODO", "limit": 1})),
        ("grep", json!({"pattern": "a()", "literal": true, "path": "a.rs"})),
        ("grep", json!({"pattern": "("})),
        ("grep", json!({"pattern": "absent"})),
        ("find", json!({"pattern": "*.rs"})),
        ("find", json!({"pattern": "src/*.rs"})),
        ("find", json!({"pattern": "*", "limit": 2})),
        ("find", json!({"pattern": "*.py"})),
    ] {
        let text = call(path, tool, arguments).await.text();
        seen.push(text.replace(&"é".repeat(495), "é…"));
    }
    insta::assert_snapshot!(seen.join("\n---\n"), @"");
}

#[tokio::test]
async fn finalize_ends_the_run_once_it_has_something_to_say() {
    let directory = tempfile::tempdir().unwrap();
    let report = json!({"status": "SUCCESS", "result": "42"});
    let done = call(directory.path(), "subagent_finalize", report.clone()).await;
    assert!(done.output.terminate);
    assert_eq!(done.output.details, Some(report));
    let empty = call(directory.path(), "subagent_finalize", json!({"status": "SUCCESS"})).await;
    assert_eq!(empty.text(), "error: SUCCESS requires a non-empty result");
}
