//! Tests how `write` and `edit` change a file.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::tools::testing::call;

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
    assert_eq!(
        refused.text(),
        format!(
            "error: EISDIR: illegal operation on a directory, open '{}'",
            directory.path().join("a").display()
        )
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
    let expected = lines.join("\r\n").replace("line 2\r", "line two\r");
    let expected = expected.replace("line 11", "line eleven");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        format!("\u{feff}{expected}\r\n")
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
async fn a_device_is_written_to_but_never_read_to_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let edits = json!([{"oldText": "a", "newText": "b"}]);
    let edited = call(
        directory.path(),
        "edit",
        json!({"path": "/dev/zero", "edits": edits}),
    )
    .await;
    assert_eq!(
        edited.text(),
        "error: Could not edit file: /dev/zero. It is not a regular file."
    );
    let written = call(
        directory.path(),
        "write",
        json!({"path": "/dev/zero", "content": "hi"}),
    )
    .await;
    assert_eq!(written.text(), "Successfully wrote to /dev/zero");
    assert_eq!(written.output.details, None);
}

#[tokio::test]
async fn a_pipe_that_nobody_may_read_is_not_written_to() {
    let directory = tempfile::tempdir().unwrap();
    let made = call(directory.path(), "bash", json!({"command": "mkfifo pipe"})).await;
    assert!(directory.path().join("pipe").exists(), "{}", made.text());
    let written = call(
        directory.path(),
        "write",
        json!({"path": "pipe", "content": "hi"}),
    )
    .await;
    assert!(
        written.text().starts_with("error: Not a regular file: "),
        "{}",
        written.text()
    );
}
