//! Lists of tools: the tools that a child of either kind really has, and the errors about unknown
//! names.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, completed, outcomes};

for_each_pi! {
    the_documented_read_only_worker_reads_and_searches,
    an_allow_list_of_unknown_tools_ends_the_task_of_either_child,
    some_unknown_tools_are_a_warning_in_the_answer,
    a_provider_alone_means_the_default_model_or_an_error,
}

const RUNNERS: [&str; 2] = ["embedded", "pi"];

fn stage_with_model() -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("ok"); 20]));
    stage.sandbox.models_json(&server.base_url());
    (stage, server)
}

fn one(profile: &str) -> Value {
    json!({"tasks": [{"name": "a", "prompt": "hello", "profile": profile}]})
}

/// The tools that the model was offered last.
fn last_tools(server: &LlmServer) -> Vec<String> {
    let requests = server.requests();
    let tools = requests[requests.len() - 1].body["tools"].clone();
    let tools = tools.as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    let mut names: Vec<String> = tools.iter().map(name).collect();
    names.sort();
    names
}

fn warnings(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array().unwrap();
    warnings.iter().filter_map(Value::as_str).collect()
}

fn the_documented_read_only_worker_reads_and_searches(pi: RealPi) {
    for runner in RUNNERS {
        let (stage, server) = stage_with_model();
        stage.profile("worker", "excludeTools: write,edit,bash", "You analyse.");
        let output = delegate(pi, &stage, runner, &one("worker")).run();
        assert_eq!(outcomes(&output), [completed("a", "ok")], "{runner}");
        assert_eq!(
            last_tools(&server),
            ["find", "grep", "ls", "read"],
            "{runner}"
        );
        assert_eq!(warnings(&output.json()), [""; 0], "{runner}");
    }
}

fn an_allow_list_of_unknown_tools_ends_the_task_of_either_child(pi: RealPi) {
    let (stage, _server) = stage_with_model();
    stage.profile("odd", "tools: teleport", "");
    stage.profile("closed", "tools: teleport\nnoExtensions: true", "");
    let error = |runner: &str, profile: &str| {
        let output = delegate(pi, &stage, runner, &one(profile)).run();
        outcomes(&output)[0].error.clone()
    };
    let known = |profile: &str| {
        Some(format!(
            "Profile \"{profile}\" allows only unknown tools: teleport. Available tools: read, bash, edit, write, grep, find, ls"
        ))
    };
    assert_eq!(error("embedded", "odd"), known("odd"));
    assert_eq!(error("pi", "closed"), known("closed"));
    // Only a pi itself knows the tools of its extensions.
    assert_eq!(
        error("pi", "odd").as_deref(),
        Some(
            "Only unknown tools are allowed: teleport. Name tools that pi or its extensions have."
        )
    );
}

fn some_unknown_tools_are_a_warning_in_the_answer(pi: RealPi) {
    for runner in RUNNERS {
        let (stage, server) = stage_with_model();
        stage.profile("half", "tools: read, raed, teleport", "");
        stage.profile("denies", "excludeTools: bsh", "");
        stage.profile("switched", "noTools: \"true\"", "");
        let told = |profile: &str| {
            let output = delegate(pi, &stage, runner, &one(profile)).run();
            assert_eq!(outcomes(&output), [completed("a", "ok")], "{runner}");
            let answer = output.json();
            stage.sandbox.normalise(&warnings(&answer).join("\n"))
        };
        let half = told("half");
        let slip = "a: Profile \"half\" ($HOME/.pi/agent/agent-profiles/half.md:3) allows the tool \"raed\", which is unknown; did you mean \"read\"?";
        assert!(half.starts_with(slip), "{runner}: {half}");
        assert!(half.contains("teleport"), "{runner}: {half}");
        assert_eq!(last_tools(&server), ["read"], "{runner}");
        assert_eq!(
            told("denies"),
            "a: Profile \"denies\" ($HOME/.pi/agent/agent-profiles/denies.md:3) excludes the tool \"bsh\", which is unknown; did you mean \"bash\"?",
            "{runner}"
        );
        assert_eq!(
            told("switched"),
            "a: $HOME/.pi/agent/agent-profiles/switched.md:3:10: \"noTools\" should be true or false, not \"true\"; it is read as true",
            "{runner}"
        );
        assert_eq!(last_tools(&server), [""; 0], "{runner}");
    }
}

fn a_provider_alone_means_the_default_model_or_an_error(pi: RealPi) {
    let (stage, server) = stage_with_model();
    stage.profile("ours", "provider: fake", "");
    stage.profile("other", "provider: openai", "");
    stage.settings(&json!({}));
    for runner in RUNNERS {
        let output = delegate(pi, &stage, runner, &one("ours")).run();
        assert_eq!(outcomes(&output), [completed("a", "ok")], "{runner}");
    }
    let asked = server.requests().len();
    let output = delegate(pi, &stage, "pi", &one("other")).run();
    assert_eq!(
        stage
            .sandbox
            .normalise(outcomes(&output)[0].error.as_deref().unwrap()),
        "Profile \"other\" names the provider \"openai\" and no model, and the default model is not of that provider. Add \"model: ID\" to $HOME/.pi/agent/agent-profiles/other.md."
    );
    assert_eq!(server.requests().len(), asked);
}
