//! Faults between the embedded agent and a model end in an error that names the fault, never in a
//! crash and never in a hang.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use pi_subagents_testkit::llm::{Fault, Script, StopReason, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::agent_stage::{AgentStage, FORMATS, answers, of_type};

fn error_of(events: &[Value]) -> String {
    let said = answers(events);
    let last = said.last().unwrap();
    assert_eq!(last["stopReason"], "error");
    last["errorMessage"].as_str().unwrap().to_owned()
}

#[test]
fn a_wrong_key_is_reported_and_not_repeated() {
    for api in FORMATS {
        let refused = Turn::status(401, "Incorrect API key provided: test-key");
        let stage = AgentStage::new(api, Script::new().otherwise([refused]));
        let events = stage.prompt(&[], "Hi.");
        assert_eq!(
            error_of(&events),
            "401: Incorrect API key provided: ****",
            "{api}"
        );
        assert_eq!(stage.server.requests().len(), 1, "{api}");
    }
}

#[test]
fn garbage_instead_of_a_stream_is_an_error() {
    for api in FORMATS {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // The answer is the same for every request.
                let _: usize = stream.read(&mut [0; 8192]).unwrap();
                let body = "<html><body>Welcome to nginx!</body></html>";
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                )
                .unwrap();
            }
        });
        let stage = AgentStage::new(api, Script::new());
        let models = json!({"providers": {"fake": {
            "baseUrl": format!("http://{address}/v1"), "api": api, "apiKey": "k",
            "models": [{"id": "fake-model"}],
        }}});
        stage
            .sandbox
            .write("home/.pi/agent/models.json", &models.to_string());
        let error = error_of(&stage.prompt(&[], "Hi."));
        let expected = "The server did not return an event stream. Check the base URL";
        assert!(error.contains(expected), "{api}: {error}");
    }
}

#[test]
fn a_frame_that_is_no_json_is_an_error() {
    for api in FORMATS {
        let turn = Turn::text("Half of it is lost.")
            .paced(4, Duration::ZERO)
            .with_fault(Fault::Malformed);
        let stage = AgentStage::new(api, Script::new().otherwise([turn]));
        let error = error_of(&stage.prompt(&[], "Hi."));
        assert!(error.contains("not a model's answer"), "{api}: {error}");
    }
}

#[test]
fn a_silent_server_is_given_up_and_tried_again() {
    thread::scope(|scope| {
        for api in FORMATS {
            scope.spawn(|| a_silent_server_is_tried_again(api));
        }
    });
}

/// A busy machine may miss the time for a good answer too, so it is asked for again and again.
fn a_silent_server_is_tried_again(api: &str) {
    let half = Turn::text("Half.").paced(2, Duration::ZERO);
    let silent = [Turn::fault(Fault::Hang), half.gate_after(1, "never")];
    let script = Script::new().then(silent).otherwise([Turn::text("Here.")]);
    let stage = AgentStage::new(api, script);
    stage.settings(&json!({
        "httpIdleTimeoutMs": 500, "retry": {"baseDelayMs": 1, "maxRetries": 50},
    }));
    let events = stage.prompt(&[], "Hi.");
    let said = answers(&events);
    let (last, failed) = said.split_last().unwrap();
    assert!(failed.len() >= 2, "{api}: {said:?}");
    for answer in failed {
        let error = answer["errorMessage"].as_str().unwrap();
        assert!(error.contains("timed out"), "{api}: {error}");
    }
    assert_eq!(last["content"][0]["text"], "Here.", "{api}");
}

#[test]
fn a_server_that_is_gone_and_one_that_drops_the_call_are_tried_again() {
    for api in FORMATS {
        let dropped = Turn::fault(Fault::Drop);
        let stage = AgentStage::new(api, Script::new().otherwise([dropped]));
        let events = stage.prompt(&[], "Hi.");
        assert_eq!(of_type(&events, "auto_retry_start").len(), 3, "{api}");
        assert_eq!(of_type(&events, "auto_retry_end")[0]["success"], false);
        let error = error_of(&events);
        assert!(
            error.starts_with("Connection error to http://127.0.0.1:"),
            "{api}: {error}"
        );
    }
}

#[test]
fn an_answer_that_reached_the_limit_or_a_filter_says_so() {
    for api in FORMATS {
        let limited = Turn::text("As far as it").stop(StopReason::Length);
        let stage = AgentStage::new(api, Script::new().otherwise([limited]));
        stage.settings(&json!({"compaction": {"enabled": false}}));
        let events = stage.prompt(&[], "Hi.");
        assert_eq!(answers(&events)[0]["stopReason"], "length", "{api}");
        let filtered = Turn::text("I").stop(StopReason::ContentFilter);
        let stage = AgentStage::new(api, Script::new().otherwise([filtered]));
        let error = error_of(&stage.prompt(&[], "Hi."));
        assert!(
            error.starts_with("Provider finish_reason: "),
            "{api}: {error}"
        );
    }
}

#[test]
fn a_call_of_a_tool_that_does_not_exist_is_answered() {
    for api in FORMATS {
        let stage = AgentStage::new(
            api,
            Script::new().otherwise([
                Turn::tool_call("fly", json!({"to": "the moon"})),
                Turn::text("I stay."),
            ]),
        );
        let events = stage.prompt(&[], "Go.");
        let result = of_type(&events, "tool_execution_end")[0];
        assert_eq!(result["isError"], true);
        assert_eq!(result["result"]["content"][0]["text"], "Tool fly not found");
        assert_eq!(
            answers(&events)[1]["content"][0]["text"],
            "I stay.",
            "{api}"
        );
    }
}

#[test]
fn without_a_key_the_prompt_is_refused_and_told_what_to_set() {
    let stage = AgentStage::new(FORMATS[0], Script::new());
    for (model, variable) in [
        ("anthropic/claude-opus-4-8", "ANTHROPIC_API_KEY"),
        ("openai/gpt-5", "OPENAI_API_KEY"),
        ("google/gemini-3-pro", "GEMINI_API_KEY"),
        ("openrouter/x/y", "OPENROUTER_API_KEY"),
    ] {
        let mut agent = stage.agent(&["--model", model]);
        let answer = agent.ask(&json!({"type": "prompt", "message": "Hi."}));
        assert_eq!(answer["success"], false);
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(variable), "{error}");
        agent.finish();
    }
}
