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
    insta::assert_snapshot!(seen.join("\n---\n"), @"
    one
    two
    three

    ---
    two

    [2 more lines in file. Use offset=3 to continue.]
    ---


    [4 more lines in file. Use offset=1 to continue.]
    ---
    error: Offset 9 is beyond end of file (4 lines total)
    ---
    error: ENOENT: no such file or directory, access 'DIR/missing'
    ---
    error: EISDIR: illegal operation on a directory, read
    ---
    error: Not a regular file: /dev/zero
    ");
}

#[tokio::test]
async fn read_cuts_long_files_by_lines_and_by_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let many: Vec<String> = (1..=2500).map(|number| number.to_string()).collect();
    fs::write(directory.path().join("many"), many.join("\n") + "\n").unwrap();
    let wide = "x".repeat(1000);
    fs::write(
        directory.path().join("wide"),
        vec![wide.as_str(); 100].join("\n"),
    )
    .unwrap();
    fs::write(directory.path().join("endless"), "y".repeat(60_000)).unwrap();
    let mut seen = Vec::new();
    for (file, offset) in [("many", 1), ("many", 2400), ("wide", 1), ("endless", 1)] {
        let called = call(
            directory.path(),
            "read",
            json!({"path": file, "offset": offset}),
        )
        .await;
        let text = called.text();
        let last = text.lines().last().unwrap().to_owned();
        let mut details = called.output.details.unwrap_or(Value::Null);
        details["truncation"]["content"] = json!("…");
        seen.push(format!("{} bytes, {last} {details}", text.len()));
    }
    insta::assert_snapshot!(seen.join("\n"), @r#"
    8954 bytes, [Showing lines 1-2000 of 2501. Use offset=2001 to continue.] {"truncation":{"content":"…","truncated":true,"truncatedBy":"lines","totalLines":2500,"totalBytes":11393,"outputLines":2000,"outputBytes":8892,"lastLinePartial":false,"firstLineExceedsLimit":false,"maxLines":2000,"maxBytes":51200}}
    505 bytes, 2500 {"truncation":{"content":"…"}}
    51122 bytes, [Showing lines 1-51 of 100 (50.0KB limit). Use offset=52 to continue.] {"truncation":{"content":"…","truncated":true,"truncatedBy":"bytes","totalLines":100,"totalBytes":100099,"outputLines":51,"outputBytes":51050,"lastLinePartial":false,"firstLineExceedsLimit":false,"maxLines":2000,"maxBytes":51200}}
    87 bytes, [Line 1 is 58.6KB, exceeds 50.0KB limit. Use bash: sed -n '1p' endless | head -c 51200] {"truncation":{"content":"…","truncated":true,"truncatedBy":"bytes","totalLines":1,"totalBytes":60000,"outputLines":0,"outputBytes":0,"lastLinePartial":false,"firstLineExceedsLimit":true,"maxLines":2000,"maxBytes":51200}}
    "#);
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
    let called = call(
        directory.path(),
        "write",
        json!({"path": "a/b/c.txt", "content": "hi"}),
    )
    .await;
    assert_eq!(called.text(), "Successfully wrote to a/b/c.txt");
    assert_eq!(
        fs::read_to_string(directory.path().join("a/b/c.txt")).unwrap(),
        "hi"
    );
    let refused = call(
        directory.path(),
        "write",
        json!({"path": "a", "content": ""}),
    )
    .await;
    assert!(
        refused
            .text()
            .starts_with("error: EISDIR: illegal operation on a directory, open")
    );
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
    let shown = format!(
        "{}\n{}",
        details["diff"].as_str().unwrap(),
        details["patch"].as_str().unwrap()
    );
    insta::assert_snapshot!(shown, @"
      1 line 1
    - 2 line 2
    + 2 line two
      3 line 3
      4 line 4
      5 line 5
      6 line 6
      7 line 7
      8 line 8
      9 line 9
     10 line 10
    -11 line 11
    +11 line eleven
     12 line 12
    --- a.txt
    +++ a.txt
    @@ -1,12 +1,12 @@
     line 1
    -line 2
    +line two
     line 3
     line 4
     line 5
     line 6
     line 7
     line 8
     line 9
     line 10
    -line 11
    +line eleven
     line 12
    ");
    let changed = fs::read_to_string(&file).unwrap();
    assert!(
        changed.starts_with("\u{feff}line 1\r\nline two\r\nline 3\r\n"),
        "{changed:?}"
    );
    assert!(
        changed.ends_with("line eleven\r\nline 12\r\n"),
        "{changed:?}"
    );
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
        let called = call(
            directory.path(),
            "edit",
            json!({"path": path, "edits": edits}),
        )
        .await;
        seen.push(called.text());
    }
    insta::assert_snapshot!(seen.join("\n"), @"
    error: Could not find the exact text in a.txt. The old text must match exactly including all whitespace and newlines.
    error: Found 2 occurrences of the text in a.txt. The text must be unique. Please provide more context to make it unique.
    error: No changes made to a.txt. The replacement produced identical content. This might indicate an issue with special characters or the text not existing as expected.
    error: Edit tool input is invalid. edits must contain at least one replacement.
    error: edits[0] and edits[1] overlap in a.txt. Merge them into one edit or target disjoint regions.
    error: Could not edit file: missing. Error code: ENOENT.
    error: Could not edit file: binary. The file is not UTF-8 text.
    Successfully replaced 1 block(s) in a.txt.
    Successfully replaced 1 block(s) in a.txt.
    ");
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
    insta::assert_snapshot!(seen.join("\n---\n"), @"
    out
    err
    last

    ---
    (no output)
    ---
    error: half


    Command exited with code 3
    ---
    error: (no output)

    Command exited with code 137
    ---
    got: 

    ---
    session scripted tour

    ---
    error: before


    Command timed out after 0.2 seconds
    ---
    error: Invalid timeout: must be a finite number of seconds
    ---
    error: (no output)

    Command exited with code 4
    ");
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
        json!([
            cut["truncatedBy"],
            cut["totalLines"],
            cut["outputLines"],
            cut["totalBytes"]
        ]),
        json!(["lines", 30000, 2000, 168_894])
    );
    assert!(
        called.updates.len() >= 2,
        "the first update is empty, the last one is the tail"
    );
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
    let command =
        "mkfifo ready; setsid sh -c 'echo $$ > pid; echo started > ready; exec sleep 300' & wait";
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
    let working = call_until(
        directory.path(),
        "bash",
        json!({"command": command}),
        &switch,
    );
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
    assert_eq!(
        call(path, "ls", json!({})).await.text(),
        "(empty directory)"
    );
    fs::create_dir(path.join("src")).unwrap();
    for name in [".hidden", "b.txt", "A.txt"] {
        fs::write(path.join(name), "").unwrap();
    }
    assert_eq!(
        call(path, "ls", json!({})).await.text(),
        ".hidden\nA.txt\nb.txt\nsrc/"
    );
    let cut = call(path, "ls", json!({"limit": 2})).await;
    assert_eq!(
        cut.text(),
        ".hidden\nA.txt\n\n[2 entries limit reached. Use limit=4 for more]"
    );
    assert_eq!(cut.output.details, Some(json!({"entryLimitReached": 2})));
    let missing = call(path, "ls", json!({"path": "nope"})).await.text();
    assert_eq!(
        missing,
        format!("error: Path not found: {}/nope", path.display())
    );
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
        (
            "grep",
            json!({"pattern": "todo", "ignoreCase": true, "glob": "*.rs", "context": 1}),
        ),
        ("grep", json!({"pattern": "TODO", "limit": 1})),
        (
            "grep",
            json!({"pattern": "a()", "literal": true, "path": "a.rs"}),
        ),
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
    insta::assert_snapshot!(seen.join("\n---\n"), @"
    a.rs:2: // TODO: one
    long.txt:1: TODO é…... [truncated]
    src/b.rs:2: TODO two

    [Some lines truncated to 500 chars. Use read tool to see full lines]
    ---
    a.rs-1- fn a() {}
    a.rs:2: // TODO: one
    src/b.rs-1- first
    src/b.rs:2: TODO two
    src/b.rs-3- third
    ---
    a.rs:2: // TODO: one

    [1 matches limit reached. Use limit=2 for more, or refine pattern]
    ---
    a.rs:1: fn a() {}
    ---
    error: regex parse error:
        (?:()
        ^
    error: unclosed group
    ---
    No matches found
    ---
    a.rs
    src/b.rs
    ---
    src/b.rs
    ---
    .gitignore
    a.rs

    [2 results limit reached. Use limit=4 for more, or refine pattern]
    ---
    No files found matching pattern
    ");
}

#[tokio::test]
async fn finalize_ends_the_run_once_it_has_something_to_say() {
    let directory = tempfile::tempdir().unwrap();
    let report = json!({"status": "SUCCESS", "result": "42"});
    let done = call(directory.path(), "subagent_finalize", report.clone()).await;
    assert!(done.output.terminate);
    assert_eq!(done.output.details, Some(report));
    let empty = call(
        directory.path(),
        "subagent_finalize",
        json!({"status": "SUCCESS"}),
    )
    .await;
    assert_eq!(empty.text(), "error: SUCCESS requires a non-empty result");
}
