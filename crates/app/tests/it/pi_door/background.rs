//! Background agents of the real pi: they outlive it, and it gets one notice of their end.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{Rule, Script, Turn};
use pi_subagents_testkit::{Signal, process, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::PiDoor;
use crate::real_pi::{RealPi, for_each_pi};
use crate::terminal::Terminal;

for_each_pi! {
    a_background_agent_outlives_pi_and_the_next_pi_is_told_once,
    a_fork_made_while_it_runs_is_told_and_so_is_the_session_it_was_made_from,
    the_footer_counts_what_is_over_without_a_host_and_passes_over_what_is_no_run,
    a_terminal_shows_what_runs_and_tells_of_its_end,
    a_widget_shows_what_background_runs_do_until_the_last_is_over,
}

const PATIENCE: Duration = Duration::from_mins(2);

const CTRL_D: &str = "\x04";

/// A pi with the preset `scout`, whose task takes until the file `go` is there. The child is a pi
/// too; `background_crowd.rs` has embedded ones.
fn door(pi: RealPi) -> PiDoor {
    let door = PiDoor::new(pi, "pi", Script::new());
    let wait = format!("until [ -e {} ]; do sleep 0.05; done", go(&door));
    door.server.add(Rule {
        user: Some("Look around.".to_owned()),
        turns: vec![
            Turn::tool_call("bash", json!({"command": wait})),
            Turn::text("All quiet."),
        ],
        ..Rule::default()
    });
    define_scout(&door);
    door
}

fn define_scout(door: &PiDoor) {
    door.sandbox.write(
        "home/.pi/agent/subagents/scout.md",
        "---\nname: scout\ndescription: Looks.\nmodel: fake/fake-model\n---\nYou look.\n",
    );
}

fn go(door: &PiDoor) -> String {
    door.sandbox.root().join("go").display().to_string()
}

/// The entries of a session file with this custom type.
fn entries(file: &str, custom_type: &str) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let entries = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    entries
        .filter(|entry: &Value| entry["customType"] == custom_type)
        .collect()
}

fn a_background_agent_outlives_pi_and_the_next_pi_is_told_once(pi: RealPi) {
    let door = door(pi);
    let mut first = door.parent(&[]);
    let arguments = json!({"preset": "scout", "task": "Look around."});
    let started = first.call("background_agent", arguments);
    assert!(!started.is_error, "{}", started.text);
    let run = started.details["runId"].as_str().unwrap().to_owned();
    let file = first.session_file();
    assert_eq!(entries(&file, "pi-subagents:bg-run").len(), 1);
    process::kill(first.pid(), Signal::KILL);
    fs::write(go(&door), "").unwrap();
    let waited = door.command(&["wait", &run]).run();
    assert_eq!(waited.code, Some(0), "{waited}");
    let asked = door.server.requests().len();

    let second = door.parent(&["--continue"]);
    let told = || entries(&file, "pi-subagents:bg-done");
    wait_until(PATIENCE, || (!told().is_empty()).then_some(())).unwrap();
    let content = told()[0]["content"].to_string();
    assert!(content.contains("All quiet."), "{content}");
    assert_eq!(entries(&file, "pi-subagents:bg-update").len(), 1);
    second.rpc.finish();

    let mut third = door.parent(&["--continue"]);
    let arguments = json!({"includeCompleted": true});
    let status = third.call("background_agent_status", arguments);
    assert_eq!(status.details["counts"]["completed"], 1, "{}", status.text);
    third.rpc.finish();
    assert_eq!(told().len(), 1);
    // The message started no turn: only the call of the status did.
    assert_eq!(door.server.requests().len(), asked + 2);
}

fn a_fork_made_while_it_runs_is_told_and_so_is_the_session_it_was_made_from(pi: RealPi) {
    let door = door(pi);
    let mut pi = door.parent(&[]);
    let arguments = json!({"preset": "scout", "task": "Look around."});
    pi.call("background_agent", arguments);
    let first = pi.session_file();
    let cloned = pi.rpc.ask(&json!({"type": "clone"}));
    assert_eq!(cloned["success"], true, "{cloned}");
    let fork = pi.session_file();
    assert_ne!(fork, first);
    let told = |file: &str| {
        let is_told = || {
            let messages = entries(file, "pi-subagents:bg-done");
            (!messages.is_empty()).then_some(messages.len())
        };
        wait_until(PATIENCE, is_told)
    };
    fs::write(go(&door), "").unwrap();
    assert_eq!(told(&fork), Some(1));
    pi.rpc
        .ask(&json!({"type": "switch_session", "sessionPath": first}));
    assert_eq!(told(&first), Some(1));
    pi.rpc
        .ask(&json!({"type": "switch_session", "sessionPath": fork}));
    pi.call("background_agent_status", json!({}));
    pi.rpc.finish();
    assert_eq!((told(&first), told(&fork)), (Some(1), Some(1)));
}

