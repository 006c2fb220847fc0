//! Tests the answers of `bash`, and that no process stays behind.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::abort::AbortSwitch;
use crate::tools::testing::{call, call_until};

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
        json!({"command": "sleep 60", "timeout": 0.2}),
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
    error: Command timed out after 0.2 seconds
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

/// Returns the state letter of the process whose id is in the file `pid`; None when it is gone.
fn state_of(directory: &std::path::Path) -> Option<String> {
    let pid = fs::read_to_string(directory.join("pid")).unwrap_or_default();
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).ok()?;
    stat.rsplit(") ").next().map(|rest| rest[..1].to_owned())
}
