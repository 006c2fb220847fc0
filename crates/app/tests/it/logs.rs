//! The logs: off unless somebody asks, for the user alone, and without anybody's words or keys.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::sandbox::Sandbox;
use pi_subagents_testkit::{Signal, process, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::agent_stage::{AgentStage, FORMATS};
use crate::background_stage::{BackgroundStage, PATIENCE, expect_nothing_left, run_id};
use crate::stage::{Stage, call};

const BINARY: &str = env!("CARGO_BIN_EXE_pi-subagents");

fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.agent_dir().join("subagents-logs")
}

/// Returns the names of all logs without time and process, and their contents.
fn logs(sandbox: &Sandbox) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(folder(sandbox)) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let named = files.iter().map(|file| {
        let name = file.file_name().unwrap().to_str().unwrap();
        let command = name.splitn(3, '-').nth(2).unwrap();
        (command.to_owned(), fs::read_to_string(file).unwrap())
    });
    named.collect()
}

/// Returns the contents of the logs of a command.
fn log_of(sandbox: &Sandbox, command: &str) -> String {
    let wanted = format!("{command}.log");
    let logs = logs(sandbox);
    let texts = logs.iter().filter(|(name, _)| *name == wanted);
    texts.map(|(_, text)| text.as_str()).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nothing_is_logged_unless_somebody_asks() {
    let stage = Stage::new();
    _ = stage.outcomes(&[("a", json!([{"reply": "done"}]))]);
    assert!(!folder(&stage.sandbox).exists());
}

#[test]
fn the_option_and_the_variable_turn_the_log_on_and_the_option_counts() {
    let stage = Stage::new();
    let status = |option: &[&str], variable: &str| {
        _ = fs::remove_dir_all(folder(&stage.sandbox));
        let command = stage.command(&["status"]).args(option);
        _ = command
            .env("PI_SUBAGENTS_LOG", variable)
            .run()
            .expect_success();
        let logs = logs(&stage.sandbox);
        logs.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert_eq!(status(&["--log-level", "debug"], ""), ["status.log"]);
    assert_eq!(status(&[], "info"), ["status.log"]);
    assert_eq!(status(&[], "1"), ["status.log"]);
    let nothing: [String; 0] = [];
    assert_eq!(status(&["--log-level", "off"], "trace"), nothing);
}

#[test]
fn a_log_is_for_the_user_alone_and_names_runs_and_processes() {
    let stage = Stage::new();
    let output = stage
        .delegate(&call(&[("a", json!([{"reply": "done"}]))]))
        .args(["--log-level", "info"])
        .run()
        .expect_success();
    let run = output.json()["runs"][0]["runId"].clone();
    let run = run.as_str().unwrap();
    assert_eq!(mode(&folder(&stage.sandbox)), 0o700);
    for entry in fs::read_dir(folder(&stage.sandbox)).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    let log = log_of(&stage.sandbox, "delegate");
    for expected in ["run accepted", "child started", "run ended"] {
        let is_there = |line: &str| line.contains(expected) && line.contains(run);
        assert!(log.lines().any(is_there), "{expected}\n{log}");
    }
    let last = log.lines().last().unwrap();
    assert!(last.ends_with("process ends code=0"), "{log}");
}

/// Words and keys that must not get into any log.
const CANARIES: [&str; 10] = [
    "canary-prompt",
    "canary-task-of-the-agent",
    "canary-answer",
    "canary-argument",
    "canary-result",
    "canary-stderr",
    "canary-key-of-the-file",
    "canary-key-of-the-environment",
    "canary-server",
    "canary-steer",
];

#[track_caller]
fn expect_no_canary(sandbox: &Sandbox) {
    for (name, text) in logs(sandbox) {
        for canary in CANARIES {
            let line = text.lines().find(|line| line.contains(canary));
            assert_eq!(line, None, "{canary} in {name}");
        }
    }
}

#[test]
fn the_embedded_agent_logs_requests_and_tools_but_no_words_and_no_keys() {
    for api in FORMATS {
        let stage = AgentStage::new(
            api,
            Script::new().otherwise([
                Turn::status(503, "canary-server is busy"),
                Turn::tool_call(
                    "bash",
                    json!({"command": "echo canary-argument | tr m m; echo canary-result"}),
                ),
                Turn::text("canary-answer"),
            ]),
        );
        let models = stage.sandbox.agent_dir().join("models.json");
        let text = fs::read_to_string(&models).unwrap();
        fs::write(&models, text.replace("test-key", "canary-key-of-the-file")).unwrap();
        let output = stage
            .sandbox
            .command(Path::new(BINARY))
            .args(["delegate", "--runner", "embedded", "--json"])
            .args(["--task", "a=canary-prompt", "--log-level", "trace"])
            .env("OPENAI_API_KEY", "canary-key-of-the-environment")
            .run()
            .expect_success();
        assert!(output.stdout.contains("canary-answer"), "{output}");
        expect_no_canary(&stage.sandbox);
        let log = log_of(&stage.sandbox, "embedded");
        for expected in [
            "model is asked provider=fake model=fake-model",
            "server answered status=503",
            "model is asked again attempt=1",
            "server answered status=200",
            "answer was read bytes=",
            "tool ended tool=bash",
        ] {
            assert!(log.contains(expected), "{api}: {expected}\n{log}");
        }
        let run = output.json()["runs"][0]["runId"].clone();
        assert!(log.contains(run.as_str().unwrap()), "{log}");
    }
}

#[test]
fn what_a_pi_prints_is_counted_and_not_logged() {
    let stage = Stage::new();
    stage.profile("scout", "", "canary-task-of-the-agent");
    let script = json!([
        {"stderr": "canary-stderr\n"}, {"print": "canary-answer"}, {"reply": "canary-answer"}
    ]);
    let call = json!({"tasks": [
        {"name": "a", "prompt": script.to_string(), "profile": "scout"},
    ]});
    let output = stage.delegate(&call).args(["--log-level", "trace"]).run();
    assert!(output.stdout.contains("canary-answer"), "{output}");
    expect_no_canary(&stage.sandbox);
    let log = log_of(&stage.sandbox, "delegate");
    assert!(log.contains("child wrote to stderr"), "{log}");
}

#[test]
fn a_steering_message_is_not_logged() {
    let stage = BackgroundStage::new();
    let ready = stage.path("ready");
    let script = json!([{"touch": ready}, {"hang": true}]).to_string();
    let trace = ["--log-level", "trace"];
    let spawn = stage.command(&["spawn", "worker", &script, "--json"]);
    let run = run_id(&spawn.args(trace).run().expect_success().json());
    wait_for_file(&ready, PATIENCE);
    let steer = stage.command(&["steer", &run, "canary-steer"]);
    steer.args(trace).run().expect_success();
    let stop = stage.command(&["stop", &run]);
    stop.args(trace).run().expect_success();
    expect_nothing_left(&run);
    let sandbox = &stage.stage.sandbox;
    expect_no_canary(sandbox);
    let log = log_of(sandbox, "detached");
    let is_request = |line: &str| line.contains("want=send") && line.contains(&run);
    assert!(log.lines().any(is_request), "{log}");
}

#[test]
fn a_bad_level_is_a_usage_error() {
    let stage = Stage::new();
    for command in [
        stage.command(&["status", "--log-level", "loud"]),
        stage.command(&["status"]).env("PI_SUBAGENTS_LOG", "loud"),
        stage
            .command(&["embedded", "-p", "Hi"])
            .env("PI_SUBAGENTS_LOG", "loud"),
    ] {
        let output = command.run();
        assert_eq!(output.code, Some(2), "{output}");
        let levels = "off, error, warn, info, debug, trace";
        assert!(output.stderr.contains(levels), "{output}");
    }
    assert!(!folder(&stage.sandbox).exists());
}

#[test]
fn a_log_that_cannot_be_written_is_a_note() {
    let stage = Stage::new();
    fs::write(folder(&stage.sandbox), "no directory").unwrap();
    let output = stage
        .delegate(&call(&[("a", json!([{"reply": "done"}]))]))
        .env("PI_SUBAGENTS_LOG", "trace")
        .run()
        .expect_success();
    let notes = output.stderr.matches("there is no log in").count();
    assert_eq!(notes, 1, "{output}");
    assert!(output.stdout.contains("done"), "{output}");
}

#[test]
fn logs_of_last_week_are_removed() {
    let stage = Stage::new();
    let folder = folder(&stage.sandbox);
    fs::create_dir_all(&folder).unwrap();
    let old = folder.join("20260101T000000.000Z-1-run.log");
    let file = File::create(&old).unwrap();
    let week = Duration::from_hours(7 * 24);
    file.set_modified(SystemTime::now() - week - Duration::from_mins(1))
        .unwrap();
    _ = stage.command(&["status", "--log-level", "info"]).run();
    assert!(!old.exists());
}

#[test]
fn the_log_of_a_killed_owner_ends_with_what_it_did_last() {
    let stage = BackgroundStage::new();
    let ready = stage.path("ready");
    let script = json!([{"touch": ready}, {"hang": true}]).to_string();
    let spawned = stage
        .command(&["spawn", "worker", &script, "--json", "--log-level", "debug"])
        .run()
        .expect_success()
        .json();
    let run = run_id(&spawned);
    wait_for_file(&ready, PATIENCE);
    process::kill(stage.owner(&run), Signal::KILL);
    expect_nothing_left(&run);
    let sandbox = &stage.stage.sandbox;
    let log = log_of(sandbox, "detached");
    let is_start = |line: &str| line.contains("child started") && line.contains(&run);
    assert!(log.lines().any(is_start), "{log}");
    assert!(!log.contains("process ends"), "{log}");
    let keeper = || {
        let log = log_of(sandbox, "keeper");
        log.contains("owner is gone").then_some(log)
    };
    let keeper = wait_until(PATIENCE, keeper).unwrap();
    assert!(keeper.contains(&run), "{keeper}");
}

#[test]
fn the_servers_of_pi_and_of_mcp_have_logs_too() {
    let stage = Stage::new();
    for command in ["mcp", "host"] {
        _ = stage
            .command(&[command, "--log-level", "debug"])
            .stdin("")
            .run();
        let log = log_of(&stage.sandbox, command);
        assert!(log.contains(&format!("command={command}")), "{log}");
    }
}

#[test]
fn doctor_names_the_place_and_whether_anything_is_logged() {
    let stage = Stage::new();
    let logs = |option: &[&str]| {
        let output = stage.command(&["doctor"]).args(option).run();
        let line = output.stdout.lines().find(|line| line.contains("  logs "));
        line.unwrap().to_owned()
    };
    assert_eq!(
        logs(&[]),
        "ok       logs         off; --log-level debug or PI_SUBAGENTS_LOG=debug writes to ~/.pi/agent/subagents-logs"
    );
    assert_eq!(
        logs(&["--log-level", "info"]),
        "ok       logs         ~/.pi/agent/subagents-logs, level info, 10 MB per process, kept for 7 days"
    );
}
