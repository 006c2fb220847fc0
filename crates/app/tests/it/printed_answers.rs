//! The output of `run`, `delegate` and `resume`: the answer to stdout, all else to stderr.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::prompt_stage::{define, stage, typed};
use crate::stage::{Stage, call};
use crate::terminal::Terminal;

#[test]
fn a_shell_takes_the_answer_and_nothing_else() {
    let stage = stage();
    let shell = stage.sandbox.command(&PathBuf::from("/bin/sh"));
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let script = r#"x=$("$0" run "Review the last commit"); printf '[%s]' "$x""#;
    let output = shell.args(["-c", script, program]).run().expect_success();
    assert_eq!(output.stdout, "[<Review the last commit>]");
}

#[test]
fn one_answer_is_bare_and_its_summary_is_for_people() {
    let stage = stage();
    let output = typed(&stage, &["run", "Look around"]).expect_success();
    assert_eq!(output.stdout, "<Look around>\n");
    insta::assert_snapshot!(summary(&stage, &output.stderr));
    let quiet = typed(&stage, &["run", "Look around", "-q"]).expect_success();
    assert_eq!(
        (quiet.stdout.as_str(), quiet.stderr.as_str()),
        ("<Look around>\n", "")
    );
    // Quiet commands still print errors.
    let failed = typed(&stage, &["run", "please fail", "-q"]);
    insta::assert_snapshot!(summary(&stage, &failed.stderr), @"✗ default: error — the model is out of order (session: <session-2>) • <duration>");
}

#[test]
fn several_answers_have_headings() {
    let stage = stage();
    let tasks = ["delegate", "Look here", "Look there", "--concurrency", "1"];
    let output = typed(&stage, &tasks);
    assert_eq!(
        output.stdout,
        "## look-here\n\n<Look here>\n\n## look-there\n\n<Look there>\n"
    );
    insta::assert_snapshot!(summary(&stage, &output.stderr));
}

#[test]
fn an_answer_that_is_not_there_has_no_section_and_a_reason() {
    let stage = stage();
    let alone = typed(&stage, &["run", "please fail"]);
    assert_eq!((alone.code, alone.stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!("alone", summary(&stage, &alone.stderr));
    let mixed = [
        "delegate",
        "please fail",
        "do half",
        "all good",
        "--concurrency",
        "1",
    ];
    let mixed = typed(&stage, &mixed);
    assert_eq!(mixed.code, Some(4));
    assert_eq!(
        mixed.stdout,
        "## do-half\n\nHalf of it.\n\n## all-good\n\n<all good>\n"
    );
    insta::assert_snapshot!("mixed", summary(&stage, &mixed.stderr));
    let refused = typed(
        &stage,
        &["delegate", "--task", "a=Look", "--cwd", "/no/such/place"],
    );
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    insta::assert_snapshot!("refused", summary(&stage, &refused.stderr));
}

#[test]
fn markdown_is_one_document_with_status_and_session() {
    let stage = stage();
    let document = |arguments: &[&str]| {
        let output = typed(&stage, arguments);
        stage.sandbox.normalise(&output.stdout)
    };
    insta::assert_snapshot!(
        "markdown_of_run",
        document(&["run", "Look", "--format", "markdown"])
    );
    let several = [
        "delegate",
        "Look here",
        "please fail",
        "--format",
        "markdown",
    ];
    insta::assert_snapshot!("markdown_of_delegate", document(&several));
}

#[test]
fn json_has_the_rows_of_status_and_the_text_of_the_tool() {
    let stage = stage();
    define(&stage, "scout");
    for arguments in [
        &["run", "scout", "Look around", "--session", "talk", "--json"][..],
        &["delegate", "Look around", "--format", "json"],
        &["resume", "talk", "Once more", "--json"],
    ] {
        let output = typed(&stage, arguments).expect_success();
        let answer = output.json();
        let fields: Vec<&String> = answer.as_object().unwrap().keys().collect();
        assert_eq!(
            fields,
            ["schemaVersion", "type", "runs", "text", "warnings"],
            "{arguments:?}"
        );
        let run = answer["runs"][0]["runId"].as_str().unwrap();
        let status = typed(&stage, &["status", run, "--json"]).json();
        assert_eq!(answer["runs"][0], status["runs"][0], "{arguments:?}");
        let text = answer["text"].as_str().unwrap();
        let session = answer["runs"][0]["sessionId"].as_str().unwrap();
        assert!(text.contains(session), "{text}");
    }
}

#[test]
fn details_come_only_when_they_are_asked_for() {
    let stage = stage();
    let answer = typed(&stage, &["run", "Look around", "--json", "--details"]);
    let answer = answer.expect_success().json();
    for field in ["windows", "header", "footer", "sessionId", "mode"] {
        assert!(answer.get(field).is_some(), "{field}: {answer}");
    }
    let alone = typed(&stage, &["run", "Look around", "--details"]);
    assert_eq!(alone.code, Some(2), "{alone}");
    let lines = typed(&stage, &["run", "Look around", "--json-stream"]).json_lines();
    let last = lines.last().unwrap();
    assert_eq!(last["runs"][0]["output"], "<Look around>");
    assert_eq!(last.get("windows"), None);
}

#[test]
fn an_answer_beyond_what_memory_holds_is_printed_whole() {
    let stage = Stage::new();
    let long = "x".repeat(300 << 10);
    let task = json!([{"reply": long}]).to_string();
    stage.sandbox.write(
        "project/tasks.json",
        &call(&[("a", json!([{"reply": long}]))]).to_string(),
    );
    let output = stage
        .command(&["delegate", "tasks.json", "--runner", "pi", "-q"])
        .run();
    assert_eq!(output.expect_success().stdout, format!("{long}\n"));
    let session = latest_session(&stage);
    let resumed = stage
        .command(&["resume", &session, "-", "--runner", "pi", "-q"])
        .stdin(task);
    assert_eq!(resumed.run().expect_success().stdout, format!("{long}\n"));
}

#[test]
fn an_answer_that_cannot_be_printed_is_an_error() {
    let stage = stage();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let command = stage.command(&["run", "Look around", "-q"]);
    let output = command.std_command().stdout(full).output().unwrap();
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap()
        ),
        (
            Some(1),
            "error: could not write to stdout: No space left on device (os error 28)\n".to_owned()
        )
    );
}

