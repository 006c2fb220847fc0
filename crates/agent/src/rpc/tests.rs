//! Conversations with the server, line by line.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::serve;
use crate::signals::Signals;
use crate::testing::{Bench, Sandbox, collect, last, normalized};

/// Serves `bench`. The client sends the first lines at once and further lines when `react` returns
/// some; an empty reaction hangs up.
async fn converse(
    bench: &mut Bench,
    first: &[&str],
    react: impl Fn(&Value) -> Option<&'static str>,
) -> (u8, Vec<Value>) {
    let (sender, receiver) = mpsc::channel(64);
    for line in first {
        sender.try_send(line.as_bytes().to_vec()).unwrap();
    }
    let sender = std::cell::RefCell::new(Some(sender));
    let Bench {
        agent,
        access,
        lines,
    } = bench;
    let code = std::cell::Cell::new(0);
    let serving = async {
        let signals = Signals::catch().unwrap();
        code.set(serve(agent, access, receiver, signals).await);
    };
    let events = collect(serving, lines, |event| match react(event) {
        Some("") => drop(sender.take()),
        Some(line) => {
            let sender = sender.borrow();
            sender
                .as_ref()
                .unwrap()
                .try_send(line.as_bytes().to_vec())
                .unwrap();
        }
        None => {}
    })
    .await;
    (code.get(), events)
}

fn responses(events: &[Value]) -> Vec<Value> {
    let found = events.iter().filter(|event| event["type"] == "response");
    found.cloned().collect()
}

/// Returns a script that repeats its prompt, and waits at `wait`.
fn patient() -> Value {
    json!({"rules": [
        {"when": "wait", "turns": [{"delayMs": 3_600_000, "text": "late"}]},
        {"turns": [{"text": "You said {{prompt}}."}]},
    ]})
}

