//! Long calls as tasks, for clients that know the tasks extension.

use std::fs;

use pi_subagents_testkit::process::{exists, kill, wait_until_gone};
use pi_subagents_testkit::{Signal, wait_for_file};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::mcp_stage::{McpClient, McpServer, PATIENCE, at_work, endless, outputs};
use crate::stage::{Stage, call};

const DELEGATE: &str = "delegate_to_subagents";
const PI: [&str; 2] = ["--runner", "pi"];
const ALL: [&str; 4] = ["--runner", "pi", "--tools", "all"];

fn knowing_tasks() -> Value {
    json!({"mode": "auto", "tasks": true})
}

/// Adds the fields that the newest version of the protocol wants in every request.
fn with_meta(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "pipes", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {
            "extensions": {"io.modelcontextprotocol/tasks": {}}
        },
    });
    params
}

#[test]
fn a_task_goes_on_while_its_client_asks_and_ends_with_the_answer_of_the_call() {
    let stage = Stage::new();
    let mut client = McpClient::start_as(&stage, &knowing_tasks(), &PI);
    let go = stage.path("go");
    let steps = json!([{"touch": stage.path("ready")}, {"waitForFile": go}, {"reply": "done"}]);
    client.call("long", DELEGATE, &call(&[("a", steps)]));
    let begun = client.wait_for(|line| line["task"].is_string());
    assert_eq!(
        (&begun["of"], &begun["status"]),
        (&json!("long"), &json!("working"))
    );
    let running = client.wait_for(|line| line["message"] == "Sub-agents: 1 running");
    assert_eq!(
        running,
        json!({"of": "long", "status": "working", "message": "Sub-agents: 1 running"})
    );
    fs::write(go, "").unwrap();
    let answer = client.answer("long");
    assert_eq!(outputs(&answer), [("a", "done")]);
    assert_eq!(answer["isError"], false);
    let text = answer["text"][0].as_str().unwrap();
    insta::assert_snapshot!(stage.sandbox.normalise(text), @"
    ✓ a: completed (session: <session-1>)
      saw: no tool call, 1 turn, 110 tokens, <$0.01

    ## a

    done
    ");
    assert_eq!(client.leave().code, Some(0));
}

#[test]
fn what_is_wrong_with_a_call_is_the_answer_of_its_task() {
    let stage = Stage::new();
    let mut client = McpClient::start_as(&stage, &knowing_tasks(), &ALL);
    client.call("wrong", "subagent", &json!({}));
    client.call("none", DELEGATE, &json!({}));
    for id in ["wrong", "none"] {
        assert_eq!(client.answer(id)["isError"], true);
        _ = client.wait_for(|line| line["of"] == id && line["task"].is_string());
    }
    client.call("short", "list_subagent_profiles", &json!({}));
    assert_eq!(client.answer("short")["isError"], false);
    assert_eq!(client.progress("short"), Vec::<Value>::new());
}

#[test]
fn cancelling_a_task_ends_its_children_and_no_others() {
    let stage = Stage::new();
    let mut client = McpClient::start_as(&stage, &knowing_tasks(), &PI);
    client.call("cancelled", DELEGATE, &endless(&stage, "one"));
    client.call("other", DELEGATE, &endless(&stage, "two"));
    let (started, other) = (at_work(&stage, "one"), at_work(&stage, "two"));
    _ = client.wait_for(|line| line["of"] == "cancelled" && line["message"].is_string());
    client.cancel("cancelled");
    let ended = client.wait_for(|line| line["of"] == "cancelled" && line["status"] == "cancelled");
    assert!(!exists(started));
    assert!(exists(other));
    let message = ended["message"].as_str().unwrap();
    insta::assert_snapshot!(stage.sandbox.normalise(message), @"✗ one: error — Stopped on request. (session: <session-1>)");
    // A client that leaves cancels the calls that it still waits for.
    assert_eq!(client.leave().code, Some(0));
    assert_eq!(wait_until_gone(&[other], PATIENCE), Ok(()));
}

/// Asks for a task until it has ended.
fn over(server: &mut McpServer, task: &Value) -> Value {
    loop {
        let id = server.request("tasks/get", task);
        let told = server.answer(id)["result"].clone();
        if told["status"] != "working" {
            return told;
        }
    }
}

/// Begins a task and returns the parameters that ask for it.
fn begin(server: &mut McpServer, arguments: &Value) -> Value {
    let call = with_meta(json!({"name": DELEGATE, "arguments": arguments}));
    let id = server.request("tools/call", &call);
    let begun = server.answer(id)["result"].clone();
    assert_eq!(begun["resultType"], "task");
    with_meta(json!({"taskId": begun["taskId"]}))
}

#[test]
fn a_task_survives_its_server_and_another_one_answers() {
    let stage = Stage::new();
    let go = stage.path("go");
    let steps = json!([{"touch": stage.path("ready")}, {"waitForFile": go}, {"reply": "found"}]);
    for ending in ["left", "killed"] {
        let mut first = McpServer::start(&stage, &PI);
        let task = begin(&mut first, &call(&[("long", steps.clone())]));
        wait_for_file(stage.path("ready"), PATIENCE);
        if ending == "left" {
            first.running.close_stdin();
        } else {
            first.running.kill(Signal::KILL);
        }
        _ = first.running.wait();
        let mut second = McpServer::start(&stage, &PI);
        let id = second.request("tasks/get", &task);
        let working = second.answer(id)["result"].clone();
        assert_eq!(working["status"], "working", "{ending}");
        fs::write(&go, "").unwrap();
        let over = over(&mut second, &task);
        assert_eq!(over["status"], "completed", "{ending}: {over}");
        let text = over["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.ends_with("## long\n\nfound"), "{ending}: {text}");
        for file in ["go", "ready"] {
            fs::remove_file(stage.path(file)).unwrap();
        }
    }
}

#[test]
fn a_task_whose_process_is_gone_or_that_nobody_knows_has_failed() {
    let stage = Stage::new();
    let mut server = McpServer::start(&stage, &PI);
    let task = begin(&mut server, &endless(&stage, "one"));
    let child = at_work(&stage, "one");
    let row = stage.command(&["status", "--json"]).run().json()["runs"][0].clone();
    let owner = u32::try_from(row["ownerPid"].as_u64().unwrap()).unwrap();
    kill(owner, Signal::KILL);
    assert_eq!(wait_until_gone(&[child], PATIENCE), Ok(()));
    let lost = over(&mut server, &task);
    assert_eq!(lost["status"], "failed", "{lost}");
    let words = lost["error"]["message"].as_str().unwrap();
    assert!(
        words.contains(row["sessionId"].as_str().unwrap()),
        "{words}"
    );
    for id in [
        "one",
        "../../settings",
        "01a1ead4-0000-7000-8000-000000000000",
    ] {
        let unknown = with_meta(json!({"taskId": id}));
        assert_eq!(over(&mut server, &unknown)["status"], "failed", "{id}");
        let cancel = server.request("tasks/cancel", &unknown);
        assert_eq!(
            server.answer(cancel)["result"],
            json!({"resultType": "complete"})
        );
    }
}

#[test]
fn a_task_is_described_as_the_extension_wants_it() {
    let stage = Stage::new();
    let mut server = McpServer::start(&stage, &PI);
    let go = stage.path("go");
    let steps = json!([{"waitForFile": go}, {"reply": "done"}]);
    let arguments = call(&[("a", steps)]);
    let id = server.request(
        "tools/call",
        &with_meta(json!({"name": DELEGATE, "arguments": arguments})),
    );
    let seed = server.answer(id)["result"].clone();
    let task = with_meta(json!({"taskId": seed["taskId"]}));
    assert_eq!(
        seed,
        json!({
            "resultType": "task", "taskId": seed["taskId"], "status": "working",
            "createdAt": seed["createdAt"], "lastUpdatedAt": seed["createdAt"],
            "ttlMs": null, "pollIntervalMs": 200,
        })
    );
    // There was no question, so the answer is ignored.
    let id = server.request(
        "tasks/update",
        &with_meta(json!({"taskId": seed["taskId"], "inputResponses": {}})),
    );
    assert_eq!(
        server.answer(id)["result"],
        json!({"resultType": "complete"})
    );
    fs::write(go, "").unwrap();
    let over = over(&mut server, &task);
    assert!(over["ttlMs"].as_u64() >= Some(3_600_000));
    assert_eq!(
        over,
        json!({
            "resultType": "complete", "taskId": seed["taskId"], "status": "completed",
            "createdAt": seed["createdAt"], "lastUpdatedAt": over["lastUpdatedAt"],
            "ttlMs": over["ttlMs"], "result": over["result"],
        })
    );
    // A task that is over stays as it is.
    let id = server.request("tasks/cancel", &task);
    assert_eq!(
        server.answer(id)["result"],
        json!({"resultType": "complete"})
    );
    let id = server.request("tasks/get", &task);
    assert_eq!(server.answer(id)["result"], over);
}

#[test]
fn a_client_of_an_older_version_gets_an_ordinary_answer_whatever_it_declares() {
    let stage = Stage::new();
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let arguments = call(&[("a", json!([{"reply": "done"}]))]);
    let params = json!({"name": DELEGATE, "arguments": arguments});
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut server = McpServer::begun(&stage, &PI, version, &tasks);
        let id = server.request("tools/call", &params);
        let result = server.answer(id)["result"].clone();
        assert_eq!(result["taskId"], Value::Null, "{version}");
        let details = &result["_meta"]["pi-subagents/details"];
        assert_eq!(details["runs"][0]["output"], "done", "{version}");
    }
}

#[test]
fn who_does_not_know_tasks_gets_none_and_unknown_ones_are_named() {
    let stage = Stage::new();
    let mut server = McpServer::initialized(&stage, &PI, &json!({}));
    let arguments = call(&[("a", json!([{"reply": "done"}]))]);
    // The older tasks, which a client asks for, are no longer part of the protocol.
    let params = json!({"name": DELEGATE, "arguments": arguments, "task": {"ttl": 60000}});
    let id = server.request("tools/call", &params);
    assert_eq!(server.answer(id)["result"]["isError"], false);
    let id = server.request("tasks/get", &json!({"taskId": "one"}));
    assert_eq!(server.answer(id)["error"]["code"], -32021);
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut server = McpServer::initialized(&stage, &PI, &tasks);
    let id = server.request("tasks/get", &json!({"taskId": "one"}));
    assert_eq!(server.answer(id)["result"]["status"], "failed");
}
