//! Our calls in a session are drawn as we draw them, however pi came to that session.

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::PiDoor;
use crate::real_pi::{RealPi, for_each_pi};
use crate::terminal::{ENTER, Terminal};

for_each_pi! {
    calls_are_drawn_the_same_after_fork_resume_and_a_restart,
}

const CTRL_D: &str = "\x04";
const CTRL_U: &str = "\x15";

/// The notification, which is no part of the session.
const NOTIFIED: &str = "Background agent scout completed";

/// The lines that may come after them: a notification, the last prompt, the line where one types.
const ENDS: [&str; 4] = [NOTIFIED, "Last words.", "Forked to new session", "──"];

/// Returns the calls and their results: the lines between the first prompt and the lines after
/// them.
fn drawn(door: &PiDoor, screen: &str) -> String {
    let lines = screen
        .lines()
        .skip_while(|line| !line.contains("subagent scout"))
        .take_while(|line| !ENDS.iter().any(|end| line.trim_start().starts_with(end)));
    let lines: Vec<&str> = lines.map(str::trim_end).collect();
    door.sandbox.normalise(lines.join("\n").trim_end())
}

fn calls_are_drawn_the_same_after_fork_resume_and_a_restart(pi: RealPi) {
    let script = Script::new()
        .on_every("Look around.", [Turn::text("All quiet.")])
        .on("Last words.", [Turn::text("Goodbye.")]);
    let door = PiDoor::new(pi, "embedded", script);
    door.sandbox.write(
        "home/.pi/agent/subagents/scout.md",
        "---\nname: scout\ndescription: Looks.\nmodel: fake/fake-model\n---\nYou look.\n",
    );
    let task = json!({"preset": "scout", "task": "Look around."});
    let words = door.script_call("subagent", task.clone());
    let mut terminal = Terminal::start_with(door.pi(&[&words]), 200);
    terminal.wait_for("Called.");
    let words = door.script_call("background_agent", task);
    terminal.answer("fake-model", &words);
    terminal.answer(&words, ENTER);
    terminal.wait_for("Background agent scout: completed");
    terminal.wait_for(NOTIFIED);
    terminal.answer("fake-model", "Last words.");
    terminal.answer("Last words.", ENTER);
    let first = drawn(&door, &terminal.wait_for("Goodbye."));
    assert!(first.contains("✓ scout •"), "{first}");
    assert!(first.contains("background_agent scout"), "{first}");

    terminal.answer("fake-model", "/fork");
    terminal.answer("/fork", ENTER);
    terminal.answer("Fork from Message", ENTER);
    let forked = terminal.wait_for("Forked to new session");
    assert_eq!(drawn(&door, &forked), first);
    terminal.answer("Last words.", CTRL_U);
    terminal.answer("fake-model", "/resume");
    terminal.answer("/resume", ENTER);
    // The fork is below the session it was made from, which alone has these words.
    terminal.answer("└─", "Goodbye");
    terminal.wait_for_screen(|screen| !screen.contains("└─"));
    terminal.press(ENTER);
    let resumed = terminal.wait_for_screen(|screen| {
        screen.contains("Goodbye.") && screen.contains("Resumed session")
    });
    assert_eq!(drawn(&door, &resumed), first);
    terminal.answer("fake-model", CTRL_D);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");

    let mut terminal = Terminal::start_with(door.pi(&["--continue"]), 200);
    let continued = terminal.wait_for("bg: 0 running / 1 total");
    assert_eq!(drawn(&door, &continued), first);
    terminal.answer("fake-model", CTRL_D);
    terminal.end();
}
