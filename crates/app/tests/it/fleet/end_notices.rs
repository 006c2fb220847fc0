//! The end of a background run that its own process did not see: whoever sees it first tells pi and
//! the command of the user, once.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_testkit::{process, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::worker_stage::{CALLER_LEASE, PATIENCE, Yard};
use crate::background_host::Pi;
use crate::background_stage::BackgroundStage;

/// The time for which the user's processes wait for servers that are away.
const SHORT: Duration = Duration::from_secs(7);

#[test]
fn the_end_that_a_later_command_sees_is_told_once_to_pi_and_to_the_users_command() {
    let mut yard = Yard::new();
    let background = BackgroundStage::new();
    let told = background.path("told");
    let fleet = json!({"servers": [yard.server.url()], "on": "fleet", "workspace": "none",
        "callerLease": CALLER_LEASE, "patience": SHORT.as_secs()});
    let command = format!("cat > /dev/null; echo told >> {told}");
    background.settings(&json!({"fleet": fleet, "onEnd": command}));
    let _worker = yard.worker("build-7", &[]);
    let mut pi = Pi::open(&background, "pi-1", "startup", &[]);
    pi.set_idle(true);
    let script = json!([{"waitForFile": background.path("go")}, {"reply": "hello"}]);
    let row = pi.launch(&script);
    let run = row["runId"].as_str().unwrap().to_owned();
    let project = background.stage.sandbox.project();
    let directory = project.join(".pi/subagents/runs").join(&run);
    let is_running = || {
        let listed = background.command(&["status", "--json"]).run().json();
        (listed["counts"]["running"] == 1).then_some(())
    };
    assert!(wait_until(PATIENCE, is_running).is_some());
    let meta = fs::read_to_string(directory.join("meta.json")).unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    let follower = u32::try_from(meta["owner"]["pid"].as_u64().unwrap()).unwrap();
    yard.server.kill();
    // The process of the run gives up, then pi's host, and then a command that waits too.
    assert_eq!(process::wait_until_gone(&[follower], PATIENCE), Ok(()));
    let waited = background.command(&["wait", &run]).run();
    assert_eq!(waited.code, Some(1), "{waited}");
    assert!(!PathBuf::from(&told).exists());
    yard.server.restart();
    fs::write(background.path("go"), "").unwrap();
    let waited = background.command(&["wait", &run]).run();
    assert_eq!(waited.code, Some(0), "{waited}");
    pi.take_notice();
    let is_told = || {
        let log = fs::read_to_string(directory.join("on-end.log")).unwrap_or_default();
        log.contains("onEnd:").then_some(())
    };
    assert!(wait_until(PATIENCE, is_told).is_some());
    for arguments in [&["status", "--all"][..], &["wait", &run]] {
        background.command(arguments).run().expect_success();
    }
    let messages = pi.notifications("message/send").len();
    let told = fs::read_to_string(&told).unwrap();
    assert_eq!((messages, told.as_str()), (1, "told\n"));
    pi.quit();
}
