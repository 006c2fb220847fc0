//! The windows as a person sees them, in terminals of several widths.

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::PiDoor;
use crate::real_pi::{RealPi, for_each_pi};
use crate::terminal::{DOWN, ENTER, Terminal};

for_each_pi! {
    words_are_seen_while_they_are_written,
    what_a_session_file_holds_cannot_hurt_the_screen,
    a_long_list_of_sub_agents_scrolls_with_its_cursor,
    a_report_is_read_in_its_window_and_by_the_command_and_warnings_are_on_the_screen,
    windows_in_a_terminal_of_60_columns,
    windows_in_a_terminal_of_100_columns,
    windows_in_a_terminal_of_200_columns,
}

const CTRL_O: &str = "\x0f";
const CTRL_D: &str = "\x04";

/// More lines than a window shows, with wide characters, and one that no screen can hold.
fn long_text() -> String {
    let lines: Vec<String> = (1..=18)
        .map(|number| format!("line {number} 日本語の行 🎉 and some plain words"))
        .collect();
    format!("{}\n{}\nhalf way", lines.join("\n"), "長x".repeat(1_100))
}

fn door(pi: RealPi) -> PiDoor {
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
    PiDoor::new(pi, "embedded", script)
}

/// Returns the lines between the call of the tool and the line where one types.
fn windows(door: &PiDoor, screen: &str) -> String {
    let lines = screen
        .lines()
        .skip_while(|line| !line.contains("delegate_to_subagents"))
        .take_while(|line| !line.starts_with("──"));
    let lines: Vec<&str> = lines.collect();
    door.sandbox.normalise(lines.join("\n").trim_end())
}

fn see(pi: RealPi, columns: u16) {
    let door = door(pi);
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
            && !screen.contains("(running)")
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
    terminal.answer("fake-model", &words);
    terminal.answer(&words, ENTER);
    terminal.wait_for("more lines)");
    // The first may go to the list of completions.
    terminal.answer("fake-model", "/profile show brush");
    terminal.press_until(ENTER, "System prompt, in place of");
    terminal.answer("fake-model", CTRL_D);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!door.sandbox.agent_dir().join("pi-tui-crash.log").exists());
}

/// The words of a real stream, through a real child of either kind, on the screen of a real pi.
fn words_are_seen_while_they_are_written(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let half = Turn {
            chunk_chars: Some(5),
            gate: Some("rest".to_owned()),
            gate_after: 4,
            ..Turn::text("The wall has two coats of paint.")
        };
        let door = PiDoor::new(pi, runner, Script::new().on_every("Paint", [half]));
        let call = json!({"tasks": [{"name": "wall", "prompt": "Paint."}]});
        let words = door.script_call("delegate_to_subagents", call);
        let mut terminal = Terminal::start_with(door.pi(&[&words]), 100);
        let is_half = |line: &str| line.contains("The wall has") && line.trim_end().ends_with('▌');
        let seen = terminal.wait_for_screen(|screen| screen.lines().any(is_half));
        assert!(!seen.contains("of paint."), "{seen}");
        door.server.release("rest");
        let over = terminal.wait_for_screen(|screen| {
            screen.contains("Called.") && screen.contains("The wall has two coats of paint.")
        });
        assert!(!over.contains('▌'), "{over}");
        terminal.answer("fake-model", CTRL_D);
        assert_eq!(terminal.end().0, Some(0));
    }
}

/// A session file in which somebody has changed a call of ours and its result.
fn edited_session(door: &PiDoor, arguments: &Value, details: &Value) -> String {
    let usage = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
    let call = json!({"type": "toolCall", "id": "1", "name": "delegate_to_subagents", "arguments": arguments});
    let text = json!([{"type": "text", "text": "old words"}]);
    let messages = [
        json!({"role": "user", "content": text, "timestamp": 1}),
        json!({"role": "assistant", "content": [call], "api": "openai-completions", "provider": "fake",
            "model": "fake-model", "usage": usage, "stopReason": "toolUse", "timestamp": 2}),
        json!({"role": "toolResult", "toolCallId": "1", "toolName": "delegate_to_subagents",
            "content": text, "details": details, "isError": false, "timestamp": 3}),
    ];
    let time = "2026-01-01T00:00:00.000Z";
    let mut lines = vec![json!({"type": "session", "version": 3, "id": "edited",
        "timestamp": time, "cwd": door.sandbox.project()})];
    for (number, message) in messages.iter().enumerate() {
        let parent = number
            .checked_sub(1)
            .map(|parent| format!("0000000{parent}"));
        lines.push(json!({"type": "message", "id": format!("0000000{number}"),
            "parentId": parent, "timestamp": time, "message": message}));
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let file = door
        .sandbox
        .write("edited.jsonl", &format!("{}\n", lines.join("\n")));
    file.display().to_string()
}

fn what_a_session_file_holds_cannot_hurt_the_screen(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", Script::new());
    let wide = "幅".repeat(3_000);
    let arguments = json!({"profile": wide, "tasks": [null, 5, {"profile": "\u{1b}[2Jgone\nline"}, {"profile": {}}]});
    let details = json!({
        "header": 7, "footer": [null, [{"text": wide, "role": "shiny"}]],
        "windows": [
            null, "text", {"lines": "none", "header": [[], null, {"text": 5}]},
            {"header": [{"text": "\u{1b}[31mred\r\n\tend", "role": "title"}],
             "lines": [3, {"spans": [{"text": wide}]}], "allMessages": {}, "errorMessage": wide},
        ],
    });
    let session = edited_session(&door, &arguments, &details);
    let mut terminal = Terminal::start_with(door.pi(&["--session", &session]), 60);
    let collapsed = terminal.wait_for("[31mred  end");
    insta::assert_snapshot!("edited", windows(&door, &collapsed));
    terminal.answer("", CTRL_O);
    terminal.wait_for("Tool output: expanded");
    terminal.answer("fake-model", CTRL_D);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!door.sandbox.agent_dir().join("pi-tui-crash.log").exists());
}

