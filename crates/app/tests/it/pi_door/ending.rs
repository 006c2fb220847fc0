//! The end or the stop of a pi: its sub-agents end, and their words are kept.

use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::process::{descendants, kill, wait_until_gone};
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Parent, PiDoor, RUNNERS};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    an_abort_ends_the_sub_agents_and_keeps_what_they_said,
    a_pi_that_is_ended_or_killed_leaves_no_process,
    the_runs_of_a_killed_pi_are_listed_read_and_resumed_by_the_next,
    a_host_that_dies_is_started_again_and_knows_the_session,
}

/// The time that processes may take to be gone; the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(2);

/// Makes a sub-agent that prints something, starts a command and never comes to an end.
fn endless(pi: RealPi, runner: &str) -> PiDoor {
    let script = Script::new()
        .on_every("Quick", [Turn::text("Quick as ever.")])
        .on_every(
            "Slow",
            [
                Turn {
                    text: "Half of it is done.".to_owned(),
                    ..Turn::tool_call("bash", json!({"command": "sleep 1000"}))
                },
                Turn::text("Never."),
            ],
        );
    PiDoor::new(pi, runner, script)
}

fn tasks() -> Value {
    json!({"tasks": [{"name": "quick", "prompt": "Quick."}, {"name": "slow", "prompt": "Slow."}]})
}

