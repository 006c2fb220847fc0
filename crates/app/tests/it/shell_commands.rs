//! An agent whose shell runs only listed commands, with both kinds of child.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, completed, outcomes};

for_each_pi! {
    both_kinds_of_child_run_listed_commands_and_read_why_others_do_not_run,
}

fn both_kinds_of_child_run_listed_commands_and_read_why_others_do_not_run(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = Stage::new();
        stage.profile("tester", "tools: bash\ncommands: echo *, touch listed", "");
        let server = LlmServer::start(Script::new().otherwise([
            Turn::tool_call("bash", json!({"command": "echo one && touch listed"})),
            Turn::tool_call("bash", json!({"command": "touch unlisted"})),
            Turn::tool_call("bash", json!({"command": "echo $(touch substituted)"})),
            Turn::text("Done."),
        ]));
        stage.sandbox.models_json(&server.base_url());
        let task = json!({"tasks": [{"name": "a", "prompt": "Go.", "profile": "tester"}]});
        let output = delegate(pi, &stage, runner, &task).run();
        assert_eq!(outcomes(&output), [completed("a", "Done.")], "{runner}");
        let project = stage.sandbox.project();
        let made = ["listed", "unlisted", "substituted"].map(|name| project.join(name).exists());
        assert_eq!(made, [true, false, false], "{runner}");
        let requests = server.requests();
        let told = requests
            .last()
            .map(|request| request.body["messages"].to_string());
        let told = told.unwrap_or_default();
        for words in [
            "Not run: `touch unlisted` is not one of them. This agent may run only these commands",
            "Not run: the command is more than a simple one: it has a substitution ($)",
        ] {
            assert!(told.contains(words), "{runner}: {told}");
        }
    }
}

#[test]
fn a_list_that_is_not_made_of_commands_keeps_its_file_out() {
    let stage = Stage::new();
    let mut lines = Vec::new();
    for commands in ["\"*\"", "git status; rm", "[\"a > b\"]", "{a: 1}", "[]", ""] {
        stage.profile("odd", &format!("commands: {commands}"), "");
        let output = stage.command(&["run", "odd", "Look"]).run();
        assert_eq!(output.code, Some(2), "{output}");
        let first = output.stderr.lines().next().unwrap_or_default();
        lines.push(stage.sandbox.normalise(first));
    }
    insta::assert_snapshot!(lines.join("\n"));
}
