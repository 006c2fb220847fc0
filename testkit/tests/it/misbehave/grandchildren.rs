//! Grandchildren of every kind are real and are what they claim to be.

use std::time::Duration;

use pi_subagents_testkit::process::{self, wait_until_gone};
use pi_subagents_testkit::sandbox::{RunningCommand, Sandbox};
use pi_subagents_testkit::{Signal, wait_for_file};
use serde_json::json;

use super::stage::start;

const PATIENCE: Duration = Duration::from_mins(1);

/// A grandchild that dies with the test.
struct Grandchild {
    pid: u32,
    parent: RunningCommand,
    _sandbox: Sandbox,
}

impl Grandchild {
    fn start(kind: &str) -> Self {
        let sandbox = Sandbox::new();
        let file = sandbox.root().join("pid");
        let script = json!([{"fork": {"kind": kind, "pidFile": file}}, {"say": "forked"}]);
        let parent = start(&sandbox, &script);
        // Written before the step is over, so nothing has to be waited for.
        parent.wait_for_stdout("forked");
        let pid = wait_for_file(&file, Duration::ZERO).parse().unwrap();
        Self {
            pid,
            parent,
            _sandbox: sandbox,
        }
    }

    fn kill(&self, signal: Signal) {
        process::kill(self.pid, signal);
    }
}

impl Drop for Grandchild {
    fn drop(&mut self) {
        self.kill(Signal::KILL);
    }
}

#[test]
fn a_plain_one_is_in_the_group_of_its_parent() {
    let grandchild = Grandchild::start("sameGroup");
    let parent = grandchild.parent.pid();
    assert_eq!(process::parent(grandchild.pid), Some(parent));
    assert_eq!(process::group(grandchild.pid), process::group(parent));
    assert_eq!(process::descendants(parent), [grandchild.pid]);
}

#[test]
fn one_has_a_session_of_its_own() {
    let grandchild = Grandchild::start("ownSession");
    assert_eq!(process::session(grandchild.pid), Some(grandchild.pid));
    assert_eq!(
        process::parent(grandchild.pid),
        Some(grandchild.parent.pid())
    );
}

#[test]
fn a_double_forked_one_has_lost_its_parent() {
    let grandchild = Grandchild::start("doubleFork");
    assert!(process::exists(grandchild.pid));
    assert!(process::descendants(grandchild.parent.pid()).is_empty());
    assert_eq!(
        process::session(grandchild.pid),
        process::session(grandchild.parent.pid())
    );
}

#[test]
fn a_daemon_has_lost_its_parent_and_its_session() {
    let grandchild = Grandchild::start("daemon");
    assert!(process::descendants(grandchild.parent.pid()).is_empty());
    assert_eq!(process::session(grandchild.pid), Some(grandchild.pid));
}

#[test]
fn a_deaf_one_does_not_die_by_sigterm() {
    let grandchild = Grandchild::start("ignoresTerm");
    assert!(process::is_deaf_to(grandchild.pid, Signal::TERM));
    grandchild.kill(Signal::TERM);
    assert!(process::exists(grandchild.pid));
    grandchild.kill(Signal::KILL);
    // Never reaped by its parent, and gone all the same.
    assert_eq!(wait_until_gone(&[grandchild.pid], PATIENCE), Ok(()));
}

#[test]
fn a_forgetful_one_has_neither_environment_nor_parent_nor_session() {
    let grandchild = Grandchild::start("forgetful");
    let environment = std::fs::read(format!("/proc/{}/environ", grandchild.pid)).unwrap();
    assert!(environment.is_empty());
    assert!(process::descendants(grandchild.parent.pid()).is_empty());
    assert_eq!(process::session(grandchild.pid), Some(grandchild.pid));
}

#[test]
fn a_relay_ends_with_one_that_stays() {
    let grandchild = Grandchild::start("relay");
    assert!(process::exists(grandchild.pid));
    assert!(process::descendants(grandchild.parent.pid()).is_empty());
}

#[test]
fn a_crowd_is_twenty() {
    let sandbox = Sandbox::new();
    let file = sandbox.root().join("pid");
    let script = json!([{"fork": {"kind": "crowd", "pidFile": file}}]);
    let _parent = start(&sandbox, &script);
    let numbered = (1..20).map(|number| file.with_extension(number.to_string()));
    let crowd: Vec<u32> = numbered
        .chain([file.clone()])
        .map(|file| wait_for_file(file, PATIENCE).parse().unwrap())
        .collect();
    assert!(crowd.iter().all(|pid| process::exists(*pid)));
    for pid in &crowd {
        process::kill(*pid, Signal::KILL);
    }
    assert_eq!(wait_until_gone(&crowd, PATIENCE), Ok(()));
}

#[test]
fn one_outlives_its_parent_and_may_keep_stdout_open() {
    let sandbox = Sandbox::new();
    let file = sandbox.root().join("pid");
    let script = json!([
        {"fork": {"kind": "daemon", "pidFile": file, "inheritOutput": true}},
        {"exit": 0},
    ]);
    let running = start(&sandbox, &script);
    let pid: u32 = wait_for_file(&file, PATIENCE).parse().unwrap();
    let output = running.wait_for_exit();
    assert_eq!(output.code, Some(0));
    assert!(process::exists(pid));
    process::kill(pid, Signal::KILL);
    assert_eq!(wait_until_gone(&[pid], PATIENCE), Ok(()));
}