#[tokio::test]
async fn what_is_no_command_is_answered_as_pi_does() {
    let sandbox = Sandbox::new();
    let mut bench = sandbox.playing(&patient());
    let lines = [
        "nonsense\n",
        "\n",
        r#"{"type": "fly", "id": "1"}"#,
        r#"{"id": 7}"#,
        r#"{"type": "prompt", "id": "2"}"#,
        r#"{"type": "set_model", "id": "3", "provider": "fake", "modelId": "x"}"#,
        r#"{"type": "set_thinking_level", "id": "5", "level": "huge"}"#,
        r#"{"type": "abort", "id": "last"}"#,
    ];
    let (code, events) = converse(&mut bench, &lines, |event| {
        (event["id"] == "last").then_some("")
    })
    .await;
    assert_eq!(code, 0);
    let shown: Vec<String> = responses(&events).iter().map(Value::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    {"type":"response","command":"parse","success":false,"error":"Failed to parse command: expected ident at line 1 column 2"}
    {"type":"response","id":"1","command":"fly","success":false,"error":"Unknown command: fly"}
    {"type":"response","id":7,"command":"undefined","success":false,"error":"Unknown command: undefined"}
    {"type":"response","id":"2","command":"prompt","success":false,"error":"Invalid command: missing field `message`"}
    {"type":"response","id":"3","command":"set_model","success":false,"error":"Model not found: fake/x"}
    {"type":"response","id":"5","command":"set_thinking_level","success":false,"error":"Invalid thinking level: huge"}
    {"type":"response","id":"last","command":"abort","success":true}
    "#);
}

#[tokio::test]
async fn a_prompt_is_accepted_first_and_settles_last() {
    let sandbox = Sandbox::new();
    let mut bench = sandbox.playing(&patient());
    let prompt = "{\"type\":\"prompt\",\"id\":\"1\",\"message\":\"a\u{2028}b\"}\n";
    let (_, events) = converse(&mut bench, &[prompt], |event| {
        match event["type"].as_str() {
            Some("agent_settled") => Some(r#"{"type":"get_state","id":"2"}"#),
            Some("response") if event["id"] == "2" => Some(""),
            _ => None,
        }
    })
    .await;
    assert_eq!(
        events[0],
        json!({"type": "response", "id": "1", "command": "prompt", "success": true,
            "data": {"disposition": "started"}})
    );
    assert_eq!(events[1], json!({"type": "agent_start"}));
    let said = &last("message_end", &events)["message"]["content"];
    assert_eq!(said[0]["text"], "You said a\u{2028}b.");
    assert_eq!(responses(&events)[1]["data"]["messageCount"], 3);
}

#[tokio::test(start_paused = true)]
async fn a_running_agent_takes_steering_and_answers_an_abort_when_it_is_over() {
    let sandbox = Sandbox::new();
    let mut bench = sandbox.playing(&patient());
    let (_, events) = converse(
        &mut bench,
        &[
            r#"{"type":"prompt","id":"1","message":"wait"}"#,
            r#"{"type":"prompt","id":"2","message":"more"}"#,
            r#"{"type":"prompt","id":"3","message":"more","streamingBehavior":"followUp"}"#,
            r#"{"type":"steer","id":"4","message":"left"}"#,
            r#"{"type":"get_state","id":"5"}"#,
            r#"{"type":"abort","id":"6"}"#,
        ],
        |event| (event["id"] == "6").then_some(""),
    )
    .await;
    let answers = responses(&events);
    assert_eq!(
        answers[1]["error"],
        "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message."
    );
    let state = answers.iter().find(|answer| answer["id"] == "5").unwrap();
    assert_eq!(
        json!([
            state["data"]["isStreaming"],
            state["data"]["pendingMessageCount"]
        ]),
        json!([true, 2])
    );
    assert_eq!(
        last("queue_update", &events),
        &json!({"type": "queue_update", "steering": [], "followUp": ["more"]})
    );
    let [.., settled, aborted] = &events[..] else {
        panic!("too few events");
    };
    assert_eq!(settled["type"], "agent_settled");
    assert_eq!(
        aborted,
        &json!({"type": "response", "id": "6", "command": "abort", "success": true})
    );
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_ends_the_run() {
    let sandbox = Sandbox::new();
    let mut bench = sandbox.playing(&patient());
    let prompt = r#"{"type":"prompt","id":"1","message":"wait"}"#;
    let (code, events) = converse(&mut bench, &[prompt], |event| {
        (event["type"] == "turn_start").then_some("")
    })
    .await;
    assert_eq!(code, 0);
    assert!(!events.iter().any(|event| event["type"] == "agent_settled"));
}

#[tokio::test]
async fn a_refused_prompt_starts_nothing() {
    let sandbox = Sandbox::new();
    let mut bench = sandbox.agent("--model groq/llama").unwrap();
    let prompt = r#"{"type":"prompt","id":"1","message":"hi"}"#;
    let (_, events) = converse(&mut bench, &[prompt], |_| Some("")).await;
    let shown: Vec<String> = events.iter().map(Value::to_string).collect();
    insta::assert_snapshot!(normalized(&shown.join("\n"), &sandbox.path("")), @r#"{"type":"response","id":"1","command":"prompt","success":false,"error":"No API key found for groq.\n\nSet the environment variable GROQ_API_KEY, or put {\"groq\": {\"type\": \"api_key\", \"key\": \"...\"}} into ROOT/agent/auth.json."}"#);
}

#[tokio::test]
async fn model_and_thinking_can_be_changed() {
    let sandbox = Sandbox::new();
    let mut bench = sandbox.playing(&patient());
    let (_, events) = converse(
        &mut bench,
        &[
            r#"{"type":"set_model","id":"1","provider":"scripted","modelId":"tour"}"#,
            r#"{"type":"set_thinking_level","id":"2","level":"high"}"#,
            r#"{"type":"get_state","id":"3"}"#,
        ],
        |event| (event["id"] == "3").then_some(""),
    )
    .await;
    let answers = responses(&events);
    assert_eq!(answers[0]["data"]["id"], "tour");
    let state = &answers[2]["data"];
    assert_eq!(
        json!([state["model"]["id"], state["thinkingLevel"]]),
        json!(["tour", "high"])
    );
    let others: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] != "response")
        .collect();
    assert_eq!(
        others,
        [&json!({"type": "thinking_level_changed", "level": "high"})]
    );
}

/// Asks for everything that an adapter for editors asks for, and goes on with an earlier session.
#[tokio::test]
async fn an_adapter_reads_the_session_and_changes_to_another() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("first.jsonl").display().to_string();
    let flags = sandbox.script(&patient());
    let mut bench = sandbox.agent(&format!("{flags} --session {file}")).unwrap();
    let first = [r#"{"type":"prompt","message":"one"}"#];
    converse(&mut bench, &first, |event| {
        (event["type"] == "agent_settled").then_some("")
    })
    .await;
    drop(bench);
    let mut bench = sandbox.playing(&patient());
    let switch = format!(r#"{{"id":"s","type":"switch_session","sessionPath":"{file}"}}"#);
    let missing = r#"{"id":"m","type":"switch_session","sessionPath":"/no/such.jsonl"}"#;
    let asked = [
        missing,
        &switch,
        r#"{"id":"l","type":"get_available_thinking_levels"}"#,
        r#"{"id":"c","type":"get_commands"}"#,
        r#"{"id":"g","type":"get_messages"}"#,
        r#"{"id":"t","type":"get_session_stats"}"#,
    ];
    let (_, events) = converse(&mut bench, &asked, |event| {
        (event["id"] == "t").then_some("")
    })
    .await;
    let answers = responses(&events);
    assert_eq!(answers[0]["error"], "There is no session /no/such.jsonl");
    assert_eq!(answers[1]["data"], json!({"cancelled": false}));
    assert_eq!(answers[2]["data"]["levels"][0], "off");
    assert_eq!(answers[3]["data"], json!({"commands": []}));
    let said = answers[4]["data"]["messages"].as_array().unwrap();
    let said: Vec<&Value> = said
        .iter()
        .map(|message| &message["content"][0]["text"])
        .collect();
    assert_eq!(said, ["one", "You said one."]);
    let stats = &answers[5]["data"];
    assert_eq!(stats["sessionFile"], json!(file));
    assert_eq!(
        (
            &stats["userMessages"],
            &stats["assistantMessages"],
            &stats["totalMessages"]
        ),
        (&json!(1), &json!(1), &json!(2))
    );
}
