//! The pictures of the README, made from real output. `cargo xtask pictures` makes them anew; the
//! tests fail when the program draws something else than they show.

mod animation;
mod page;
mod svg;

use std::env;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::sandbox::Sandbox;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use self::animation::Film;
use self::svg::{escaped, svg};
use crate::pi_door::stage::PiDoor;
use crate::real_pi::RealPi;
use crate::stage::Stage;
use crate::terminal::{DOWN, Terminal};

/// If it is set, the pictures are written and not compared.
const UPDATE: &str = "UPDATE_PICTURES";

#[test]
fn the_tour() {
    let stage = repository();
    let terminal = Terminal::start_in_colour(stage.command(&["tour"]), 84, 36);
    let film = Film::take(&terminal, "tour --here");
    let text = terminal.text();
    compare("tour", &film.svg("pi-subagents tour", &text), &text);
    assert_eq!(terminal.end().0, Some(0));
}

/// Two runs work until the file `go` is there, one has failed, and one has ended.
#[test]
fn attach() {
    let stage = repository();
    let call = |name: &str, arguments: Value| json!([{"name": name, "arguments": arguments}]);
    let tests = json!({"command": "./tests.sh"});
    let script = json!({"rules": [
        {"when": "Review", "turns": [
            {"text": "The change touches the **lamp** and the **fog horn**. I read both.",
             "toolCalls": call("read", json!({"path": "src/main.rs"}))},
            {"toolCalls": call("read", json!({"path": "src/fog.rs"}))},
            {"text": "`main` lights the lamp *before* the lens is in place. I try it:",
             "toolCalls": call("bash", tests.clone())},
            {"text": "It does."},
        ]},
        {"when": "Write", "turns": [{"error": "401 the key of the provider is not valid"}]},
        {"when": "tests", "turns": [
            {"text": "Running the tests.", "toolCalls": call("bash", tests)},
            {"text": "All pass."},
        ]},
        {"turns": [{"text": "A small library that keeps ships off the rocks."}]},
    ]});
    let sandbox = &stage.sandbox;
    sandbox.write("project/model.json", &script.to_string());
    let delegate = ["delegate", "--runner", "embedded", "-q"];
    let of_model = |model: &str, tasks: &[&str]| {
        let tasks = tasks.iter().flat_map(|task| ["--task", task]);
        let command = stage.command(&delegate).args(["--model", model]);
        tasks.fold(command, |command, word| command.args([word]))
    };
    let purpose = of_model("scripted/model.json", &["purpose=What is this for?"]);
    purpose.run().expect_success();
    let docs = ["docs=Write down how to mend the horn"];
    assert_eq!(of_model("scripted/model.json", &docs).run().code, Some(1));
    let tasks = ["tests=Run the tests", "review=Review the last commit"];
    let owner = of_model("scripted/model.json", &tasks).spawn();
    let mut terminal = Terminal::start_in_colour(stage.command(&["attach"]), 100, 20);
    terminal.wait_for_screen(|screen| screen.matches("./tests.sh").count() >= 2);
    terminal.press(DOWN);
    // The command stands in the rows of both runs and in the window.
    terminal.wait_for_screen(|screen| {
        screen.contains("I try it:") && screen.matches("./tests.sh (running)").count() >= 3
    });
    check("attach", "pi-subagents attach", &terminal, 0..20);
    terminal.press("q");
    assert_eq!(terminal.end().0, Some(0));
    sandbox.write("project/go", "");
    owner.wait().expect_success();
}

