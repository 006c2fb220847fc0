//! The stage for the tests of typed prompts: an offline model that repeats its prompt.

use pi_subagents_testkit::sandbox::CommandOutput;
use serde_json::json;

use crate::stage::Stage;

/// The turns of the scripted model for prompts that contain these words.
const SCRIPT: &str = r##"{"rules": [
    {"when": "fail", "turns": [{"error": "the model is out of order"}]},
    {"when": "half", "turns": [
        {"text": "Half of it.", "toolCalls": [{"name": "ls", "arguments": {}}]},
        {"error": "the model is out of order"}
    ]},
    {"when": "headed", "turns": [{"text": "# Findings\n\n- **one**\n- two"}]},
    {"when": "silent", "turns": [{"text": ""}]},
    {"when": "begin", "turns": [{"text": "I begin.", "toolCalls": [{"name": "bash", "arguments": {"command": "while [ ! -e go ]; do sleep 0.05; done"}}]}, {"text": "Begun and done."}]},
    {"when": "wait", "turns": [{"toolCalls": [{"name": "bash", "arguments": {"command": "while [ ! -e go ]; do sleep 0.05; done"}}]}, {"text": "Waited."}]},
    {"turns": [{"text": "<{{prompt}}>"}]}
]}"##;

/// A stage on which every sub-agent is an embedded one with the scripted model.
pub(crate) fn stage() -> Stage {
    let stage = Stage::new();
    let script = stage.sandbox.write("script.json", SCRIPT);
    let settings = json!({
        "defaultProvider": "scripted",
        "defaultModel": script,
        "subagents": {"runner": "embedded"},
    });
    stage
        .sandbox
        .write("home/.pi/agent/settings.json", &settings.to_string());
    stage
}

/// Writes a definition of the user.
pub(crate) fn define(stage: &Stage, name: &str) {
    stage.profile(name, "", &format!("You are {name}."));
}

/// Runs a command to its end.
pub(crate) fn typed(stage: &Stage, arguments: &[&str]) -> CommandOutput {
    stage.command(arguments).run()
}
