//! However an owner, a keeper or a child ends: nothing of the tree is left.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::process::{
    children_named, command_line, control_groups, descendants, exists, kill, name, parent,
    wait_until_gone, with_words,
};
use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::{Signal, wait_for_file, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::{Outcome, Stage, call, failed, outcomes};

/// The time that a tree may take to be gone; the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

const KINDS: [&str; 3] = ["sameGroup", "ownSession", "doubleFork"];

/// A run whose child has grandchildren of every kind and then hangs.
struct Family {
    stage: Stage,
    owner: RunningCommand,
    child: u32,
    grandchildren: Vec<u32>,
}

impl Family {
    fn start(first_steps: &[Value]) -> Self {
        let stage = Stage::new();
        let mut steps = first_steps.to_vec();
        for kind in KINDS {
            steps.push(json!({"fork": {"kind": kind, "pidFile": stage.path(kind)}}));
        }
        steps.push(json!({"touch": stage.path("ready")}));
        steps.push(json!({"hang": true}));
        let owner = stage.delegate(&call(&[("family", json!(steps))])).spawn();
        wait_for_file(stage.path("ready"), PATIENCE);
        let pid = |name: &str| -> u32 {
            wait_for_file(stage.path(name), PATIENCE)
                .trim()
                .parse()
                .unwrap()
        };
        let grandchildren: Vec<u32> = KINDS.map(pid).into();
        let child = parent(grandchildren[0]).unwrap();
        Self {
            stage,
            owner,
            child,
            grandchildren,
        }
    }

    fn keeper(&self) -> u32 {
        parent(self.child).unwrap()
    }

    fn tree(&self) -> Vec<u32> {
        let mut tree = self.grandchildren.clone();
        tree.extend([self.child, self.keeper()]);
        assert!(tree.iter().all(|pid| exists(*pid)));
        tree
    }
}

#[test]
fn killing_the_owner_ends_the_whole_tree() {
    let family = Family::start(&[]);
    let tree = family.tree();
    family.owner.kill(Signal::KILL);
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}

#[test]
fn killing_the_owner_ends_a_tree_that_ignores_everything() {
    let family = Family::start(&[
        json!({"ignoreTerm": true}),
        json!({"ignoreEof": true}),
        json!({"ignoreAbort": true}),
    ]);
    let tree = family.tree();
    family.owner.kill(Signal::KILL);
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}

#[test]
fn killing_the_keeper_ends_the_tree_and_the_run() {
    let family = Family::start(&[json!({"ignoreEof": true})]);
    let tree = family.tree();
    kill(family.keeper(), Signal::KILL);
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
    assert_eq!(
        outcomes(&family.owner.wait()),
        [failed(
            "family",
            1,
            "Lost the sub-agent: its supervisor was killed.",
            None
        )]
    );
}

#[test]
fn killing_keeper_and_owner_together_leaves_nothing() {
    let family = Family::start(&[json!({"ignoreEof": true}), json!({"ignoreTerm": true})]);
    let tree = family.tree();
    family.owner.kill(Signal::STOP);
    kill(family.keeper(), Signal::KILL);
    family.owner.kill(Signal::KILL);
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}

#[test]
fn what_is_left_when_everybody_is_killed_ends_at_the_next_start() {
    let family = Family::start(&[json!({"ignoreEof": true}), json!({"ignoreTerm": true})]);
    let tree = family.tree();
    family.owner.kill(Signal::STOP);
    for process in descendants(family.owner.pid()) {
        if !family.grandchildren.contains(&process) && process != family.child {
            kill(process, Signal::KILL);
        }
    }
    family.owner.kill(Signal::KILL);
    _ = family.owner.wait_for_exit();
    let status = family.stage.command(&["status", "--all", "--json"]).run();
    assert_eq!(status.json()["counts"]["stopped"], json!(1));
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}

#[test]
fn killing_by_name_leaves_somebody_who_ends_the_tree() {
    let family = Family::start(&[json!({"ignoreEof": true}), json!({"ignoreTerm": true})]);
    let tree = family.tree();
    let keeper = family.keeper();
    let warden = children_named(family.owner.pid(), "pisub-warden")[0];
    let run = run_id(&family.stage);
    assert_eq!(name(keeper).as_deref(), Some("pisub-keeper"));
    assert_eq!(
        command_line(keeper),
        Some(format!("pisub-keeper keeper {run}"))
    );
    let command = command_line(warden).unwrap();
    assert!(command.starts_with("pisub-warden warden "), "{command}");
    let named_like_us = descendants(family.owner.pid())
        .into_iter()
        .filter(|pid| command_line(*pid).is_some_and(|line| line.contains("pi-subagents ")));
    for process in named_like_us.chain([family.owner.pid()]) {
        kill(process, Signal::KILL);
    }
    assert_eq!(wait_until_gone(&tree, PATIENCE), Ok(()));
}

/// Returns whether this machine lets us make control groups. Without them, nobody finds a process
/// that forgot everything and whose keeper, warden and owner were killed at once.
fn has_groups(owner: u32, grandchild: u32) -> bool {
    let in_group = wait_until(PATIENCE / 12, || {
        control_groups(grandchild)
            .contains(&format!("/pisub-{owner}-"))
            .then_some(())
    });
    in_group.is_some()
}

#[test]
fn a_process_that_forgot_everything_is_found_when_everybody_is_killed() {
    let stage = Stage::new();
    let pid_file = stage.path("forgetful");
    let steps = json!([
        {"fork": {"kind": "forgetful", "pidFile": pid_file}},
        {"touch": stage.path("ready")},
        {"hang": true}
    ]);
    let owner = stage.delegate(&call(&[("a", steps)])).spawn();
    wait_for_file(stage.path("ready"), PATIENCE);
    let forgetful: u32 = wait_for_file(pid_file, PATIENCE).trim().parse().unwrap();
    let has_groups = has_groups(owner.pid(), forgetful);
    let groups = control_groups(forgetful);
    owner.kill(Signal::STOP);
    for process in descendants(owner.pid()) {
        if process != forgetful {
            kill(process, Signal::KILL);
        }
    }
    owner.kill(Signal::KILL);
    _ = owner.wait_for_exit();
    let status = stage.command(&["status", "--all", "--json"]).run();
    assert_eq!(status.json()["counts"]["stopped"], json!(1));
    if has_groups {
        assert_eq!(wait_until_gone(&[forgetful], PATIENCE), Ok(()));
        let group = groups.rsplit('/').next().unwrap().trim();
        let left = group_directories(group);
        assert_eq!(left, Vec::<String>::new());
    } else {
        kill(forgetful, Signal::KILL);
    }
}

/// The directories of control groups of this name.
fn group_directories(name: &str) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let points = mounts
        .lines()
        .filter(|line| line.contains(" - cgroup2 "))
        .filter_map(|line| line.split(' ').nth(4));
    points
        .map(|point| format!("{point}/{name}"))
        .filter(|path| fs::exists(path).unwrap())
        .collect()
}

