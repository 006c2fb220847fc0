//! Calls of MCP clients whose runs ask: the client's person is asked, and where nobody is there, the
//! call returns with its questions and the model answers them.

use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::process::{descendants, wait_until_gone};
use pi_subagents_testkit::sandbox::SandboxCommand;
use pi_subagents_testkit::{Signal, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::mcp_stage::McpServer;
use crate::real_pi::{RealPi, for_each_pi};
use crate::stage::Stage;

for_each_pi! {
    a_permission_extension_gets_allow_and_deny_from_the_person_of_a_client,
}

const PATIENCE: Duration = Duration::from_mins(1);

const DELEGATE: &str = "delegate_to_subagents";

/// The servers that answer at the end of a call, and those that answer in time.
const FLAGS: [[&str; 6]; 2] = [
    [
        "--runner",
        "embedded",
        "--concurrency",
        "1",
        "--answer-within",
        "0",
    ],
    [
        "--runner",
        "embedded",
        "--concurrency",
        "1",
        "--answer-within",
        "300",
    ],
];

fn stage(script: Script) -> (Stage, LlmServer) {
    let stage = Stage::new();
    let server = LlmServer::start(script);
    stage.sandbox.models_json(&server.base_url());
    (stage, server)
}

fn ask(text: &str) -> Turn {
    Turn::tool_call(
        "ask_parent",
        json!({"question": text, "options": ["v2", "v3"]}),
    )
}

fn tasks(names: &[&str]) -> Value {
    let tasks = names
        .iter()
        .map(|name| json!({"name": name, "prompt": format!("do {name}")}));
    json!({"name": DELEGATE, "arguments": {"tasks": tasks.collect::<Vec<_>>()}})
}

/// Calls a tool, and returns its text.
fn call(server: &mut McpServer, params: &Value) -> String {
    let id = server.request("tools/call", params);
    text(&server.answer(id))
}

fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Returns the ids of the questions in a text.
fn ids(text: &str) -> Vec<String> {
    let parts = text.split("(question ").skip(1);
    parts.map(|part| part[..7].to_owned()).collect()
}

fn answer_of(question: &str, words: &str) -> Value {
    let arguments = json!({"action": "answer", "ids": [question], "message": words});
    json!({"name": "subagent_runs", "arguments": arguments})
}

/// Returns a text in which each question is called by its place.
fn normalised(stage: &Stage, text: &str) -> String {
    let mut text = stage.sandbox.normalise(text);
    for (place, id) in ids(&text.clone()).iter().enumerate() {
        text = text.replace(id.as_str(), &format!("<question-{}>", place + 1));
    }
    text
}

#[test]
fn a_call_returns_with_its_questions_and_goes_on_with_the_answers() {
    for flags in FLAGS {
        let script = Script::new()
            .on("do asks", [ask("Which schema?"), Turn::text("Took it.")])
            .on("do works", [Turn::text("Done.")]);
        let (stage, llm) = stage(script);
        let mut server = McpServer::initialized(&stage, &flags, &json!({}));
        let returned = call(&mut server, &tasks(&["asks", "works"]));
        insta::allow_duplicates! {
            insta::assert_snapshot!(normalised(&stage, &returned), @r#"
            ? asks: waits for an answer (question <question-1>): Which schema? [1 v2, 2 v3]
              Answer with subagent_runs {"action": "answer", "ids": ["<question-1>"], "message": "…"}.
            ✓ works: completed (session: <session-1>)
              saw: no tool call, 1 turn, 110 tokens, <$0.01

            ## works

            Done.
            "#);
        }
        let id = ids(&returned).remove(0);
        let status = stage.command(&["status", "--json"]).run().json();
        let waiting = status["runs"].as_array().unwrap().iter();
        let waiting: Vec<&Value> = waiting.filter(|run| run["status"] == "waiting").collect();
        assert_eq!(waiting.len(), 1, "{status}");
        let wrong = call(&mut server, &answer_of("q0000x", "v3"));
        assert!(wrong.contains(&format!("Open are: {id}.")), "{wrong}");
        let finished = call(&mut server, &answer_of(&id, "2"));
        assert!(
            finished.starts_with("asks continued with the answer, and has finished.")
                && finished.contains("Took it."),
            "{finished}"
        );
        let last = llm.requests().pop().unwrap().body["messages"].to_string();
        assert!(last.contains("v3"), "{last}");
        let late = call(&mut server, &answer_of(&id, "v2"));
        assert!(
            late.contains("is answered already: the calling model answered: v3"),
            "{late}"
        );
        server.running.close_stdin();
        assert_eq!(server.running.wait().code, Some(0));
    }
}

#[test]
fn five_questions_of_three_runs_are_answered_in_another_order() {
    let twice = |name: &str| {
        let first = ask(&format!("First of {name}?")).and_tool_call(
            "ask_parent",
            json!({"question": format!("Second of {name}?")}),
        );
        [first, Turn::text(format!("End of {name}."))]
    };
    let script = Script::new()
        .on("do one", twice("one"))
        .on("do two", twice("two"))
        .on(
            "do three",
            [ask("Only of three?"), Turn::text("End of three.")],
        );
    let (stage, llm) = stage(script);
    let mut server = McpServer::initialized(&stage, &FLAGS[0], &json!({}));
    let returned = call(&mut server, &tasks(&["one", "two", "three"]));
    let mut open = ids(&returned);
    let mut ends = Vec::new();
    // Tools of one answer may run one after the other: then the second question comes later.
    while let Some(id) = open.pop() {
        let finished = call(&mut server, &answer_of(&id, "v3"));
        ends.extend(
            ["one", "two", "three"]
                .into_iter()
                .filter(|name| finished.contains(&format!("End of {name}."))),
        );
        for asked in ids(&finished) {
            if !open.contains(&asked) {
                open.insert(0, asked);
            }
        }
    }
    ends.sort_unstable();
    assert_eq!(ends, ["one", "three", "two"]);
    let answered = llm
        .requests()
        .iter()
        .filter(|request| request.body["messages"].to_string().contains("v3"))
        .count();
    assert!(answered >= 3, "{answered}");
    server.running.close_stdin();
    assert_eq!(server.running.wait().code, Some(0));
}

#[test]
fn runs_that_were_left_end_with_their_owner() {
    for is_killed in [false, true] {
        let (stage, _llm) = stage(Script::new().otherwise([ask("Which?")]));
        let mut server = McpServer::initialized(&stage, &FLAGS[0], &json!({}));
        let returned = call(&mut server, &tasks(&["asks"]));
        assert_eq!(ids(&returned).len(), 1, "{returned}");
        if is_killed {
            let children = descendants(server.running.pid());
            server.running.kill(Signal::KILL);
            _ = server.running.wait();
            assert_eq!(wait_until_gone(&children, PATIENCE), Ok(()));
        } else {
            server.running.close_stdin();
            assert_eq!(server.running.wait().code, Some(0));
        }
        let runs = stage.command(&["status", "--all", "--json"]).run().json();
        assert_eq!(runs["runs"][0]["status"], "stopped", "{runs}");
        assert_eq!(
            stage.command(&["inbox"]).run().stdout,
            "No run waits for an answer.\n"
        );
    }
}

/// An extension as people write them: it asks before each shell command.
const PERMISSIONS: &str = r#"export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return undefined;
    const choice = await ctx.ui.select(`Allow bash: ${event.input.command}`, ["Allow once", "Deny"]);
    if (choice === "Allow once") return undefined;
    return { block: true, reason: "The user declined." };
  });
}
"#;

