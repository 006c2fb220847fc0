//! Installing the package, and using it without a terminal.

use std::fs;

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{PiDoor, package};

fn one() -> Value {
    json!({"tasks": [{"name": "a", "prompt": "Say hello."}]})
}

#[test]
fn after_pi_install_a_single_prompt_delegates_and_pi_exits_by_itself() {
    let door = PiDoor::new("embedded", Script::new().otherwise([Turn::text("Hello.")]));
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

#[test]
fn without_the_program_the_tool_says_how_to_get_it() {
    let door = PiDoor::new("embedded", Script::new());
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
            "PI_SUBAGENTS_BIN is /nowhere/pi-subagents, which is no program that can be started."
        ),
        "{result}"
    );
}

#[test]
fn help_starts_nothing_and_a_sub_agent_gets_nothing() {
    let door = PiDoor::new("embedded", Script::new());
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

#[test]
fn a_tool_that_takes_a_model_knows_the_models_of_pi() {
    let door = PiDoor::new("embedded", Script::new().otherwise([Turn::text("Hello.")]));
    let copy = door.sandbox.root().join("package");
    let sources = fs::read_dir(package().join("src")).unwrap();
    let sources = sources.map(|entry| entry.unwrap().path());
    for file in sources.chain([package().join("package.json")]) {
        let name = file.strip_prefix(package()).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        door.sandbox
            .write(&format!("package/{}", name.display()), &text);
    }
    let model = json!({"type": "object", "properties": {"model": {"type": "string"}}});
    let tool = json!({
        "name": "needs_model", "label": "Needs a model", "description": "Takes a model.",
        "promptSnippet": "Take a model", "promptGuidelines": [], "models": true,
        "parameters": {"type": "object", "properties": {"tasks": {"type": "array", "items": model}}},
    });
    let manifest = json!({"tools": [tool], "commands": []});
    fs::write(copy.join("manifest.json"), manifest.to_string()).unwrap();
    let models = ["zeta", "alpha"].map(|id| json!({"id": id}));
    let providers = json!({"providers": {"fake": {
        "baseUrl": door.server.base_url(), "api": "openai-completions", "apiKey": "test-key",
        "models": models,
    }}});
    door.sandbox
        .write("home/.pi/agent/models.json", &providers.to_string());
    let settings = json!({"defaultProvider": "fake", "defaultModel": "zeta", "packages": [copy]});
    door.sandbox
        .write("home/.pi/agent/settings.json", &settings.to_string());

    door.pi(&["-p", "Hello."]).run().expect_success();
    let asked = door.server.requests();
    let tools = asked[0].body["tools"].as_array().unwrap();
    let found = tools
        .iter()
        .find(|tool| tool["function"]["name"] == "needs_model");
    let parameters = &found.unwrap()["function"]["parameters"];
    assert_eq!(
        parameters["properties"]["tasks"]["items"]["properties"]["model"],
        json!({"type": "string", "enum": ["fake/zeta", "fake/alpha"]})
    );
}
