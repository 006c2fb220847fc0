//! A disk that takes no more, and a record that has reached its limit: the answer is not lost.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_testkit::bin;
use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call, completed, outcomes};

/// `delegate` in a shell that lets no file grow beyond some kilobytes. Writing fails then as it
/// does on a full disk, in every file system and for every user.
fn delegate_in_little_room(stage: &Stage, call: &Value) -> SandboxCommand {
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let limited = r#"ulimit -f 16; exec "$0" "$@""#;
    stage
        .sandbox
        .command(&PathBuf::from("/bin/sh"))
        .env("PI_SUBAGENTS_PI", bin("misbehave"))
        .args(["-c", limited, program, "delegate", "-", "--runner", "pi"])
        .stdin(call.to_string())
}

fn text_of(output: &CommandOutput) -> String {
    let answer = output.json();
    answer["text"].as_str().unwrap().to_owned()
}

fn session_of(output: &CommandOutput) -> String {
    let answer = output.json();
    answer["runs"][0]["sessionId"].as_str().unwrap().to_owned()
}

fn size_of(directory: &Path) -> u64 {
    let files = fs::read_dir(directory).unwrap();
    files
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum()
}

#[test]
fn an_answer_is_handed_over_when_its_record_cannot_be_written() {
    let stage = Stage::new();
    let script = json!([{"messages": {"count": 30, "bytes": 2000}}, {"reply": "the finding"}]);
    let output = delegate_in_little_room(&stage, &call(&[("a", script)]))
        .arg("--json")
        .run();
    assert_eq!(outcomes(&output), [completed("a", "the finding")]);
    let text = text_of(&output);
    let too_large = |file: &str| {
        let place = "$PROJECT/.pi/subagents/runs/<run-1>";
        format!("! a: could not write {place}/{file}: File too large (os error 27)")
    };
    let text = stage.sandbox.normalise(&text);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[2..4].sort_unstable();
    assert_eq!(
        lines,
        [
            "\u{2713} a: completed (session: <session-1>)",
            "  saw: no tool call, 31 turns, 3.4k tokens, $0.01",
            &too_large("events.jsonl"),
            &too_large("transcript.log"),
            "! a: its record may lack its answer, which is:",
            "the finding",
        ]
    );
    // Its result still fitted, and knows better than the events.
    let read = stage.command(&["output", &session_of(&output)]).run();
    insta::assert_snapshot!(read, @"
    --- exit code
    0
    [EOF]
    --- stdout
    the finding
    [EOF]
    --- stderr
    ! the record of run <run-1> is incomplete: could not write $PROJECT/.pi/subagents/runs/<run-1>/events.jsonl: File too large (os error 27)
    [EOF]
    ");
    let session = stage.command(&["session", &session_of(&output)]).run();
    let session = session.expect_success().stdout;
    let end = "File too large (os error 27)\n\n[<time>] assistant\nthe finding\n";
    let session = stage.sandbox.normalise(&session);
    assert!(session.contains(end), "{session}");
}

#[test]
fn a_person_is_handed_the_answer_too_and_told_to_keep_it() {
    let stage = Stage::new();
    let script = json!([{"messages": {"count": 30, "bytes": 2000}}, {"reply": "the finding"}]);
    let output = delegate_in_little_room(&stage, &call(&[("a", script)])).run();
    let output = output.expect_success();
    assert_eq!(output.stdout, "the finding\n");
    let told = "! a: its record may lack its answer; keep what is printed above";
    assert!(output.stderr.contains(told), "{output}");
    // A run that is not recorded cannot be continued.
    assert!(!output.stderr.contains("pi-subagents resume"), "{output}");
}

#[test]
fn a_record_without_an_end_does_not_pass_off_an_earlier_text_as_the_answer() {
    let stage = Stage::new();
    let long = json!({"messages": {"count": 1, "bytes": 40_000}});
    let script = json!([{"say": "an early thought"}, long, {"settle": true}]);
    let output = delegate_in_little_room(&stage, &call(&[("a", script)]))
        .arg("--json")
        .run();
    let outcome = outcomes(&output).remove(0);
    let answer = outcome.output.unwrap();
    assert_eq!((answer.len(), outcome.exit_code), (40_000, 0));
    assert!(text_of(&output).ends_with(&answer));
    let read = stage.command(&["output", &session_of(&output)]).run();
    insta::assert_snapshot!(read, @"
    --- exit code
    5
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: a has no answer: the record of run <run-1> is incomplete: it has no end
    hint: See what it did: pi-subagents session <session-1>
    hint: Continue it with pi-subagents resume <session-1> PROMPT.
    [EOF]
    ");
}

#[test]
fn a_record_that_has_reached_its_limit_says_so_and_keeps_the_answer() {
    let stage = Stage::new();
    stage.settings(&json!({"maxRunDisk": 1}));
    let flood = json!({"flood": {"megabytes": 3, "type": "text", "lineBytes": 5000}});
    let script =
        json!([flood, {"messages": {"count": 100, "bytes": 5000}}, {"reply": "the finding"}]);
    let output = stage.delegate(&call(&[("a", script)])).run();
    assert_eq!(outcomes(&output), [completed("a", "the finding")]);
    insta::assert_snapshot!(stage.sandbox.normalise(&text_of(&output)), @"
    ✓ a: completed (session: <session-1>)
      saw: no tool call, 101 turns, 11k tokens, $0.05
    ! a: its record has reached the limit of 1 MB (maxRunDisk in settings.json); what its sub-agent said after that is not recorded, except its answer
    ");
    let answer = output.json();
    let directory = answer["runs"][0]["directory"].as_str().unwrap();
    let size = size_of(Path::new(directory));
    assert!(size < 1_010_000, "{size}");
    let read = stage.command(&["output", &session_of(&output)]).run();
    insta::assert_snapshot!(read, @"
    --- exit code
    0
    [EOF]
    --- stdout
    the finding
    [EOF]
    --- stderr
    ! the record of run <run-1> is incomplete: its record has reached the limit of 1 MB (maxRunDisk in settings.json); what its sub-agent said after that is not recorded, except its answer
    [EOF]
    ");
    let status = stage.command(&["status", &session_of(&output)]).run();
    let status = status.expect_success().stdout;
    assert!(
        status.contains("   lacks       its record has reached the limit of 1 MB"),
        "{status}"
    );
}