#[test]
fn a_process_that_forks_all_the_time_is_ended() {
    let stage = Stage::new();
    let words = stage.path("race");
    let steps = json!([
        {"fork": {"kind": "race", "pidFile": words}},
        {"touch": stage.path("ready")},
        {"hang": true}
    ]);
    let owner = stage.delegate(&call(&[("a", steps)])).spawn();
    wait_for_file(stage.path("ready"), PATIENCE);
    let started = wait_until(PATIENCE, || (!with_words(&words).is_empty()).then_some(()));
    assert_eq!(started, Some(()));
    let stopped = stage.command(&["stop", "--all"]).run();
    assert_eq!(with_words(&words), Vec::<u32>::new());
    assert_eq!(stopped.code, Some(0), "{stopped}");
    assert_eq!(owner.wait().code, Some(143));
}

fn signal_ends_the_tree(signal: Signal, number: i32, name: &str) {
    let family = Family::start(&[]);
    let tree = family.tree();
    family.owner.kill(signal);
    let output = family.owner.wait();
    assert_eq!(wait_until_gone(&tree, Duration::ZERO), Ok(()));
    assert_eq!(output.code, Some(128 + number));
    assert_eq!(
        outcomes(&output),
        [Outcome {
            name: "family".to_owned(),
            status: "stopped".to_owned(),
            exit_code: i64::from(128 + number),
            error: Some(format!("Interrupted by {name}.")),
            output: None,
        }]
    );
}

#[test]
fn sigterm_to_the_owner_ends_the_tree_before_it_exits() {
    signal_ends_the_tree(Signal::TERM, 15, "SIGTERM");
}

#[test]
fn sigint_to_the_owner_ends_the_tree_before_it_exits() {
    signal_ends_the_tree(Signal::INT, 2, "SIGINT");
}

#[test]
fn sighup_to_the_owner_ends_the_tree_before_it_exits() {
    signal_ends_the_tree(Signal::HUP, 1, "SIGHUP");
}

#[test]
fn a_second_signal_does_not_wait_for_a_stubborn_tree() {
    let family = Family::start(&[
        json!({"ignoreTerm": true}),
        json!({"ignoreEof": true}),
        json!({"ignoreAbort": true}),
    ]);
    let tree = family.tree();
    family.owner.kill(Signal::INT);
    family.owner.kill(Signal::INT);
    let output = family.owner.wait();
    assert_eq!(output.code, Some(130));
    assert_eq!(wait_until_gone(&tree, Duration::ZERO), Ok(()));
}

