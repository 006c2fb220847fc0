//! The windows of a call stay within the visible rows. Pi draws everything again, and clears the
//! rows that were scrolled away, whenever something changes above them.

use pi_subagents_testkit::llm::{Rule, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::PiDoor;
use crate::real_pi::{RealPi, for_each_pi};
use crate::terminal::Terminal;

for_each_pi! {
    sixteen_tasks_never_make_pi_clear_what_was_scrolled_away,
    windows_follow_a_terminal_that_becomes_smaller_and_larger,
    several_calls_at_once_share_the_screen,
}

const CTRL_D: &str = "\x04";

/// Returns the script of each task: words, a call, and an answer that comes when the gate is
/// released.
fn script() -> Script {
    let said = "The wall is wet and has to dry before the second coat can be put on. ".repeat(3);
    let turns = [
        Turn {
            text: said,
            ..Turn::tool_call("bash", json!({"command": "echo 壁"}))
        },
        Turn::text("# Report\n\nAll walls are painted.\n\n- one\n- two").gate("painted"),
    ];
    // Each task has its own turns, because several are at work at once.
    let numbers = 1..=16;
    numbers.fold(Script::new(), |script, number| {
        script.on_every(&format!("Paint {number:02}."), turns.clone())
    })
}

fn task(number: usize) -> Value {
    json!({"name": format!("task-{number:02}"), "prompt": format!("Paint {number:02}.")})
}

fn tasks(numbers: std::ops::RangeInclusive<usize>) -> Value {
    json!({"tasks": numbers.map(task).collect::<Vec<_>>()})
}

/// A pi that draws below what was there before, as the older one always does.
fn start(door: &PiDoor, pi: RealPi, words: &str, columns: u16, rows: u16) -> Terminal {
    let mode: &[&str] = match pi {
        RealPi::Older => &[],
        RealPi::Newer => &["--tui-mode", "regular"],
    };
    Terminal::start_sized(door.pi(mode).arg(words), columns, rows)
}

fn end(mut terminal: Terminal, door: &PiDoor) {
    terminal.answer("fake-model", CTRL_D);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!door.sandbox.agent_dir().join("pi-tui-crash.log").exists());
}

fn sixteen_tasks_never_make_pi_clear_what_was_scrolled_away(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", script());
    let words = door.script_call("delegate_to_subagents", tasks(1..=16));
    let terminal = start(&door, pi, &words, 80, 24);
    let running = terminal.wait_for_screen(|screen| {
        screen.contains("4 running") && screen.matches("echo 壁").count() == 4
    });
    assert!(running.contains("delegate_to_subagents"), "{running}");
    assert!(running.contains("… and 12 queued"), "{running}");
    door.server.release("painted");
    let over = terminal.wait_for_screen(|screen| screen.contains("Called."));
    assert!(over.contains("Sub-agents: 16 done"), "{over}");
    assert_eq!(terminal.clears(), 0, "{over}");
    end(terminal, &door);
}

fn windows_follow_a_terminal_that_becomes_smaller_and_larger(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", script());
    let words = door.script_call("delegate_to_subagents", tasks(1..=6));
    let mut terminal = start(&door, pi, &words, 100, 50);
    let is_drawn = |screen: &str| screen.matches("echo 壁").count() == 4;
    let large = terminal.wait_for_screen(is_drawn);
    assert!(!large.contains("and 2 queued"), "{large}");
    terminal.resize(60, 20);
    let small = terminal.wait_for_screen(|screen| {
        screen.contains("and 2 queued") && screen.contains("delegate_to_subagents")
    });
    assert!(small.contains("task-04"), "{small}");
    let clears = terminal.clears();
    door.server.release("painted");
    terminal.wait_for("Called.");
    assert_eq!(terminal.clears(), clears);
    terminal.resize(120, 50);
    terminal.wait_for_screen(|screen| screen.matches("All walls are painted.").count() == 6);
    end(terminal, &door);
}

fn several_calls_at_once_share_the_screen(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", script());
    let twice = Turn::tool_call("delegate_to_subagents", tasks(1..=2))
        .and_tool_call("delegate_to_subagents", tasks(3..=4));
    door.server.add(Rule {
        user: Some("Twice, please.".to_owned()),
        turns: vec![twice, Turn::text("Called.")],
        ..Rule::default()
    });
    let terminal = start(&door, pi, "Twice, please.", 80, 30);
    terminal.wait_for_screen(|screen| {
        screen.matches("delegate_to_subagents").count() == 2
            && screen.matches("echo 壁").count() == 4
    });
    door.server.release("painted");
    terminal.wait_for("Called.");
    assert_eq!(terminal.clears(), 0);
    end(terminal, &door);
}
