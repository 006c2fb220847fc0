//! The embedded agent against a scripted server, in each of the four wire formats.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{Fault, Script, Turn, Usage};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::agent_stage::{AgentStage, FORMATS, answers, of_type};

const PNG: [u8; 70] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54,
    0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99, 0x3d, 0x1d, 0, 0,
    0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

#[test]
fn text_usage_and_cost_arrive() {
    for api in FORMATS {
        let usage = Usage {
            input: 1000,
            output: 50,
            cache_read: 400,
            ..Usage::default()
        };
        let turn = Turn::text("Hello, wörld.").usage(usage);
        let stage = AgentStage::new(api, Script::new().otherwise([turn]));
        let events = stage.prompt(&[], "Hi.");
        let answers = answers(&events);
        assert_eq!(answers.len(), 1, "{api}");
        let answer = answers[0];
        assert_eq!(
            answer["content"],
            json!([{"type": "text", "text": "Hello, wörld."}]),
            "{api}"
        );
        assert_eq!(answer["stopReason"], "stop", "{api}");
        assert_eq!(answer["api"], api);
        assert!(answer["responseId"].is_string(), "{api}: {answer}");
        let counted = &answer["usage"];
        assert_eq!(
            json!([
                counted["input"],
                counted["output"],
                counted["cacheRead"],
                counted["cacheWrite"],
                counted["totalTokens"]
            ]),
            json!([1000, 50, 400, 0, 1450]),
            "{api}"
        );
        // 1000 × 3 + 50 × 15 + 400 × 0.3 dollars a million, nothing counted twice.
        let cost = counted["cost"]["total"].as_f64().unwrap();
        assert!((cost - 0.003_87).abs() < 1e-9, "{api}: {cost}");
        let deltas = events
            .iter()
            .filter(|event| event["assistantMessageEvent"]["type"] == "text_delta");
        assert!(deltas.count() > 0, "{api}");
    }
}

#[test]
fn the_request_asks_for_a_stream_at_the_right_place_with_the_key() {
    for (api, path, header, key) in [
        (
            FORMATS[0],
            "/v1/chat/completions",
            "authorization",
            "Bearer test-key",
        ),
        (
            FORMATS[1],
            "/v1/responses",
            "authorization",
            "Bearer test-key",
        ),
        (FORMATS[2], "/v1/messages", "x-api-key", "test-key"),
        (
            FORMATS[3],
            "/v1/models/fake-model:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            "test-key",
        ),
    ] {
        let stage = AgentStage::new(api, Script::new().otherwise([Turn::text("ok")]));
        stage.prompt(&["--system-prompt", "Be short."], "Hi.");
        let requests = stage.server.requests();
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].path, path);
        assert_eq!(requests[0].headers[header], key);
        let secrets = requests[0].headers.values();
        let shown = secrets.filter(|value| value.contains("test-key")).count();
        assert_eq!(shown, 1, "{api}: the key is shown once");
        assert!(requests[0].body.to_string().contains("Be short."), "{api}");
    }
}

#[test]
fn thinking_is_shown_and_given_back_with_its_proof() {
    for api in FORMATS {
        let stage = AgentStage::new(
            api,
            Script::new().otherwise([
                Turn::tool_call("ls", json!({})).thinking("Hm, let me look."),
                Turn::text("Nothing here."),
            ]),
        );
        let events = stage.prompt(&["--thinking", "low", "--tools", "ls"], "What is here?");
        let first = answers(&events)[0].clone();
        assert_eq!(first["content"][0]["type"], "thinking", "{api}");
        assert_eq!(first["content"][0]["thinking"], "Hm, let me look.", "{api}");
        let types: Vec<&Value> = events
            .iter()
            .map(|event| &event["assistantMessageEvent"]["type"])
            .filter(|kind| {
                kind.as_str()
                    .is_some_and(|kind| kind.starts_with("thinking"))
            })
            .collect();
        assert_eq!(
            types,
            ["thinking_start", "thinking_delta", "thinking_end"],
            "{api}"
        );
        let requests = stage.server.requests();
        let asked = &requests[0].body;
        let level = match api {
            "openai-completions" => &asked["reasoning_effort"],
            "openai-responses" => &asked["reasoning"]["effort"],
            "anthropic-messages" => &asked["thinking"]["budget_tokens"],
            _ => &asked["generationConfig"]["thinkingConfig"]["thinkingBudget"],
        };
        assert!(!level.is_null(), "{api}: {asked}");
        let given_back = match api {
            "openai-completions" => requests[1].body["messages"][2]["reasoning_content"].clone(),
            "anthropic-messages" => requests[1].body["messages"][1]["content"][0].clone(),
            _ => continue,
        };
        let expected = match api {
            "openai-completions" => json!("Hm, let me look."),
            _ => json!({
                "type": "thinking", "thinking": "Hm, let me look.", "signature": "c2lnbmVk",
            }),
        };
        assert_eq!(given_back, expected, "{api}");
    }
}