#[test]
fn a_timeout_ends_a_tree_that_ignores_everything_and_keeps_what_was_said() {
    let stage = Stage::new();
    let pid_file = stage.path("grandchild");
    let script = json!([
        {"ignoreTerm": true}, {"ignoreEof": true}, {"ignoreAbort": true},
        {"fork": {"kind": "ignoresTerm", "pidFile": pid_file}},
        {"say": "so far"}, {"hang": true}
    ]);
    let call = json!({"tasks": [{"name": "slow", "prompt": script.to_string(), "timeout": 5}]});
    let output = stage.delegate(&call).run();
    let grandchild: u32 = fs::read_to_string(pid_file)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(!exists(grandchild));
    assert_eq!(output.code, Some(124));
    assert_eq!(
        outcomes(&output),
        [failed(
            "slow",
            124,
            "Timed out after 5s. Consider resuming with a longer timeout.",
            Some("so far")
        )]
    );
}

#[test]
fn what_a_child_leaves_behind_when_it_is_done_is_ended() {
    let stage = Stage::new();
    let files: Vec<String> = KINDS.map(|kind| stage.path(kind)).into();
    let mut steps: Vec<Value> = KINDS
        .iter()
        .zip(&files)
        .map(|(kind, file)| json!({"fork": {"kind": kind, "pidFile": file}}))
        .collect();
    steps.push(json!({"reply": "done"}));
    let found = stage.outcomes(&[("leaves", json!(steps))]);
    assert_eq!(found, [crate::stage::completed("leaves", "done")]);
    for file in files {
        let pid: u32 = fs::read_to_string(file).unwrap().trim().parse().unwrap();
        assert!(!exists(pid));
    }
}

#[test]
fn an_interrupted_run_is_found_at_the_next_start_and_says_how_to_go_on() {
    let family = Family::start(&[json!({"say": "half of it"})]);
    let run = || {
        let status = family.stage.command(&["status", "--all", "--json"]).run();
        status.json()["runs"][0].clone()
    };
    // A killed owner loses the words that it has read and not yet written.
    let is_written = || {
        let directory = run()["directory"].as_str()?.to_owned();
        let events = fs::read_to_string(format!("{directory}/events.jsonl")).ok()?;
        events.contains("half of it").then_some(())
    };
    wait_until(PATIENCE, is_written).expect("the words in the record");
    family.owner.kill(Signal::KILL);
    let run = wait_until(PATIENCE, || {
        let run = run();
        (run["status"] == "stopped").then_some(run)
    })
    .expect("the run to be recorded as interrupted");
    let session = run["sessionId"].as_str().unwrap();
    insta::assert_snapshot!(family.stage.command(&["output", session]).run(), @"
    --- exit code
    5
    [EOF]
    --- stdout
    half of it
    [EOF]
    --- stderr
    ! family stopped — Session was interrupted (main agent session ended unexpectedly)
    ! This is what it had said until then, and no finished answer.
    hint: Continue it with pi-subagents resume <session-1> PROMPT.
    [EOF]
    ");
    let transcript = family.stage.command(&["session", session, "--json"]).run();
    let read = &transcript.json()["runs"][0];
    assert_eq!(
        (&read["status"], &read["errorMessage"]),
        (
            &json!("stopped"),
            &json!("Session was interrupted (main agent session ended unexpectedly)")
        )
    );
    let directory = run["directory"].as_str().unwrap();
    let result: Value =
        serde_json::from_str(&fs::read_to_string(format!("{directory}/result.json")).unwrap())
            .unwrap();
    assert_eq!(result["sessionId"], json!(session));
}

#[test]
fn a_grandchild_without_the_mark_does_not_survive_its_keeper() {
    let stage = Stage::new();
    let server = pi_subagents_testkit::llm::LlmServer::start(
        pi_subagents_testkit::llm::Script::new().otherwise([
            pi_subagents_testkit::llm::Turn::tool_call(
                "bash",
                json!({"command": format!(
                    "env -i setsid sh -c 'echo $$ > {0}.tmp; mv {0}.tmp {0}; exec sleep 1000' & sleep 1000",
                    stage.path("pid")
                )}),
            ),
        ]),
    );
    stage.sandbox.models_json(&server.base_url());
    let call = json!({"tasks": [{"name": "a", "prompt": "start something"}]});
    let owner = stage.delegate_to("embedded", &call).spawn();
    let pid: u32 = wait_for_file(stage.path("pid"), PATIENCE)
        .trim()
        .parse()
        .unwrap();
    let status = stage.command(&["events", &run_id(&stage)]).run();
    let started = &status.json_lines()[1];
    let process = |name: &str| u32::try_from(started[name].as_u64().unwrap()).unwrap();
    kill(process("keeper"), Signal::KILL);
    kill(process("child"), Signal::KILL);
    assert_eq!(wait_until_gone(&[pid], PATIENCE), Ok(()));
    assert_eq!(outcomes(&owner.wait())[0].status, "failed");
}

fn run_id(stage: &Stage) -> String {
    let status = stage.command(&["status", "--json"]).run().json();
    status["runs"][0]["runId"].as_str().unwrap().to_owned()
}
