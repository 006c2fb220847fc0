//! Runs that are started and resumed in `attach`: they go on when it has left.

use std::time::Duration;

use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::terminal::{ENTER, Terminal};

const PATIENCE: Duration = Duration::from_mins(1);

/// A sandbox whose settings name a model that plays a script, and a definition that uses it.
fn stage() -> Stage {
    let stage = Stage::new();
    let script = json!({"rules": [
        {"when": "Wait", "turns": [
            {"toolCalls": [{"name": "bash", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done"}}]},
            {"text": "Waited."},
        ]},
        {"turns": [{"text": "You said: {{prompt}}"}]},
    ]});
    let file = stage
        .sandbox
        .write("project/talk.json", &script.to_string());
    let fields = format!(
        "description: Talks.\nmodel: scripted/{}\nrunner: embedded",
        file.display()
    );
    stage.sandbox.write(
        "home/.pi/agent/subagents/talker.md",
        &format!("---\nname: talker\n{fields}\n---\nYou talk.\n"),
    );
    stage
}

fn runs(stage: &Stage) -> Vec<Value> {
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    status["runs"].as_array().unwrap().clone()
}

#[test]
fn a_new_run_is_started_with_a_definition_and_outlives_the_screen() {
    let stage = stage();
    let mut terminal = Terminal::start_sized(stage.command(&["attach"]), 100, 20);
    terminal.wait_for("No runs yet. New runs appear here, and n starts one.");
    terminal.press("nWait for me");
    terminal.wait_for("New run of default (Tab: another): Wait for me");
    terminal.press("\t");
    terminal.wait_for("New run of talker (Tab: another): Wait for me");
    terminal.press(ENTER);
    terminal.wait_for_screen(|screen| {
        screen.contains("> ⏳ talker") && screen.ends_with("talker runs in the background.")
    });
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(runs(&stage)[0]["status"], "running");
    stage.sandbox.write("project/go", "");
    let id = runs(&stage)[0]["runId"].as_str().unwrap().to_owned();
    stage.command(&["wait", &id]).run().expect_success();
    assert_eq!(runs(&stage)[0]["output"], "Waited.");
}

#[test]
fn a_finished_run_is_resumed_in_its_session() {
    let stage = stage();
    let options = [
        "--runner",
        "embedded",
        "--model",
        "scripted/talk.json",
        "-q",
    ];
    let delegate = stage.command(&["delegate", "--task", "plan=Say hello"]);
    delegate.args(options).run().expect_success();
    let spawn = stage.command(&["spawn", "talker", "Say more", "--json"]);
    let spawned = spawn.run().expect_success().json();
    let id = spawned["runs"][0]["runId"].as_str().unwrap().to_owned();
    stage.command(&["wait", &id]).run().expect_success();
    let mut terminal = Terminal::start_sized(stage.command(&["attach"]), 100, 20);
    terminal.wait_for("Sub-agents: 2 completed");
    for (name, runs) in [("talker", 3), ("plan", 4)] {
        terminal.press(&format!("/{name}{ENTER}"));
        terminal.wait_for(&format!("> ✓  {name}"));
        terminal.press("rAnd now sing");
        terminal.wait_for(&format!("Continue {name}: And now sing"));
        terminal.press(ENTER);
        terminal.wait_for(&format!("{name} runs in the background."));
        // A run that has just been started is chosen when it comes into the list, whatever the filter
        // is then.
        terminal.wait_for(&format!("Sub-agents: {runs} completed"));
    }
    let done = wait_until(PATIENCE, || {
        let runs = runs(&stage);
        let is_done = |run: &Value| run["status"] == "completed";
        (runs.len() == 4 && runs.iter().all(is_done)).then_some(runs)
    });
    let runs = done.expect("four runs are done");
    let mut sessions: Vec<&str> = runs
        .iter()
        .map(|run| run["sessionId"].as_str().unwrap())
        .collect();
    sessions.sort_unstable();
    sessions.dedup();
    assert_eq!(sessions.len(), 2);
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
}
