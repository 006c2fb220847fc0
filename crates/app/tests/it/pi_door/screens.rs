//! The windows as a person sees them, in terminals of several widths.

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::PiDoor;
use crate::profile::terminal::{ENTER, Terminal};

const CTRL_O: &str = "\x0f";
const CTRL_D: &str = "\x04";

/// More lines than a window shows, with wide characters, and one that no screen can hold.
fn long_text() -> String {
    let lines: Vec<String> = (1..=18)
        .map(|number| format!("line {number} 日本語の行 🎉 and some plain words"))
        .collect();
    format!("{}\n{}\nhalf way", lines.join("\n"), "長x".repeat(5_000))
}

fn door() -> PiDoor {
    let script = Script::new()
        .on_every(
            "Paint",
            [
                Turn {
                    text: long_text(),
                    ..Turn::tool_call("bash", json!({"command": "echo 壁紙"}))
                },
                Turn::text("Painted.").gate("painted"),
            ],
        )
        .on_every("Fail", [Turn::status(400, "The wall is wet. ".repeat(12))]);
    PiDoor::new("embedded", script)
}

/// What stands between the call of the tool and the line where one types.
fn windows(door: &PiDoor, screen: &str) -> String {
    let lines = screen
        .lines()
        .skip_while(|line| !line.contains("delegate_to_subagents"))
        .take_while(|line| !line.starts_with("──"));
    let lines: Vec<&str> = lines.collect();
    door.sandbox.normalise(lines.join("\n").trim_end())
}

/// Types into pi, where a line that comes at once would be taken for pasted text.
fn type_in(terminal: &mut Terminal, words: &str) {
    terminal.answer("fake-model", words);
    terminal.answer(words, ENTER);
}

fn see(columns: u16) {
    let door = door();
    let call = json!({"profile": "painter", "tasks": [
        {"name": "壁", "prompt": "Paint.", "profile": "brush"},
        {"name": "failing", "prompt": "Fail."},
        {"name": "nobody", "prompt": "Nothing.", "profile": "missing"},
    ]});
    for name in ["painter", "brush"] {
        door.sandbox.write(
            &format!("home/.pi/agent/agent-profiles/{name}.md"),
            &format!("---\nname: {name}\nmodel: fake/fake-model\n---\nYou paint.\n"),
        );
    }
    let words = door.script_call("delegate_to_subagents", call);
    let mut terminal = Terminal::start_with(door.pi(&[&words]), columns);
    let is_running = |screen: &str| {
        screen.contains("1 running")
            && screen.contains("壁紙")
            && screen.contains("The wall is wet.")
    };
    let running = terminal.wait_for_screen(is_running);
    insta::assert_snapshot!(format!("running_{columns}"), windows(&door, &running));

    terminal.answer("", CTRL_O);
    let expanded = terminal.wait_for("line 1 日本語の行");
    insta::assert_snapshot!(format!("expanded_{columns}"), windows(&door, &expanded));

    door.server.release("painted");
    terminal.wait_for("Called.");
    terminal.answer("", CTRL_O);
    let over = terminal.wait_for_screen(|screen| !screen.contains("line 1 日本語の行"));
    insta::assert_snapshot!(format!("over_{columns}"), windows(&door, &over));

    let id = sessions(&door);
    let words = door.script_call("get_subagent_session", json!({"sessionId": id}));
    type_in(&mut terminal, &words);
    terminal.wait_for("more lines)");
    type_in(&mut terminal, "/profile show brush");
    terminal.wait_for("System prompt, in place of");
    terminal.answer("fake-model", CTRL_D);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!door.sandbox.agent_dir().join("pi-tui-crash.log").exists());
}

/// The session id of the first sub-agent, as the parent's model was told.
fn sessions(door: &PiDoor) -> String {
    let asked = door.server.requests();
    let body = asked.last().unwrap().body.to_string();
    let (_, rest) = body.split_once("(session: ").unwrap();
    rest.split_once(')').unwrap().0.to_owned()
}

#[test]
fn windows_in_a_terminal_of_60_columns() {
    see(60);
}

#[test]
fn windows_in_a_terminal_of_100_columns() {
    see(100);
}

#[test]
fn windows_in_a_terminal_of_200_columns() {
    see(200);
}