fn command_line(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Returns the processes below pi apart from the host and its warden, which wait for the next call.
fn at_work(pi: u32) -> Vec<String> {
    let lines = descendants(pi).into_iter().map(command_line);
    lines
        .filter(|line| !line.contains("pi-subagents host ") && !line.contains("pisub-warden "))
        .collect()
}

/// Waits until the command of the slow sub-agent runs, and returns all processes below pi.
fn wait_until_slow(parent: &Parent<'_>) -> Vec<u32> {
    let is_sleep = |pid: &u32| command_line(*pid).starts_with("sleep ");
    let found = wait_until(PATIENCE, || {
        let below = descendants(parent.pid());
        below.iter().any(is_sleep).then_some(below)
    });
    found.unwrap_or_else(|| panic!("the command does not run: {:?}", parent.rpc.events().last()))
}

/// Waits until pi shows that the quick sub-agent is done and the slow one still runs.
fn wait_until_quick_is_over(parent: &mut Parent<'_>) {
    parent.rpc.wait_for(|event| {
        let text = &event["partialResult"]["content"][0]["text"];
        text == "Sub-agents: 1 running, 1 done"
    });
}

fn an_abort_ends_the_sub_agents_and_keeps_what_they_said(pi: RealPi) {
    for runner in RUNNERS {
        let door = endless(pi, runner);
        let mut parent = door.parent(&[]);
        parent.begin("delegate_to_subagents", tasks());
        wait_until_slow(&parent);
        wait_until_quick_is_over(&mut parent);
        parent.rpc.send(&json!({"type": "abort"}));
        let answer = parent.settle();
        // The number of answers of an aborted model differs from child to child.
        let text = door.sandbox.normalise(&answer.text);
        let ends = text.lines().filter(|line| !line.starts_with("  saw: "));
        assert_eq!(
            ends.collect::<Vec<_>>().join("\n"),
            "✓ quick: completed (session: <session-1>)\n✗ slow: error — Stopped on request. (session: <session-2>)",
            "{runner}"
        );
        let nobody_works = || at_work(parent.pid()).is_empty().then_some(());
        let work = wait_until(PATIENCE, nobody_works);
        assert!(work.is_some(), "{runner}: {:?}", at_work(parent.pid()));
        let slow = &answer.sessions()[1];
        let output = parent.call("get_subagent_output", json!({"sessionId": slow}));
        assert_eq!(output.text, "Half of it is done.", "{runner}");
        let below = descendants(parent.pid());
        parent.rpc.finish();
        assert_eq!(wait_until_gone(&below, PATIENCE), Ok(()), "{runner}");
    }
}

fn a_pi_that_is_ended_or_killed_leaves_no_process(pi: RealPi) {
    for (runner, signal) in [("embedded", Signal::TERM), ("pi", Signal::KILL)] {
        let door = endless(pi, runner);
        let mut parent = door.parent(&[]);
        parent.begin("delegate_to_subagents", tasks());
        let below = wait_until_slow(&parent);
        parent.rpc.running().kill(signal);
        assert_eq!(
            wait_until_gone(&below, PATIENCE),
            Ok(()),
            "{runner} {signal:?}"
        );
    }
}

fn the_runs_of_a_killed_pi_are_listed_read_and_resumed_by_the_next(pi: RealPi) {
    let door = endless(pi, "embedded");
    let mut killed = door.parent(&[]);
    killed.begin("delegate_to_subagents", tasks());
    let below = wait_until_slow(&killed);
    wait_until_quick_is_over(&mut killed);
    killed.rpc.running().kill(Signal::KILL);
    assert_eq!(wait_until_gone(&below, PATIENCE), Ok(()));

    let mut pi = door.parent(&["--continue"]);
    let told = pi.rpc.wait_for(|event| event["method"] == "notify");
    let message = told["message"].as_str().unwrap();
    assert_eq!(told["notifyType"], "warning");
    // It is a matter of luck whether pi could still write down the end of the quick one.
    assert!(
        message.starts_with("pi ended while sub-agents were running.\n")
            && message.contains(
                "\nslow: Session was interrupted (main agent session ended unexpectedly)\n"
            )
            && message.ends_with(
                "\n/subagents lists them with their ids; a task can resume their sessions."
            ),
        "{message}"
    );
    pi.rpc.prompt("/subagents list");
    let is_list = |event: &Value| {
        let message = event["message"].as_str().unwrap_or_default();
        event["method"] == "notify" && message.contains("✓ quick")
    };
    let list = pi.rpc.wait_for(is_list);
    let list = list["message"].as_str().unwrap();
    let runs: Vec<Vec<&str>> = list
        .lines()
        .skip(1)
        .map(|line| line.split(" • ").collect())
        .collect();
    let states: Vec<[&str; 2]> = runs.iter().map(|run| [run[0], run[2]]).collect();
    assert_eq!(
        states,
        [["✗ slow", "stopped"], ["✓ quick", "completed"]],
        "{list}"
    );
    let slow = runs[0][1];
    let output = pi.call("get_subagent_output", json!({"sessionId": slow}));
    assert_eq!(output.text, "Half of it is done.");
    let whole = pi.call("get_subagent_session", json!({"sessionId": slow}));
    assert!(
        whole
            .text
            .ends_with("[Error: Session was interrupted (main agent session ended unexpectedly)]"),
        "{}",
        whole.text
    );
    let again = json!({"tasks": [{"name": "again", "prompt": "Quick.", "resume": slow}]});
    let resumed = pi.call("delegate_to_subagents", again);
    assert_eq!(
        resumed.text,
        format!(
            "✓ again: completed (session: {slow})\n  saw: no tool call, 1 turn, 110 tokens, <$0.01"
        )
    );
    pi.rpc.finish();

    // Its end is in the session now, with one notice.
    let mut later = door.parent(&["--continue"]);
    later.rpc.prompt("/subagents list");
    let first = later.rpc.wait_for(|event| event["method"] == "notify");
    assert!(is_list(&first), "{first}");
    later.rpc.finish();
}

fn a_host_that_dies_is_started_again_and_knows_the_session(pi: RealPi) {
    let door = endless(pi, "embedded");
    let mut parent = door.parent(&[]);
    let quick = json!({"tasks": [{"name": "quick", "prompt": "Quick."}]});
    let delegated = parent.call("delegate_to_subagents", quick);
    let host = descendants(parent.pid());
    parent.begin("delegate_to_subagents", tasks());
    let below = wait_until_slow(&parent);
    kill(host[0], Signal::KILL);
    let failed = parent.settle();
    assert!(failed.is_error, "{failed:?}");
    assert!(failed.text.contains("has stopped (SIGKILL)"), "{failed:?}");
    assert_eq!(wait_until_gone(&below, PATIENCE), Ok(()));
    let id = &delegated.sessions()[0];
    let output = parent.call("get_subagent_output", json!({"sessionId": id}));
    assert_eq!(output.text, "Quick as ever.");
}
