//! Tests how much of a file `read` shows.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::message::Block;
use crate::tools::testing::call;

#[tokio::test]
async fn read_shows_lines_and_how_to_get_the_rest() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::create_dir(directory.path().join("sub")).unwrap();
    let large = fs::File::create(directory.path().join("large")).unwrap();
    large.set_len(3 << 30).unwrap();
    let mut seen = Vec::new();
    for arguments in [
        json!({"path": "a.txt"}),
        json!({"path": "a.txt", "offset": 2, "limit": 1}),
        json!({"path": "a.txt", "limit": 0}),
        json!({"path": "a.txt", "offset": 9}),
        json!({"path": "missing"}),
        json!({"path": "sub"}),
        json!({"path": "/dev/zero"}),
        json!({"path": "/proc/kmsg"}),
        json!({"path": "large"}),
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
    ---
    error: Not a regular file: /proc/kmsg
    ---
    error: File is 3221225472 bytes, more than the 2147483648 that can be read. Use bash: sed -n '1,200p;200q' DIR/large | head -c 51200
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
