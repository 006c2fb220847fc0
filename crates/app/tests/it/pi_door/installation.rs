//! Installing the package, and using it without a terminal.

use std::fs::{self};

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{PiDoor, package};
use crate::real_pi::{RealPi, for_each_pi};
use crate::terminal::Terminal;

for_each_pi! {
    after_pi_install_a_single_prompt_delegates_and_pi_exits_by_itself,
    without_the_program_the_tool_says_how_to_get_it,
    another_program_in_its_place_is_told_with_what_to_do,
    a_program_of_another_protocol_is_refused_with_what_to_update,
    a_terminal_tells_at_its_start_that_the_program_is_missing,
    help_starts_nothing_and_a_sub_agent_gets_nothing,
}

const CTRL_D: &str = "\x04";

fn one() -> Value {
    json!({"tasks": [{"name": "a", "prompt": "Say hello."}]})
}

fn after_pi_install_a_single_prompt_delegates_and_pi_exits_by_itself(pi: RealPi) {
    let door = PiDoor::new(
        pi,
        "embedded",
        Script::new().otherwise([Turn::text("Hello.")]),
    );
    let settings = door.sandbox.agent_dir().join("settings.json");
    let mut without: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    without.as_object_mut().unwrap().remove("packages");
    fs::write(&settings, without.to_string()).unwrap();
    let installed = door.pi(&["install"]).arg(package()).run();
    assert_eq!(installed.code, Some(0), "{installed}");
    let kept: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!(kept["subagents"], json!({"runner": "embedded"}));

    let words = door.script_call("delegate_to_subagents", one());
    let output = door.pi(&["-p", &words]).run().expect_success();
    assert_eq!(output.stdout, "Called.\n");
    let asked = door.server.requests();
    let result = asked.last().unwrap().body.to_string();
    assert!(result.contains("✓ a: completed"), "{result}");
}

fn without_the_program_the_tool_says_how_to_get_it(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", Script::new());
    let words = door.script_call("delegate_to_subagents", one());
    let command = door
        .pi(&["-p", &words])
        .env("PI_SUBAGENTS_BIN", "/nowhere/pi-subagents");
    let output = command.run().expect_success();
    assert_eq!(output.stdout, "Called.\n");
    let asked = door.server.requests();
    let result = asked.last().unwrap().body.to_string();
    assert!(
        result.contains(
            "PI_SUBAGENTS_BIN is /nowhere/pi-subagents, which is not a program that can be started."
        ),
        "{result}"
    );
}

fn another_program_in_its_place_is_told_with_what_to_do(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", Script::new());
    let programs = [
        (
            "silent",
            "#!/bin/sh\nexit 0\n",
            "it has stopped (exit code 0) before it answered anything.\n",
        ),
        (
            "broken",
            "#!/bin/sh\necho out of order >&2\nexit 3\n",
            "it has stopped (exit code 3) before it answered anything.\nIt said: out of order\n",
        ),
        (
            "talkative",
            "#!/bin/sh\nwhile echo hello; do :; done\n",
            "it talked of something else before it answered anything.\nIt said: hello\n",
        ),
    ];
    for (name, text, why) in programs {
        let program = door.sandbox.program(name, text);
        let mut parent = door.parent_of(
            door.pi(&["--mode", "rpc"])
                .env("PI_SUBAGENTS_BIN", &program),
        );
        let answer = parent.call("delegate_to_subagents", one());
        let place = program.display();
        assert_eq!(
            (answer.is_error, answer.text),
            (
                true,
                format!(
                    "`{place} host` should be the program pi-subagents, but {why}PI_SUBAGENTS_BIN names it: set that to the path of pi-subagents, or unset it."
                )
            )
        );
        parent.rpc.finish();
    }
}

fn a_program_of_another_protocol_is_refused_with_what_to_update(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", Script::new());
    let answers = [
        (
            "newer",
            r#"{"protocol": 99, "version": "9.9.9"}"#,
            "(version 9.9.9) is newer than the pi package pi-subagents. Update the package with `pi update`, or install it again with `pi install`, and restart pi.",
        ),
        (
            "older",
            "{}",
            "is older than the pi package pi-subagents. Update the program: build or install it again.",
        ),
    ];
    for (name, greeting, why) in answers {
        // It answers the first request, whose id is 1, and then reads on.
        let response = format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {greeting}}}"#);
        let text = format!("#!/bin/sh\nread line\necho '{response}'\ncat >/dev/null\n");
        let program = door.sandbox.program(name, &text);
        let mut parent = door.parent_of(
            door.pi(&["--mode", "rpc"])
                .env("PI_SUBAGENTS_BIN", &program),
        );
        let answer = parent.call("delegate_to_subagents", one());
        assert_eq!(
            (answer.is_error, answer.text),
            (true, format!("{} {why}", program.display()))
        );
        parent.rpc.finish();
    }
}

fn a_terminal_tells_at_its_start_that_the_program_is_missing(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", Script::new());
    let command = door
        .pi(&[])
        .env("PI_SUBAGENTS_BIN", "/nowhere/pi-subagents");
    let mut terminal = Terminal::start(command);
    terminal.wait_for("PI_SUBAGENTS_BIN is /nowhere/pi-subagents, which is not a program");
    terminal.answer("fake-model", CTRL_D);
    assert_eq!(terminal.end().0, Some(0));
}

fn help_starts_nothing_and_a_sub_agent_gets_nothing(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", Script::new());
    // A program that would leave a trace.
    let trace = door.sandbox.root().join("started");
    let program = door.sandbox.write(
        "bin/pi-subagents",
        &format!("#!/bin/sh\ntouch {}\n", trace.display()),
    );
    let help = door.pi(&["--help"]).env("PI_SUBAGENTS_BIN", &program);
    let help = help.run().expect_success();
    assert!(help.stdout.contains("--mode"), "{help}");
    assert!(!trace.exists());

    let child = door
        .pi(&["--mode", "rpc", "--no-session"])
        .env("PI_SUBAGENTS_CHILD", "1");
    let mut child = door.parent_of(child);
    let commands = child.rpc.ask(&json!({"type": "get_commands"}));
    let names: Vec<&str> = commands["data"]["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["name"].as_str().unwrap())
        .collect();
    assert!(!names.contains(&"profile"), "{names:?}");
    child.rpc.finish();
}
