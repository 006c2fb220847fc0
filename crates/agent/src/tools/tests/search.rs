//! Tests the lists that `ls`, `grep` and `find` print.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::tools::testing::call;

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
async fn grep_holds_little_more_than_it_shows() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let lines = format!("{}\n", "x".repeat(400)).repeat(20_000);
    fs::write(path.join("long.txt"), &lines).unwrap();
    let called = call(
        path,
        "grep",
        json!({"pattern": "x", "limit": 1e12, "context": 1e12}),
    )
    .await;
    assert!(called.text().ends_with("\n\n[50.0KB limit reached]"));
    let held = &called.output.details.unwrap()["truncation"]["totalBytes"];
    assert!(held.as_u64().unwrap() < lines.len() as u64 / 2, "{held}");
}