/// Returns the session id of the first sub-agent, from the answer to the parent's model.
fn sessions(door: &PiDoor) -> String {
    let asked = door.server.requests();
    let body = asked.last().unwrap().body.to_string();
    let (_, rest) = body.split_once("(session: ").unwrap();
    rest.split_once(')').unwrap().0.to_owned()
}

fn a_long_list_of_sub_agents_scrolls_with_its_cursor(pi: RealPi) {
    let script = Script::new().otherwise([Turn::text("Quick as ever.")]);
    let door = PiDoor::new(pi, "embedded", script);
    let tasks: Vec<Value> = (1..=16)
        .map(|number| json!({"name": format!("task-{number:02}"), "prompt": "Quick."}))
        .collect();
    // One after the other, so that they begin in their order.
    let call = json!({"tasks": tasks, "concurrency": 1});
    let words = door.script_call("delegate_to_subagents", call);
    let mut terminal = Terminal::start_sized(door.pi(&[&words]), 50, 24);
    terminal.wait_for("Called.");
    terminal.answer("fake-model", "/subagents");
    terminal.answer("/subagents", ENTER);
    terminal.wait_for("(1/16)");
    terminal.answer("→ ✓ task-16", &DOWN.repeat(13));
    let moved = terminal.wait_for("(14/16)");
    assert!(moved.contains("→ ✓ task-03"), "{moved}");
    terminal.answer("task-01", ENTER);
    terminal.answer("→ Show what was said", ENTER);
    terminal
        .wait_for_screen(|screen| !screen.contains("(14/16)") && screen.contains("Quick as ever."));
    terminal.answer("fake-model", CTRL_D);
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
}

fn windows_in_a_terminal_of_60_columns(pi: RealPi) {
    see(pi, 60);
}

fn windows_in_a_terminal_of_100_columns(pi: RealPi) {
    see(pi, 100);
}

fn windows_in_a_terminal_of_200_columns(pi: RealPi) {
    see(pi, 200);
}

fn a_report_is_read_in_its_window_and_by_the_command_and_warnings_are_on_the_screen(pi: RealPi) {
    let result = "# Report\n\nAll **walls** are `painted`.\n\n- one\n- two";
    let report = json!({"status": "SUCCESS", "result": result});
    let turn = Turn::tool_call("subagent_finalize", report);
    let door = PiDoor::new(pi, "embedded", Script::new().on_every("Paint", [turn]));
    door.sandbox.write(
        "home/.pi/agent/subagents/painter.md",
        "---\nname: painter\ndescription: Paints walls.\nfinalize: true\nmodel: fake/fake-model\n---\nYou paint.\n",
    );
    let task =
        json!({"name": "wall", "prompt": "Paint.", "profile": "painter", "files": ["plans"]});
    // A directory is no file that could be read.
    door.sandbox.write("project/plans/wall.txt", "White.");
    let words = door.script_call("delegate_to_subagents", json!({"tasks": [task]}));
    let mut terminal = Terminal::start_sized(door.pi(&[&words]), 100, 40);
    let over = terminal.wait_for_screen(|screen| {
        screen.contains("Called.") && screen.contains("All walls are `painted`.")
    });
    assert!(!over.contains("subagent_finalize"), "{over}");
    assert!(
        over.contains("! wall: ") && over.contains("could not read file: plans"),
        "{over}"
    );
    terminal.answer("fake-model", "/subagents show last");
    terminal.press_until(ENTER, "> Paint.");
    let shown =
        terminal.wait_for_screen(|screen| screen.matches("All walls are `painted`.").count() == 2);
    assert!(!shown.contains("subagent_finalize"), "{shown}");
    terminal.answer("fake-model", CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
}