/// A call of the model in pi: one of its sub-agents is done, one works, and a tool of it has failed.
#[test]
fn windows_in_pi() {
    let said = |words: &str, tool: &str, arguments: Value| Turn {
        text: words.to_owned(),
        ..Turn::tool_call(tool, arguments)
    };
    let script = Script::new()
        .on_every(
            "Review",
            [
                said("The change touches the lamp.", "read", json!({"path": "src/main.rs"})),
                said("", "bash", json!({"command": "cargo --versoin"})),
                said(
                    "`main` lights it **before** the lens is in place. I try that:",
                    "bash",
                    json!({"command": "./tests.sh"}),
                ),
                Turn::text("It does."),
            ],
        )
        .on_every(
            "Search",
            [
                said(
                    "",
                    "bash",
                    json!({"command": "grep -rnE 'TODO|FIXME' src"}),
                ),
                Turn::text("Two open ends:\n\n- the lamp does not rotate (`src/main.rs:2`)\n- the horn sounds once (`src/fog.rs:2`)"),
            ],
        );
    let door = PiDoor::new(RealPi::Newer, "embedded", script);
    write_files(&door.sandbox);
    name_the_model(&door.sandbox);
    let call = json!({"tasks": [
        {"name": "review", "prompt": "Review the last commit."},
        {"name": "open-ends", "prompt": "Search for open ends."},
    ]});
    let words = door.script_call("delegate_to_subagents", call);
    let mut terminal = Terminal::start_in_colour(door.pi(&[&words]), 90, 40);
    terminal.wait_for_screen(|screen| {
        screen.contains("./tests.sh (running)") && screen.contains("✓ open-ends")
    });
    let windows = rows(&terminal, "delegate_to_subagents 2", "Working");
    check("pi", "sub-agents in pi", &terminal, windows);
    door.sandbox.write("project/go", "");
    terminal.wait_for("Called.");
    terminal.answer("qwen3-coder", "\x04");
    assert_eq!(terminal.end().0, Some(0));
}

const FILES: [(&str, &str); 4] = [
    (
        "README.md",
        "# Lighthouse\n\nA small library that keeps ships off the rocks.\n",
    ),
    (
        "src/main.rs",
        "fn main() {\n    // TODO: rotate the lamp\n}\n",
    ),
    (
        "src/fog.rs",
        "fn horn() {\n    // FIXME: sound the horn twice\n}\n",
    ),
    // It takes as long as a picture is taken.
    (
        "tests.sh",
        "#!/bin/sh\nuntil [ -e go ]; do sleep 0.05; done\n",
    ),
];

/// A small repository that is not ours.
fn repository() -> Stage {
    let stage = Stage::new();
    write_files(&stage.sandbox);
    stage
}

fn write_files(sandbox: &Sandbox) {
    for (path, text) in FILES {
        sandbox.program(&format!("project/{path}"), text);
    }
}

/// Gives the model of the scripted server a name that people know.
fn name_the_model(sandbox: &Sandbox) {
    for file in ["models.json", "settings.json"] {
        let text = fs::read_to_string(sandbox.agent_dir().join(file)).unwrap();
        let text = text.replace("fake-model", "qwen3-coder");
        let text = text.replace("\"fake\"", "\"local\"");
        sandbox.write(&format!("home/.pi/agent/{file}"), &text);
    }
}

/// Returns the rows from the one that holds some words to the one before others, without blank rows
/// at their end.
#[track_caller]
fn rows(terminal: &Terminal, first: &str, end: &str) -> Range<u16> {
    let screen = terminal.text();
    let lines: Vec<&str> = screen.lines().collect();
    let place = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap();
    let (first, mut end) = (place(first), place(end));
    while lines[end - 1].trim().is_empty() {
        end -= 1;
    }
    u16::try_from(first).unwrap()..u16::try_from(end).unwrap()
}

/// Compares a picture with these rows of the screen, or writes it.
#[track_caller]
fn check(name: &str, title: &str, terminal: &Terminal, rows: Range<u16>) {
    let screen = terminal.text();
    let lines = screen.lines().skip(rows.start.into());
    let lines: Vec<&str> = lines.take(rows.len()).collect();
    let text = lines.join("\n");
    let drawn = terminal.with_screen(|screen| svg(screen, rows, title, &text));
    compare(name, &drawn, &text);
}

/// Compares the text of a picture with this one, or writes the picture.
#[track_caller]
fn compare(name: &str, drawn: &str, text: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/pictures")
        .join(format!("{name}.svg"));
    if env::var_os(UPDATE).is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, drawn).unwrap();
        return;
    }
    let shown = fs::read_to_string(file).unwrap();
    let (_, rest) = shown.split_once("<desc>").unwrap();
    let (shown, _) = rest.split_once("</desc>").unwrap();
    assert_eq!(
        lasting(shown),
        lasting(&escaped(text)),
        "cargo xtask pictures makes the picture {name} anew"
    );
}

/// Leaves out the parts that differ from run to run: ids, times and sizes, and the space that they
/// take.
fn lasting(text: &str) -> Vec<String> {
    let word = |word: &str| {
        let is_changing = word.chars().any(|character| character.is_ascii_digit());
        if is_changing {
            "…".to_owned()
        } else {
            word.to_owned()
        }
    };
    let line = |line: &str| {
        line.split_whitespace()
            .map(word)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let lines = text.lines().map(line).filter(|line| !line.is_empty());
    lines.collect()
}
