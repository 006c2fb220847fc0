//! The news about the end of a run for a person outside of pi: a command of theirs, and the bell of
//! `wait`.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_testkit::process::wait_until_gone;
use pi_subagents_testkit::{wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use serde_json::{Value, json};

use crate::background_stage::BackgroundStage;

const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until the command of the settings has ended, and returns its log.
fn log_of(row: &Value) -> String {
    let directory = row["directory"].as_str().unwrap();
    let log = PathBuf::from(directory).join("on-end.log");
    wait_for_file(&log, PATIENCE);
    let is_written = || {
        fs::read_to_string(&log)
            .ok()
            .filter(|text| text.contains("onEnd:"))
    };
    wait_until(PATIENCE, is_written).unwrap()
}

#[test]
fn a_command_of_the_user_gets_the_run_and_no_secret() {
    let background = BackgroundStage::new();
    let (run, seen) = (background.path("run.json"), background.path("seen"));
    let script =
        format!("cat > {run}; pwd > {seen}; env >> {seen}; echo told; echo oops >&2; exit 3");
    background.settings(&json!({"onEnd": script}));
    let spawn = background
        .command(&["spawn", "worker", r#"[{"reply": "hello"}]"#, "--json"])
        .env("ANTHROPIC_API_KEY", "sk-secret")
        .env("MY_OWN", "kept")
        .run();
    let row = spawn.expect_success().json()["runs"][0].clone();
    let log = log_of(&row);
    assert_eq!(log, "told\noops\nonEnd: exit status: 3\n");
    let told: Value = serde_json::from_slice(&fs::read(&run).unwrap()).unwrap();
    assert_eq!(told["runId"], row["runId"]);
    assert_eq!(told["status"], "completed");
    assert_eq!(told["output"], "hello");
    let seen = fs::read_to_string(&seen).unwrap();
    let home = background.stage.sandbox.home().display().to_string();
    assert!(seen.starts_with(&home), "{seen}");
    assert!(seen.contains("MY_OWN=kept"), "{seen}");
    assert!(
        !seen.contains("sk-secret") && !seen.contains("PI_SUBAGENTS_RUN"),
        "{seen}"
    );
    // The run is as it was, whatever the command does.
    assert_eq!(
        background.ended(row["runId"].as_str().unwrap())["exitCode"],
        0
    );
}

#[test]
fn nothing_of_a_command_stays_behind() {
    let background = BackgroundStage::new();
    let pids = background.path("pids");
    let script = format!("setsid sleep 1000 & echo $! > {pids}; sleep 1000 & echo $! >> {pids}");
    background.settings(&json!({"onEnd": ["sh", "-c", script]}));
    let row = background.spawn(&json!([{"reply": "hello"}]));
    assert_eq!(log_of(&row), "onEnd: exit status: 0\n");
    let pids = fs::read_to_string(pids).unwrap();
    let pids: Vec<u32> = pids.lines().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 2);
    wait_until_gone(&pids, PATIENCE).unwrap();
}

#[test]
fn a_command_that_does_not_end_or_does_not_exist_is_noted() {
    let background = BackgroundStage::new();
    background.settings(&json!({"onEnd": ["sleep", "1000"]}));
    let row = background.spawn(&json!([{"reply": "hello"}]));
    assert_eq!(log_of(&row), "onEnd: it was killed after 10 s\n");
    background.settings(&json!({"onEnd": ["no-such-program"]}));
    let row = background.spawn(&json!([{"reply": "hello"}]));
    let log = log_of(&row);
    assert!(log.starts_with("onEnd: it could not be started: "), "{log}");
}

#[test]
fn a_command_of_a_project_is_never_run() {
    let background = BackgroundStage::new();
    let ran = background.path("ran");
    let settings = json!({"subagents": {"onEnd": ["touch", ran]}}).to_string();
    let sandbox = &background.stage.sandbox;
    sandbox.write("project/.pi/settings.json", &settings);
    background
        .command(&["trust", "--yes"])
        .run()
        .expect_success();
    // The user's own command shows that the end has come.
    background.settings(&json!({"onEnd": ["true"]}));
    let row = background.spawn(&json!([{"reply": "hello"}]));
    assert_eq!(log_of(&row), "onEnd: exit status: 0\n");
    assert!(!PathBuf::from(ran).exists());
}

/// Runs `wait` with a terminal on stderr, and returns the output on the terminal.
fn waited(background: &BackgroundStage, run: &str, arguments: &[&str]) -> String {
    let terminal = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::grantpt(&terminal).unwrap();
    rustix::pty::unlockpt(&terminal).unwrap();
    let name = rustix::pty::ptsname(&terminal, Vec::new()).unwrap();
    let stderr = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let mut command = background
        .command(&["wait", run])
        .args(arguments)
        .env("TERM", "xterm");
    command = command.env("NO_COLOR", "1");
    let mut command = command.std_command();
    let mut child = command.stderr(File::from(stderr)).spawn().unwrap();
    drop(command);
    child.wait().unwrap();
    let mut shown = Vec::new();
    // A terminal that everybody has left ends with an error.
    _ = File::from(terminal).read_to_end(&mut shown);
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn wait_rings_when_a_run_ends_that_it_saw_running() {
    const BELL: char = '\x07';
    let background = BackgroundStage::new();
    background.talker(700);
    let spawn = || {
        let spawn = background.command(&["spawn", "talker", "hello", "--json"]);
        spawn.run().expect_success().json()["runs"][0]["runId"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let run = spawn();
    let shown = waited(&background, &run, &[]);
    assert!(
        shown.contains("\x1b]9;pi-subagents: talker completed\x1b\\\x07"),
        "{shown:?}"
    );
    let again = waited(&background, &run, &[]);
    assert!(!again.contains(BELL), "{again:?}");
    let quiet = waited(&background, &spawn(), &["--quiet"]);
    assert!(!quiet.contains(BELL), "{quiet:?}");
}
