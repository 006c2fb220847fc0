//! Results that wait in worktrees, as a person sees them in the real pi: changes, what fits, merging
//! and discarding, in a small and in a large terminal.

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::results::make_repository;
use super::stage::PiDoor;
use crate::real_pi::{RealPi, for_each_pi};
use crate::terminal::{DOWN, ENTER, Terminal};

for_each_pi! {
    results_in_a_terminal_of_80_columns_and_24_rows,
    results_in_a_terminal_of_120_columns_and_50_rows,
}

const CTRL_D: &str = "\x04";

fn results_in_a_terminal_of_80_columns_and_24_rows(pi: RealPi) {
    see(pi, 80, 24);
}

fn results_in_a_terminal_of_120_columns_and_50_rows(pi: RealPi) {
    see(pi, 120, 50);
}

/// Starts a pi in which two sub-agents have changed the same line.
fn start(door: &PiDoor, columns: u16, rows: u16) -> Terminal {
    make_repository(door);
    let task = |name: &str| json!({"name": name, "prompt": format!("Be {name}."), "isolation": "worktree"});
    let call = json!({"tasks": [task("api"), task("ui")]});
    let words = door.script_call("delegate_to_subagents", call);
    let terminal = Terminal::start_sized(door.pi(&[&words]), columns, rows);
    terminal.wait_for("Called.");
    terminal
}

fn see(pi: RealPi, columns: u16, rows: u16) {
    let changing = |name: &str| {
        let command = json!({"command": format!("echo {name} > kept.txt")});
        [Turn::tool_call("bash", command), Turn::text("Done.")]
    };
    let script = Script::new()
        .on("Be api.", changing("api"))
        .on("Be ui.", changing("ui"));
    let door = PiDoor::new(pi, "embedded", script);
    let mut terminal = start(&door, columns, rows);
    let mut look = |command: &str, from: &str, to: &str| {
        terminal.answer("fake-model", command);
        terminal.press_until(ENTER, from);
        let screen = terminal.wait_for_screen(|screen| part(screen, from).contains(to));
        part(&screen, from)
    };
    let seen = [
        look("/subagents diff api", "diff --git", "+api"),
        look(
            "/subagents merge api ui --check",
            "checkout  api",
            "✗ api and ui",
        ),
    ];
    let name = format!("results_{columns}x{rows}");
    insta::assert_snapshot!(name, seen.join("\n~~~\n"));
    discard(&mut terminal, &format!("discarding_{columns}x{rows}"));
    terminal.answer("fake-model", "/subagents merge api");
    terminal.press_until(ENTER, "✓ api: merged, 1 file +1 −1");
    terminal.answer("fake-model", CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
    let merged = std::fs::read_to_string(door.sandbox.project().join("kept.txt"));
    assert_eq!(merged.unwrap(), "api\n");
}

/// Is asked about a result, keeps it, is asked again and discards it.
fn discard(terminal: &mut Terminal, name: &str) {
    let asking = "Discard what ui changed?";
    ask_to_discard(terminal);
    let screen = terminal.wait_for_screen(|screen| part(screen, asking).contains("Yes"));
    insta::assert_snapshot!(name, part(&screen, asking));
    // The first answer is no, and leaves everything as it is.
    terminal.press(ENTER);
    terminal.wait_for_screen(|screen| !screen.contains(asking));
    ask_to_discard(terminal);
    terminal.answer(asking, DOWN);
    terminal.answer("→ Yes", ENTER);
    terminal.wait_for("ui: discarded; git branch NAME");
}

/// Picks the newest run in the list, and wants to discard what it changed.
fn ask_to_discard(terminal: &mut Terminal) {
    terminal.answer("fake-model", "/subagents");
    terminal.answer("/subagents", ENTER);
    terminal.answer("→ ✓ ui", ENTER);
    // One key after the other: Enter alone would choose what is first.
    terminal.answer("→ Show what was said", DOWN);
    terminal.answer("→ Show its receipt", DOWN);
    terminal.answer("→ Show what it changed", DOWN);
    terminal.answer("→ Merge", DOWN);
    terminal.answer("→ Discard", ENTER);
}

/// Returns the lines from the last one that has these words to the line where one types.
fn part(screen: &str, from: &str) -> String {
    let lines: Vec<&str> = screen.lines().collect();
    let Some(first) = lines.iter().rposition(|line| line.contains(from)) else {
        return String::new();
    };
    let part = lines[first..].iter();
    let part = part.take_while(|line| !line.starts_with("──"));
    let part: Vec<&str> = part.map(|line| line.trim_end()).collect();
    part.join("\n").trim_end().to_owned()
}