#[test]
fn two_calls_of_one_message_run_side_by_side() {
    for api in FORMATS {
        let stage = AgentStage::new(
            api,
            Script::new().otherwise([
                // Each call waits for the file that the other makes.
                Turn::text("Both.")
                    .and_tool_call("bash", json!({"command": "mkfifo a 2>/dev/null; echo one > a; echo done-a", "timeout": 60}))
                    .and_tool_call("bash", json!({"command": "until [ -p a ]; do :; done; cat a", "timeout": 60})),
                Turn::text("Done."),
            ]),
        );
        let events = stage.prompt(&["--tools", "bash"], "Do both.");
        let kinds: Vec<&str> = events
            .iter()
            .filter_map(|event| event["type"].as_str())
            .filter(|kind| matches!(*kind, "tool_execution_start" | "tool_execution_end"))
            .collect();
        assert_eq!(
            kinds,
            [
                "tool_execution_start",
                "tool_execution_start",
                "tool_execution_end",
                "tool_execution_end"
            ],
            "{api}"
        );
        let said = answers(&events);
        assert_eq!(said[0]["stopReason"], "toolUse", "{api}");
        assert_eq!(said[1]["stopReason"], "stop", "{api}");
        let calls: Vec<&Value> = said[0]["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|block| block["type"] == "toolCall")
            .map(|block| &block["id"])
            .collect();
        assert_eq!(calls.len(), 2, "{api}");
        assert_ne!(calls[0], calls[1], "{api}");
        let results: Vec<&Value> = events
            .iter()
            .filter(|event| {
                event["type"] == "message_end" && event["message"]["role"] == "toolResult"
            })
            .map(|event| &event["message"])
            .collect();
        assert_eq!(results[0]["toolCallId"], *calls[0], "{api}");
        assert_eq!(results[0]["content"][0]["text"], "done-a\n", "{api}");
        assert_eq!(results[1]["content"][0]["text"], "one\n", "{api}");
        let second = stage.server.requests()[1].body.to_string();
        assert!(second.contains("done-a"), "{api}: {second}");
    }
}

#[test]
fn an_image_that_was_read_reaches_the_model() {
    for api in FORMATS {
        let stage = AgentStage::new(
            api,
            Script::new().otherwise([
                Turn::tool_call("read", json!({"path": "dot.png"})),
                Turn::text("A dot."),
            ]),
        );
        fs::write(stage.sandbox.project().join("dot.png"), PNG).unwrap();
        let events = stage.prompt(&["--tools", "read"], "What is in dot.png?");
        assert_eq!(answers(&events)[1]["content"][0]["text"], "A dot.", "{api}");
        let body = stage.server.requests()[1].body.to_string();
        assert!(body.contains("iVBORw0KGgo"), "{api}: {body}");
    }
}

#[test]
fn an_abort_ends_the_answer_at_once_and_the_agent_goes_on() {
    for api in FORMATS {
        let stage = AgentStage::new(
            api,
            Script::new()
                .on(
                    "slowly",
                    [Turn::text("Never to be said.")
                        .paced(3, Duration::ZERO)
                        .gate_after(1, "never")],
                )
                .otherwise([Turn::text("Here I am.")]),
        );
        let mut agent = stage.agent(&[]);
        agent.prompt("Answer slowly.");
        agent.wait_for(|event| event["type"] == "turn_start");
        stage.server.wait_for_requests(1, Duration::from_mins(1));
        let answer = agent.ask(&json!({"type": "abort"}));
        assert_eq!(answer["success"], true, "{api}");
        agent.prompt("And now?");
        agent.wait_for_settled(2);
        let events = agent.finish();
        let said = answers(&events);
        assert_eq!(said[0]["stopReason"], "aborted", "{api}");
        assert_eq!(said[1]["content"][0]["text"], "Here I am.", "{api}");
    }
}

#[test]
fn a_limit_is_waited_out_as_the_server_asks() {
    for api in FORMATS {
        let limited = Turn::fault(Fault::Status {
            code: 429,
            message: "Rate limit reached".to_owned(),
            retry_after: Some(0),
        });
        let stage = AgentStage::new(api, Script::new().then([limited, Turn::text("At last.")]));
        // An agent that ignores the header waits for a minute.
        stage.settings(&json!({"retry": {"baseDelayMs": 60_000}}));
        let events = stage.prompt(&[], "Hi.");
        let retry = of_type(&events, "auto_retry_start");
        assert_eq!(retry.len(), 1, "{api}");
        assert_eq!(retry[0]["delayMs"], 0, "{api}");
        assert_eq!(retry[0]["errorMessage"], "429: Rate limit reached", "{api}");
        assert_eq!(of_type(&events, "auto_retry_end")[0]["success"], true);
        let said = answers(&events);
        assert_eq!(said[0]["stopReason"], "error", "{api}");
        assert_eq!(said[1]["content"][0]["text"], "At last.", "{api}");
        assert_eq!(of_type(&events, "agent_settled").len(), 1, "{api}");
        assert_eq!(events.last().unwrap()["type"], "agent_settled", "{api}");
    }
}

#[test]
fn a_cut_stream_is_tried_again() {
    for api in FORMATS {
        let cut = Turn::text("Half of it")
            .paced(3, Duration::ZERO)
            .with_fault(Fault::CutAfter(2));
        let stage = AgentStage::new(api, Script::new().then([cut, Turn::text("All of it.")]));
        let events = stage.prompt(&[], "Hi.");
        let said = answers(&events);
        assert_eq!(said.len(), 2, "{api}");
        assert_eq!(said[0]["stopReason"], "error", "{api}");
        assert_eq!(said[1]["content"][0]["text"], "All of it.", "{api}");
        assert_eq!(of_type(&events, "auto_retry_start").len(), 1, "{api}");
    }
}

#[test]
fn an_overflow_is_answered_after_the_conversation_was_shortened() {
    for api in FORMATS {
        let stage = AgentStage::new(
            api,
            Script::new()
                .on("<conversation>", [Turn::text("They said hello.")])
                .on(
                    "And now?",
                    [
                        Turn::status(400, "prompt is too long: 200001 tokens > 200000 maximum"),
                        Turn::text("It fits."),
                    ],
                )
                .otherwise([Turn::text("Hello, I am glad to be of help to you today.")]),
        );
        stage.settings(&json!({"compaction": {"keepRecentTokens": 2}}));
        let mut agent = stage.agent(&[]);
        agent.prompt("Hello.");
        agent.wait_for_settled(1);
        agent.prompt("And now?");
        agent.wait_for_settled(2);
        let events = agent.finish();
        let ends = of_type(&events, "compaction_end");
        assert_eq!(ends.len(), 1, "{api}");
        assert_eq!(ends[0]["reason"], "overflow", "{api}");
        assert_eq!(ends[0]["willRetry"], true, "{api}");
        assert_eq!(ends[0]["result"]["summary"], "They said hello.", "{api}");
        let said = answers(&events);
        assert_eq!(said[2]["content"][0]["text"], "It fits.", "{api}");
        assert!(of_type(&events, "auto_retry_start").is_empty(), "{api}");
        let last = stage.server.requests().pop().unwrap().body.to_string();
        assert!(last.contains("They said hello."), "{api}: {last}");
        assert!(!last.contains("glad to be of help"), "{api}: {last}");
    }
}
