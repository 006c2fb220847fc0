//! `AGENTS.md` and its like reach the model of either child by one rule: never through a link out
//! of the project.

use std::fs;
use std::os::unix::fs::symlink;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, call, completed, outcomes};

for_each_pi! {
    a_link_to_the_keys_of_the_user_is_not_sent,
    an_ordinary_file_reaches_the_model_once,
    a_definition_can_switch_them_off,
}

const KEY: &str = "sk-AUTHLEAK-audit";

/// Delegates one task and returns everything that the model was sent.
fn sent(pi: RealPi, stage: &Stage, runner: &str, task: &serde_json::Value) -> (String, String) {
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    let output = delegate(pi, stage, runner, task).run();
    assert_eq!(outcomes(&output), [completed("a", "ok")], "{output}");
    let requests = server.requests();
    (
        requests[0].body.to_string(),
        output.json()["text"].to_string(),
    )
}

fn a_link_to_the_keys_of_the_user_is_not_sent(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = Stage::new();
        let auth = stage.sandbox.write(
            "home/.pi/agent/auth.json",
            &json!({"other": {"type": "api_key", "key": KEY}}).to_string(),
        );
        fs::create_dir_all(stage.sandbox.project().join(".git")).unwrap();
        symlink(auth, stage.sandbox.project().join("AGENTS.md")).unwrap();
        let (request, _) = sent(pi, &stage, runner, &call(&[("a", json!("Do it."))]));
        assert!(!request.contains(KEY), "{runner}: {request}");
    }
}

fn an_ordinary_file_reaches_the_model_once(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = Stage::new();
        stage
            .sandbox
            .write("project/AGENTS.md", "Use tabs, always.");
        stage.sandbox.write("home/.pi/agent/AGENTS.md", "Be kind.");
        let (request, _) = sent(pi, &stage, runner, &call(&[("a", json!("Do it."))]));
        for words in ["Use tabs, always.", "Be kind.", "project_context"] {
            assert!(request.contains(words), "{runner}: no {words} in {request}");
        }
        assert_eq!(request.matches("Use tabs, always.").count(), 1, "{runner}");
    }
}

fn a_definition_can_switch_them_off(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = Stage::new();
        stage
            .sandbox
            .write("project/AGENTS.md", "Use tabs, always.");
        stage.sandbox.write(
            "home/.pi/agent/agent-profiles/plain.md",
            "---\nname: plain\nnoContextFiles: true\n---\nYou are plain.\n",
        );
        let task = json!({"tasks": [{"name": "a", "prompt": "Do it.", "profile": "plain"}]});
        let (request, _) = sent(pi, &stage, runner, &task);
        assert!(!request.contains("Use tabs"), "{runner}: {request}");
    }
}
