//! Steps that end the process, and steps that keep it from ending.

use pi_subagents_testkit::sandbox::{RunningCommand, Sandbox};
use pi_subagents_testkit::{Signal, bin};
use serde_json::json;

use super::stage::{command, misbehave, outline, play, prompt, start};

#[test]
fn the_version_is_the_one_of_pi() {
    let sandbox = Sandbox::new();
    let version = || sandbox.command(&bin("misbehave")).arg("--version");
    assert_eq!(version().run().expect_success().stdout, "0.87.1\n");
    let old = version().env("MISBEHAVE_VERSION", "0.73.1").run();
    assert_eq!(old.stdout, "0.73.1\n");
}

#[test]
fn only_rpc_mode_is_spoken() {
    let output = Sandbox::new()
        .command(&bin("misbehave"))
        .args(["--mode", "json", "-p"])
        .run();
    assert_eq!(output.code, Some(1));
    assert_eq!(output.stderr, "Error: misbehave speaks --mode rpc only\n");
}

#[test]
fn it_exits_with_any_code() {
    let output = play(&json!([{"exit": 3}, {"say": "never"}]));
    assert_eq!(output.code, Some(3));
    assert_eq!(outline(&output.stdout), ["response prompt true"]);
}

#[test]
fn it_dies_by_any_signal() {
    for (name, number) in [("KILL", 9), ("SEGV", 11), ("SIGTERM", 15), ("ABRT", 6)] {
        let output = play(&json!([{"signal": name}]));
        assert_eq!(
            (output.code, output.signal),
            (None, Some(number)),
            "{output}"
        );
    }
}

#[test]
fn a_step_at_the_start_needs_no_command() {
    let output = misbehave(&Sandbox::new())
        .env("MISBEHAVE_AT_START", r#"[{"print":"early\n"},{"exit":7}]"#)
        .run();
    assert_eq!((output.code, output.stdout.as_str()), (Some(7), "early\n"));
}

#[test]
fn a_hang_at_the_start_reads_nothing() {
    // A sandbox that is dropped ends its processes.
    let sandbox = Sandbox::new();
    let mut running = misbehave(&sandbox)
        .env(
            "MISBEHAVE_AT_START",
            r#"[{"print":"early\n"},{"hang":true}]"#,
        )
        .spawn();
    running.wait_for_stdout("early\n");
    assert!(running.write_line(&command("get_state", "")));
    running.close_stdin();
    running.kill(Signal::TERM);
    let output = running.wait();
    assert_eq!(
        (output.signal, output.stdout.as_str()),
        (Some(15), "early\n")
    );
}

#[test]
fn it_closes_stdout_and_lives_on() {
    let sandbox = Sandbox::new();
    let mut running = start(
        &sandbox,
        &json!([{"say": "last"}, {"closeStdout": true}, {"say": "lost"}]),
    );
    let stdout = running.wait_for_stdout_end();
    assert_eq!(
        outline(&stdout),
        ["response prompt true", "message_end assistant last stop"]
    );
    assert!(running.is_running());
    running.close_stdin();
    assert_eq!(running.wait().code, Some(0));
}

#[test]
fn it_closes_stdin_and_lives_on() {
    let sandbox = Sandbox::new();
    let mut running = start(&sandbox, &json!([{"closeStdin": true}, {"say": "closed"}]));
    running.wait_for_stdout("closed");
    assert!(!running.write_line("anybody?"));
    assert!(running.is_running());
}

#[test]
fn it_ignores_the_polite_signals() {
    let sandbox = Sandbox::new();
    let mut running = start(
        &sandbox,
        &json!([{"ignoreTerm": true}, {"say": "deaf"}, {"hang": true}]),
    );
    running.wait_for_stdout("deaf");
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        running.kill(signal);
    }
    assert_answers(&mut running);
    running.kill(Signal::KILL);
    assert_eq!(running.wait().signal, Some(9));
}

#[test]
fn it_ignores_the_end_of_stdin() {
    let sandbox = Sandbox::new();
    let go = sandbox.root().join("go");
    let script =
        json!([{"ignoreEof": true}, {"say": "deaf"}, {"waitForFile": go}, {"say": "there"}]);
    let running = misbehave(&sandbox).stdin(prompt(&script) + "\n").spawn();
    running.wait_for_stdout("deaf");
    std::fs::write(go, "").unwrap();
    running.wait_for_stdout("there");
    running.kill(Signal::TERM);
    assert_eq!(running.wait().signal, Some(15));
}

#[test]
fn it_exits_when_the_reader_left() {
    let sandbox = Sandbox::new();
    let mut child = misbehave(&sandbox).std_command().spawn().unwrap();
    drop(child.stdout.take());
    let line = prompt(&json!([{"flood": {"megabytes": 1, "type": "text"}}])) + "\n";
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), line.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

fn assert_answers(running: &mut RunningCommand) {
    assert!(running.write_line(&command("get_state", "")));
    running.wait_for_stdout(r#""command":"get_state","success":true"#);
}
