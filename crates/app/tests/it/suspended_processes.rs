//! Processes that somebody has stopped (SIGSTOP, Ctrl-Z): nobody waits for them for ever.

use std::time::Duration;

use pi_subagents_testkit::process::{
    children_named, exists, is_stopped, kill, parent, wait_until_gone,
};
use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Stage, call, completed, failed, outcomes};

/// The time that anything here may take; the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A run whose child has one grandchild, with its row in `status`.
struct Pair {
    stage: Stage,
    owner: RunningCommand,
    run: String,
    child: u32,
    grandchild: u32,
}

impl Pair {
    fn start(last_steps: &[Value], timeout: Option<u32>) -> Self {
        let stage = Stage::new();
        let pid_file = stage.path("grandchild");
        let mut steps = vec![json!({"fork": {"kind": "ownSession", "pidFile": pid_file}})];
        steps.push(json!({"touch": stage.path("ready")}));
        steps.extend_from_slice(last_steps);
        let mut call = call(&[("worker", json!(steps))]);
        if let Some(timeout) = timeout {
            call["tasks"][0]["timeout"] = json!(timeout);
        }
        let owner = stage.delegate(&call).spawn();
        wait_for_file(stage.path("ready"), PATIENCE);
        let grandchild: u32 = wait_for_file(pid_file, PATIENCE).trim().parse().unwrap();
        let row = stage.command(&["status", "--json"]).run().json()["runs"][0].clone();
        Self {
            owner,
            run: row["runId"].as_str().unwrap().to_owned(),
            child: parent(grandchild).unwrap(),
            grandchild,
            stage,
        }
    }

    fn keeper(&self) -> u32 {
        parent(self.child).unwrap()
    }

    fn tree(&self) -> [u32; 2] {
        [self.child, self.grandchild]
    }

    /// Replaces the parts of an output that differ from run to run.
    fn printed(&self, output: &impl ToString) -> String {
        let pid = self.owner.pid().to_string();
        output.to_string().replace(&pid, "PID")
    }
}

fn stop_and_wait(pid: u32) {
    kill(pid, Signal::STOP);
    let stopped = wait_until(PATIENCE, || is_stopped(pid).then_some(()));
    assert_eq!(stopped, Some(()), "{pid}");
}