fn with_pi(pi: RealPi, command: SandboxCommand) -> SandboxCommand {
    command
        .env("PI_SUBAGENTS_PI", pi.program())
        .env("PI_OFFLINE", "1")
}

fn a_permission_extension_gets_allow_and_deny_from_the_person_of_a_client(pi: RealPi) {
    for within in [&[][..], &["--answer-within", "300"]] {
        for (reply, is_made) in [("Allow once", true), ("Deny", false)] {
            let command = json!({"command": "echo made > made.txt"});
            let script = Script::new().then([Turn::tool_call("bash", command), Turn::text("ok")]);
            let (stage, llm) = stage(script);
            let file = stage.sandbox.write("extension.js", PERMISSIONS);
            stage.profile("guarded", &format!("extensions:\n- {}", file.display()), "");
            let flags = [&["--runner", "pi"][..], within].concat();
            let mut server = McpServer::initialized_by(
                with_pi(pi, stage.command(&["mcp"]).args(&flags)),
                &json!({"elicitation": {}}),
            );
            let task = json!({"name": "a", "prompt": "a", "profile": "guarded"});
            let params = json!({"name": DELEGATE, "arguments": {"tasks": [task]}});
            let id = server.request("tools/call", &params);
            let asked = server.wait_for(|line| line["method"] == "elicitation/create");
            let mut form = asked["params"].clone();
            form.as_object_mut().unwrap().remove("_meta");
            assert_eq!(
                form,
                json!({
                    "mode": "form",
                    "message": "a asks: Allow bash: echo made > made.txt",
                    "requestedSchema": {
                        "type": "object",
                        "properties": {"answer": {
                            "type": "string", "title": "Answer", "enum": ["Allow once", "Deny"],
                        }},
                        "required": ["answer"],
                    },
                })
            );
            let result = json!({"action": "accept", "content": {"answer": reply}});
            server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
            let answer = text(&server.answer(id));
            assert!(answer.starts_with("✓ a"), "{answer}");
            assert_eq!(stage.sandbox.project().join("made.txt").exists(), is_made);
            let declined = llm
                .requests()
                .iter()
                .any(|request| request.body.to_string().contains("The user declined."));
            assert_eq!(declined, !is_made);
        }
    }
}

/// Asks for a task until its status is another one.
fn task_after(server: &mut McpServer, task: &Value, status: &str) -> Value {
    wait_until(PATIENCE, || {
        let id = server.request("tasks/get", task);
        let told = server.answer(id)["result"].clone();
        (told["status"] != status).then_some(told)
    })
    .unwrap()
}

#[test]
fn a_task_needs_input_until_its_client_has_updated_it() {
    let script = Script::new().then([ask("Which schema?"), Turn::text("Took it.")]);
    let (stage, llm) = stage(script);
    let mut server = McpServer::start(&stage, &FLAGS[0]);
    let with_meta = |mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "pipes", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
        });
        params
    };
    let id = server.request("tools/call", &with_meta(tasks(&["a"])));
    let begun = server.answer(id)["result"].clone();
    let task = json!({"taskId": begun["taskId"]});
    let polled = with_meta(task.clone());
    let asking = task_after(&mut server, &polled, "working");
    assert_eq!(asking["status"], "input_required", "{asking}");
    let requests = asking["inputRequests"].as_object().unwrap();
    let (question, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["message"], "a asks: Which schema?");
    let mut update = task;
    update["inputResponses"] =
        json!({question: {"action": "accept", "content": {"other": "v3, the newer"}}});
    let id = server.request("tasks/update", &with_meta(update));
    assert!(server.answer(id)["error"].is_null());
    let over = wait_until(PATIENCE, || {
        let over = task_after(&mut server, &polled, "working");
        (over["status"] == "completed").then_some(over)
    })
    .unwrap();
    let text = over["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("Took it."), "{text}");
    let last = llm.requests().pop().unwrap().body.to_string();
    assert!(last.contains("v3, the newer"), "{last}");
}
