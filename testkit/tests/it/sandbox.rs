//! The sandbox and its normalised output.

use std::fs;
use std::path::Path;

use pi_subagents_testkit::Signal;
use pi_subagents_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

fn shell(sandbox: &Sandbox, script: &str) -> pi_subagents_testkit::sandbox::SandboxCommand {
    sandbox.command(Path::new("sh")).args(["-c", script])
}

#[test]
fn the_environment_is_the_one_of_the_sandbox() {
    let sandbox = Sandbox::new();
    let output = shell(&sandbox, "env | grep -v ^PATH= | grep -v ^_= | sort; pwd")
        .env("EXTRA", "1")
        .run();
    assert_eq!(
        output.to_string(),
        "\
--- exit code
0
[EOF]
--- stdout
EXTRA=1
HOME=$HOME
PI_CODING_AGENT_DIR=$HOME/.pi/agent
PWD=$PROJECT
TERM=dumb
XDG_RUNTIME_DIR=$SANDBOX/run
$PROJECT
[EOF]
--- stderr
[EOF]
"
    );
}

#[test]
fn output_shows_how_a_command_ended_and_a_missing_newline() {
    let sandbox = Sandbox::new();
    let output = shell(&sandbox, "printf half; printf bad >&2; exit 3").run();
    assert_eq!(
        output.to_string(),
        "--- exit code\n3\n[EOF]\n--- stdout\nhalf[EOF]\n--- stderr\nbad[EOF]\n"
    );
    let output = shell(&sandbox, "kill -9 $$").run();
    assert!(
        output
            .to_string()
            .starts_with("--- exit code\nsignal 9\n[EOF]\n")
    );
}

#[test]
fn what_changes_from_run_to_run_is_replaced() {
    let sandbox = Sandbox::new();
    let text = "\
run 20261115-195314-123-0a1b2c and 20261115-195315-001-ffffff, again 20261115-195314-123-0a1b2c
session 0123456789abcdef
uuid 01a1e076-bd72-77be-ae1c-601529146856
at 2026-11-15T18:27:20.568Z and 2026-11-15T18:27:20+02:00
took 1.2s, 12ms, 3s, 1m 20s, 1m20s
kept: 5 MB, 12 tasks, 0123456789abcde, 2.5 seconds, v0.87.1
";
    assert_eq!(
        sandbox.normalise(text),
        "\
run <run-1> and <run-2>, again <run-1>
session <session-1>
uuid <uuid-1>
at <time> and <time>
took <duration>, <duration>, <duration>, <duration>, <duration>
kept: 5 MB, 12 tasks, 0123456789abcde, 2.5 seconds, v0.87.1
"
    );
}

#[test]
fn an_id_keeps_its_number_in_later_texts() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.normalise("aaaaaaaaaaaaaaaa"), "<session-1>");
    assert_eq!(
        sandbox.normalise("bbbbbbbbbbbbbbbb aaaaaaaaaaaaaaaa"),
        "<session-2> <session-1>"
    );
}

#[test]
fn stdin_and_cwd_are_given() {
    let sandbox = Sandbox::new();
    sandbox.write("project/sub/a.txt", "hello");
    let output = shell(&sandbox, "cat a.txt -")
        .cwd("sub")
        .stdin(" you")
        .run();
    assert_eq!(output.stdout, "hello you");
}

#[test]
fn a_running_command_is_talked_to_and_killed() {
    let sandbox = Sandbox::new();
    let mut running = shell(&sandbox, "read line; echo \"got $line\"; exec sleep 1000").spawn();
    assert!(running.write_line("this"));
    assert_eq!(running.wait_for_stdout("\n"), "got this\n");
    assert!(running.is_running());
    running.kill(Signal::TERM);
    let output = running.wait_for_exit();
    assert_eq!(output.signal, Some(15));
}

#[test]
fn a_dropped_command_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let running = shell(&sandbox, "sleep 1000 & echo $!; wait").spawn();
    let stdout = running.wait_for_stdout("\n");
    let pids = [running.pid(), stdout.trim().parse().unwrap()];
    drop(running);
    let patience = std::time::Duration::from_mins(1);
    assert_eq!(
        pi_subagents_testkit::process::wait_until_gone(&pids, patience),
        Ok(())
    );
}

#[test]
fn a_project_is_a_repository_only_when_asked() {
    assert!(!Sandbox::new().project().join(".git").exists());
    assert!(Sandbox::with_git().project().join(".git").is_dir());
}

#[test]
fn the_fake_model_is_the_default() {
    let sandbox = Sandbox::new();
    sandbox.models_json("http://127.0.0.1:1/v1");
    let read = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(sandbox.agent_dir().join(name)).unwrap()).unwrap()
    };
    assert_eq!(
        read("settings.json"),
        json!({"defaultProvider": "fake", "defaultModel": "fake-model"})
    );
    let provider = &read("models.json")["providers"]["fake"];
    assert_eq!(provider["api"], "openai-completions");
    assert_eq!(provider["baseUrl"], "http://127.0.0.1:1/v1");
    assert_eq!(provider["apiKey"], "test-key");
    assert_eq!(provider["models"][0]["id"], "fake-model");
}

#[test]
fn a_socket_path_in_the_runtime_directory_is_short() {
    let sandbox = Sandbox::new();
    assert!(sandbox.runtime_dir().as_os_str().len() < 40);
}