#[test]
fn the_output_of_a_run_without_an_answer_is_an_error() {
    let stage = stage();
    define(&stage, "scout");
    let output = |id: &str, more: &[&str]| typed(&stage, &[&["output", id], more].concat());
    for (session, prompt) in [("failed", "please fail"), ("silent", "be silent")] {
        _ = typed(&stage, &["run", "scout", prompt, "--session", session]);
    }
    insta::assert_snapshot!("output_of_a_failed_run", output("failed", &[]));
    insta::assert_snapshot!("output_of_a_silent_run", output("silent", &[]));
    let told = output("failed", &["--json"]);
    assert_eq!(
        (told.code, &told.json()["error"]["kind"]),
        (Some(5), &json!("noAnswer"))
    );

    let waiting = stage
        .command(&["run", "scout", "please wait", "--session", "busy"])
        .spawn();
    let started = || {
        let status = typed(&stage, &["status", "busy", "--json"]).json();
        status["runs"][0]["status"]
            .as_str()
            .is_some_and(|status| status == "running")
            .then_some(())
    };
    pi_subagents_testkit::wait_until(std::time::Duration::from_mins(1), started).unwrap();
    let running = output("busy", &[]);
    assert_eq!((running.code, running.stdout.as_str()), (Some(5), ""));
    // A running session is not started again; the error names `steer`.
    let resumed = typed(&stage, &["resume", "busy", "go on"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(1), ""));
    assert!(
        resumed.stderr.contains("pi-subagents steer busy"),
        "{resumed}"
    );
    fs::write(stage.sandbox.project().join("go"), "").unwrap();
    assert_eq!(waiting.wait().expect_success().stdout, "Waited.\n");
    let runs = typed(&stage, &["status", "busy", "--all", "--json"]).json();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_output_of_a_run_that_has_not_completed_is_printed_and_is_no_answer() {
    let stage = stage();
    let output = |more: &[&str]| typed(&stage, &[&["output", "last"], more].concat());
    _ = typed(&stage, &["run", "do half"]);
    insta::assert_snapshot!(stage.sandbox.normalise(&output(&[]).to_string()), @"
    --- exit code
    5
    [EOF]
    --- stdout
    Half of it.
    [EOF]
    --- stderr
    last is default (run: <run-1>, session: <session-1>, started <past>)
    ! default failed — the model is out of order
    ! This is what it had said until then, and no finished answer.
    hint: Continue it with pi-subagents resume <session-1> PROMPT.
    [EOF]
    ");

    let begun = stage.command(&["run", "please begin"]).spawn();
    let says = || (output(&[]).stdout == "I begin.\n").then_some(());
    pi_subagents_testkit::wait_until(std::time::Duration::from_mins(1), says).unwrap();
    insta::assert_snapshot!(stage.sandbox.normalise(&output(&[]).to_string()), @"
    --- exit code
    5
    [EOF]
    --- stdout
    I begin.
    [EOF]
    --- stderr
    last is default (run: <run-2>, session: <session-2>, started <past>)
    ! default is still running; this is what it has said so far. pi-subagents wait <session-2> waits for its end.
    [EOF]
    ");
    let told = output(&["--json"]);
    assert_eq!(told.code, Some(5), "{told}");
    fs::write(stage.sandbox.project().join("go"), "").unwrap();
    assert_eq!(begun.wait().expect_success().stdout, "Begun and done.\n");
    assert_eq!(output(&[]).expect_success().stdout, "Begun and done.\n");
}

#[test]
fn a_terminal_shows_rendered_markdown_and_a_pipe_gets_it_as_it_is() {
    let stage = stage();
    let piped = typed(&stage, &["run", "something headed", "-q"]).expect_success();
    assert_eq!(piped.stdout, "# Findings\n\n- **one**\n- two\n");
    for command in [&["run", "something headed"][..], &["output", "<session>"]] {
        let session = latest_session(&stage);
        let command: Vec<&str> = command
            .iter()
            .map(|word| {
                if *word == "<session>" {
                    &session
                } else {
                    *word
                }
            })
            .collect();
        let (code, screen) = Terminal::start(stage.command(&command)).end();
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains("# Findings\n\n- one\n- two"), "{screen}");
    }
}

/// Returns the text after the progress of runs: their summary and the next steps.
fn summary(stage: &Stage, stderr: &str) -> String {
    let lines = stderr
        .lines()
        .skip_while(|line| !line.contains("(session: "));
    let lines: Vec<String> = lines.map(without_tokens).collect();
    stage.sandbox.normalise(&lines.join("\n"))
}

/// Leaves out how many tokens there were: the path of the sandbox is among them.
fn without_tokens(line: &str) -> String {
    let parts = line
        .split(" • ")
        .map(|part| match part.strip_suffix(" tokens") {
            Some(_) => "<n> tokens",
            None => part,
        });
    parts.collect::<Vec<_>>().join(" • ")
}

fn latest_session(stage: &Stage) -> String {
    let runs = typed(stage, &["status", "--all", "--json"]).json()["runs"].clone();
    let latest: &Value = runs.as_array().unwrap().last().unwrap();
    latest["sessionId"].as_str().unwrap().to_owned()
}
