//! The embedded agent on a real wire format: OpenAI chat completions from `models.json`.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::Stage;

#[test]
fn a_task_uses_tools_and_answers_with_usage_and_cost() {
    let stage = Stage::new();
    stage.sandbox.write("project/a.txt", "alpha\n");
    let server = LlmServer::start(
        Script::new().otherwise([
            Turn::tool_call("read", json!({"path": "a.txt"}))
                .and_tool_call("bash", json!({"command": "echo $((6*7)) > b.txt"})),
            Turn::text("read it and wrote b.txt"),
        ]),
    );
    stage.sandbox.models_json(&server.base_url());
    let output = stage
        .command(&[
            "delegate",
            "--task",
            "worker=do both",
            "--runner",
            "embedded",
            "--json",
        ])
        .run()
        .expect_success();
    let answer = output.json();
    let run = &answer["runs"][0];
    assert_eq!(run["output"], "read it and wrote b.txt");
    let model = (&run["provider"], &run["model"]);
    assert_eq!(model, (&json!("fake"), &json!("fake-model")));
    assert_eq!(run["toolCalls"], 2);
    assert!(run["usage"]["input"].as_u64().unwrap() > 0, "{run}");
    assert!(run["usage"]["cost"].as_f64().unwrap() > 0.0, "{run}");
    let written = std::fs::read_to_string(stage.sandbox.project().join("b.txt")).unwrap();
    assert_eq!(written, "42\n");
    let second = &server.requests()[1].body;
    assert!(second.to_string().contains("alpha"), "{second}");
}

#[test]
fn a_refused_key_is_a_model_error_that_keeps_no_secret() {
    let stage = Stage::new();
    let server = LlmServer::start(
        Script::new().otherwise([Turn::status(401, "Incorrect API key provided")]),
    );
    stage.sandbox.models_json(&server.base_url());
    let output = stage
        .command(&[
            "delegate", "--task", "a=hello", "--runner", "embedded", "--json",
        ])
        .run();
    assert_eq!(output.code, Some(1));
    let answer = output.json();
    let run = &answer["runs"][0];
    let message = run["errorMessage"].as_str().unwrap();
    assert!(message.contains("Incorrect API key provided"), "{message}");
    let directory = run["directory"].as_str().unwrap();
    for entry in std::fs::read_dir(directory).unwrap() {
        let content = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&content).contains("test-key"));
    }
}

#[test]
fn the_prompt_reaches_the_model_byte_for_byte() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    for prompt in [
        "-p --help",
        "@file",
        "/quit",
        "\n\n  blank lines \u{2028}\n",
    ] {
        _ = stage
            .delegate_to(
                "embedded",
                &json!({"tasks": [{"name": "a", "prompt": prompt}]}),
            )
            .run()
            .expect_success();
        let requests = server.requests();
        let body = &requests[requests.len() - 1].body;
        let messages = body["messages"].as_array().unwrap();
        let content = &messages[messages.len() - 1]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        assert_eq!(text, Some(prompt));
    }
}