#[test]
fn stop_ends_the_run_of_a_stopped_owner_without_it() {
    let pair = Pair::start(&[json!({"hang": true})], None);
    let tree = pair.tree();
    stop_and_wait(pair.owner.pid());
    let stopped = pair.stage.command(&["stop", &pair.run]).run();
    assert_eq!(wait_until_gone(&tree, Duration::ZERO), Ok(()));
    insta::assert_snapshot!(pair.printed(&stopped), @"
    --- exit code
    0
    [EOF]
    --- stdout
    stopped worker (session: <session-1>)
    [EOF]
    --- stderr
    ! the owner of worker (pid PID) is stopped, so the run was ended without it; kill -CONT PID continues the owner, kill -KILL PID ends it
    [EOF]
    ");
    let status = pair
        .stage
        .command(&["status", "--all", "--json"])
        .run()
        .json();
    assert_eq!(status["runs"][0]["status"], "stopped");
    pair.owner.kill(Signal::CONT);
    let output = pair.owner.wait();
    assert_eq!(
        outcomes(&output)[0].error.as_deref(),
        Some("Stopped on request.")
    );
    let status = pair
        .stage
        .command(&["status", "--all", "--json"])
        .run()
        .json();
    assert_eq!(status["runs"][0]["status"], "stopped");
    assert_eq!(status["counts"]["total"], 1);
}

#[test]
fn steer_and_status_say_that_the_owner_is_stopped() {
    let pair = Pair::start(&[json!({"hang": true})], None);
    stop_and_wait(pair.owner.pid());
    let steered = pair.stage.command(&["steer", &pair.run, "go left"]).run();
    insta::assert_snapshot!(pair.printed(&steered), @"
    --- exit code
    1
    [EOF]
    --- stdout
    [EOF]
    --- stderr
    error: the owner of run <run-1> (pid PID) is stopped (suspended) and cannot answer
    hint: Continue it with kill -CONT PID (or fg in its shell), or end the run without it: pi-subagents stop <run-1>
    [EOF]
    ");
    let status = pair.stage.command(&["status", "--json"]).run().json();
    assert_eq!(status["runs"][0]["ownerStopped"], true);
    let status = pair.stage.command(&["status"]).run();
    let stopped = "its owner (pid PID) is stopped (suspended); kill -CONT PID continues it";
    assert!(pair.printed(&status).contains(stopped), "{status}");
}

#[test]
fn wait_says_that_the_owner_is_stopped_and_goes_on_waiting() {
    let pair = Pair::start(&[json!({"hang": true})], None);
    stop_and_wait(pair.owner.pid());
    let waiting = pair.stage.command(&["wait", &pair.run]).spawn();
    waiting.wait_for_stderr("is stopped (suspended), and this command waits for it");
    _ = pair
        .stage
        .command(&["stop", &pair.run])
        .run()
        .expect_success();
    assert_eq!(waiting.wait().code, Some(143));
}

#[test]
fn a_stopped_keeper_does_not_keep_the_owner_at_a_normal_end() {
    let steps = [json!({"waitForFile": "go"}), json!({"reply": "done"})];
    let pair = Pair::start(&steps, None);
    stop_and_wait(pair.keeper());
    pair.stage.sandbox.write("project/go", "");
    assert_eq!(outcomes(&pair.owner.wait()), [completed("worker", "done")]);
}

#[test]
fn a_stopped_keeper_does_not_keep_an_owner_that_is_told_to_end() {
    let steps = [
        json!({"ignoreTerm": true}),
        json!({"ignoreAbort": true}),
        json!({"ignoreEof": true}),
        json!({"hang": true}),
    ];
    let pair = Pair::start(&steps, None);
    let tree = pair.tree();
    stop_and_wait(pair.keeper());
    pair.owner.kill(Signal::TERM);
    assert_eq!(pair.owner.wait().code, Some(143));
    assert_eq!(wait_until_gone(&tree, Duration::ZERO), Ok(()));
}

#[test]
fn a_keeper_that_is_stopped_again_and_again_is_killed() {
    let pair = Pair::start(&[json!({"hang": true})], None);
    let (tree, keeper) = (pair.tree(), pair.keeper());
    pair.owner.kill(Signal::TERM);
    let over = wait_until(PATIENCE, || {
        kill(keeper, Signal::STOP);
        (!exists(keeper)).then_some(())
    });
    assert_eq!(over, Some(()));
    assert_eq!(pair.owner.wait().code, Some(143));
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}

#[test]
fn a_stopped_warden_does_not_keep_the_owner() {
    let pair = Pair::start(&[json!({"hang": true})], None);
    let wardens = children_named(pair.owner.pid(), "pisub-warden");
    assert_eq!(wardens.len(), 1);
    stop_and_wait(wardens[0]);
    pair.owner.kill(Signal::TERM);
    assert_eq!(pair.owner.wait().code, Some(143));
    assert_eq!(wait_until_gone(&wardens, Duration::ZERO), Ok(()));
}

#[test]
fn the_time_limit_of_a_stopped_owner_is_kept_by_the_keeper() {
    let pair = Pair::start(&[json!({"say": "so far"}), json!({"hang": true})], Some(1));
    let tree = pair.tree();
    stop_and_wait(pair.owner.pid());
    assert_eq!(wait_until_gone(&tree, PATIENCE * 2), Ok(()));
    pair.owner.kill(Signal::CONT);
    assert_eq!(
        outcomes(&pair.owner.wait()),
        [failed(
            "worker",
            124,
            "Timed out after 1s. Consider resuming with a longer timeout.",
            Some("so far")
        )]
    );
}

#[test]
fn ctrl_z_stops_the_tree_first_and_the_owner_goes_on_where_it_was() {
    let steps = [json!({"waitForFile": "go"}), json!({"reply": "done"})];
    let pair = Pair::start(&steps, Some(600));
    pair.owner.kill(Signal::TSTP);
    for pid in [pair.child, pair.grandchild, pair.owner.pid()] {
        let stopped = wait_until(PATIENCE, || is_stopped(pid).then_some(()));
        assert_eq!(stopped, Some(()), "{pid}");
    }
    assert!(!is_stopped(pair.keeper()));
    pair.owner.kill(Signal::CONT);
    let going = wait_until(PATIENCE, || {
        (!is_stopped(pair.child) && !is_stopped(pair.grandchild)).then_some(())
    });
    assert_eq!(going, Some(()));
    pair.stage.sandbox.write("project/go", "");
    assert_eq!(outcomes(&pair.owner.wait()), [completed("worker", "done")]);
}

#[test]
fn killing_a_paused_owner_ends_its_tree() {
    let pair = Pair::start(&[json!({"hang": true})], None);
    let tree = pair.tree();
    pair.owner.kill(Signal::TSTP);
    let owner = pair.owner.pid();
    wait_until(PATIENCE, || is_stopped(owner).then_some(())).expect("the owner to be stopped");
    pair.owner.kill(Signal::KILL);
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}