fn the_footer_counts_what_is_over_without_a_host_and_passes_over_what_is_no_run(pi: RealPi) {
    let door = door(pi);
    fs::write(go(&door), "").unwrap();
    let mut pi = door.parent(&[]);
    let arguments = json!({"preset": "scout", "task": "Look around."});
    pi.call("background_agent", arguments);
    let file = pi.session_file();
    let told = || entries(&file, "pi-subagents:bg-done");
    wait_until(PATIENCE, || (!told().is_empty()).then_some(())).unwrap();
    pi.rpc.finish();

    let text = fs::read_to_string(&file).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let no_run = json!({"type": "custom", "customType": "pi-subagents:bg-run", "id": "00000001",
        "parentId": last["id"], "timestamp": last["timestamp"], "data": {"runId": "x", "status": "running"}});
    fs::write(&file, format!("{text}{no_run}\n")).unwrap();
    let pi = door.parent(&["--continue"]);
    let footer = pi.rpc.wait_for(|event| event["method"] == "setStatus");
    assert_eq!(footer["statusText"], "bg: 0 running / 1 total");
    assert_eq!(process::descendants(pi.pid()), Vec::<u32>::new());
    pi.rpc.finish();
}

fn a_terminal_shows_what_runs_and_tells_of_its_end(pi: RealPi) {
    let quiet = Turn::text("All **quiet**:\n\n- nobody came\n- nobody left").gate("quiet");
    let door = PiDoor::new(pi, "embedded", Script::new().on("Look around.", [quiet]));
    define_scout(&door);
    let arguments = json!({"preset": "scout", "task": "Look around."});
    let words = door.script_call("background_agent", arguments);
    // Wide enough that nothing is broken at a place that depends on a time or a path.
    let mut terminal = Terminal::start_with(door.pi(&[&words]), 200);
    terminal.wait_for_screen(|screen| {
        screen.contains("Called.") && screen.contains("bg: 1 running / 1 total")
    });
    // pi has asked twice and the sub-agent once.
    let asked = wait_until(PATIENCE, || {
        let asked = door.server.requests().len();
        (asked >= 3).then_some(asked)
    });
    door.server.release("quiet");
    let told = terminal.wait_for_screen(|screen| {
        screen.contains("Background agent scout completed")
            && screen.contains("nobody left")
            && screen.contains("bg: 0 running / 1 total")
    });
    let lines = told
        .lines()
        .skip_while(|line| !line.contains("background_agent scout"))
        .take_while(|line| !line.starts_with("──"));
    let lines: Vec<&str> = lines.map(str::trim_end).collect();
    insta::assert_snapshot!(
        "terminal",
        door.sandbox.normalise(lines.join("\n").trim_end())
    );
    assert_eq!(Some(door.server.requests().len()), asked);
    terminal.answer("fake-model", CTRL_D);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
}

fn a_widget_shows_what_background_runs_do_until_the_last_is_over(pi: RealPi) {
    let script = Script::new().on_every(
        "Look around.",
        [
            Turn::tool_call("bash", json!({"command": "echo 灯台 the lamp"})),
            Turn::text("All quiet.").gate("quiet"),
        ],
    );
    let door = PiDoor::new(pi, "embedded", script);
    define_scout(&door);
    let arguments = json!({"preset": "scout", "task": "Look around."});
    let call = || Turn::tool_call("background_agent", arguments.clone());
    let words = "Start six of them, please.";
    let mut turns: Vec<Turn> = std::iter::repeat_with(call).take(6).collect();
    turns.push(Turn::text("Called."));
    door.server.add(Rule {
        user: Some(words.to_owned()),
        turns,
        ..Rule::default()
    });
    let mut terminal = Terminal::start_sized(door.pi(&[words]), 80, 24);
    let lines = |screen: &str| {
        let is_ours = |line: &&str| line.starts_with(" ⏳ scout: Look around. • ");
        let lines: Vec<String> = screen.lines().filter(is_ours).map(str::to_owned).collect();
        lines
    };
    // Four have a line, and the others are counted.
    terminal.wait_for_screen(|screen| {
        let lines = lines(screen);
        lines.len() == 4
            && lines.iter().any(|line| line.contains("bash → echo 灯台"))
            && screen.contains("… and 2 more in the background")
    });
    terminal.wait_for("Called.");
    door.server.release("quiet");
    terminal.wait_for_screen(|screen| {
        screen.contains("bg: 0 running / 6 total")
            && lines(screen).is_empty()
            && !screen.contains("more in the background")
    });
    terminal.answer("fake-model", CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
}
