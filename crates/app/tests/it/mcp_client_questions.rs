//! The facts that a client gives about itself: the directories it works in, and the decisions of
//! its person.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::mcp_stage::{McpClient, McpServer};
use crate::stage::Stage;

const PROFILES: &str = "list_subagent_profiles";
const HELPER: &str = "---\nname: helper\ndescription: Helps.\n---\n";

/// A project beside the directory in which the server is started.
fn another_project(stage: &Stage) -> Value {
    let helper = stage
        .sandbox
        .write("other project/.pi/agent-profiles/helper.md", HELPER);
    let path = helper.ancestors().nth(3).unwrap();
    json!(format!(
        "file://{}",
        path.display().to_string().replace(' ', "%20")
    ))
}

fn questions(client: &McpClient) -> usize {
    let is_question = |line: &Value| line["schema"].is_object();
    client
        .seen()
        .iter()
        .filter(|line| is_question(line))
        .count()
}

#[test]
fn the_directory_a_client_works_in_is_the_project() {
    for mode in ["legacy", "auto"] {
        let stage = Stage::new();
        let root = another_project(&stage);
        let kind = json!({"mode": mode, "roots": [root]});
        let mut client = McpClient::start_as(&stage, &kind, &["--trust"]);
        for id in ["first", "second"] {
            client.call(id, PROFILES, &json!({}));
            assert_eq!(
                client.answer(id)["text"],
                json!(["profile: helper — Helps."])
            );
        }
        let asked = client
            .seen()
            .iter()
            .filter(|line| line["asked"] == "roots")
            .count();
        assert_eq!(asked, 1);
        assert_eq!(client.leave().code, Some(0));
    }
}

#[test]
fn a_client_that_works_around_us_or_nowhere_changes_nothing() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/.pi/agent-profiles/helper.md", HELPER);
    let around = format!("file://{}", stage.sandbox.root().display());
    for roots in [
        json!([around]),
        json!(["file:///nowhere/at/all"]),
        json!([]),
    ] {
        let kind = json!({"mode": "auto", "roots": roots});
        let mut client = McpClient::start_as(&stage, &kind, &["--trust"]);
        client.call("list", PROFILES, &json!({}));
        assert_eq!(
            client.answer("list")["text"],
            json!(["profile: helper — Helps."])
        );
    }
}

#[test]
fn a_client_whose_directories_change_is_asked_again() {
    let stage = Stage::new();
    let root = another_project(&stage);
    let capabilities = json!({"roots": {"listChanged": true}});
    let mut server = McpServer::initialized(&stage, &["--trust"], &capabilities);
    let text = |server: &mut McpServer, asked: u32, roots: Value| {
        let id = server.request("tools/call", &json!({"name": PROFILES}));
        let question =
            server.wait_for(|line| line["id"] == asked && line["method"] == "roots/list");
        server.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}));
        server.answer(id)["result"]["content"][0]["text"].clone()
    };
    let before = text(&mut server, 0, json!([]));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    let after = text(&mut server, 1, json!([{"uri": root}]));
    assert_ne!(before, "profile: helper — Helps.");
    assert_eq!(after, "profile: helper — Helps.");
}

#[test]
fn a_decision_that_cannot_be_kept_is_said_so() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/.pi/agent-profiles/helper.md", HELPER);
    // A directory in the way stops root too, where permissions would not.
    stage
        .sandbox
        .write("home/.pi/agent/subagents-trust.json/in-the-way", "");
    let kind = json!({"mode": "auto", "answer": "Yes, from now on"});
    let mut client = McpClient::start_as(&stage, &kind, &[]);
    client.call("first", PROFILES, &json!({}));
    let text = client.answer("first")["text"][0]
        .as_str()
        .unwrap()
        .to_owned();
    insta::assert_snapshot!(stage.sandbox.normalise(&text), @"
    No subagent profiles found. Add .md files to ~/.pi/agent/agent-profiles/ or .pi/agent-profiles/.
    ! Ignored 1 agent of $PROJECT, which is not trusted yet: helper. Only the user can allow that, with pi-subagents trust in a shell.

    ! what the project contains stays ignored: the decision about $PROJECT cannot be kept in $HOME/.pi/agent/subagents-trust.json: it is not a regular file
    ");
    assert_eq!(client.leave().code, Some(0));
}

#[test]
fn somebody_is_asked_about_the_project_once() {
    for (mode, answer, listed, decision) in [
        ("legacy", "Yes, from now on", true, json!("trusted")),
        ("auto", "Yes, from now on", true, json!("trusted")),
        ("auto", "No, ignore it from now on", false, json!("refused")),
        ("legacy", "Not now", false, json!("undecided")),
        ("auto", "", false, json!("undecided")),
    ] {
        let stage = Stage::new();
        stage
            .sandbox
            .write("project/.pi/agent-profiles/helper.md", HELPER);
        let kind = json!({"mode": mode, "answer": answer});
        let mut client = McpClient::start_as(&stage, &kind, &[]);
        for id in ["first", "second"] {
            client.call(id, PROFILES, &json!({}));
            let text = client.answer(id)["text"][0].as_str().unwrap().to_owned();
            assert_eq!(
                text == "profile: helper — Helps.",
                listed,
                "{mode} {answer}: {text}"
            );
        }
        assert_eq!(questions(&client), 1);
        assert_eq!(client.leave().code, Some(0));
        let trust = stage.command(&["trust", "--show", "--json"]).run().json();
        assert_eq!(trust["decision"], decision, "{trust}");
    }
}

#[test]
fn the_question_says_what_it_is_about() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/.pi/agent-profiles/helper.md", HELPER);
    let kind = json!({"mode": "auto", "answer": "Not now"});
    let mut client = McpClient::start_as(&stage, &kind, &[]);
    // To read a session, no definition is needed.
    let read = json!({"action": "output", "ids": ["x"]});
    client.call("read", "subagent_runs", &read);
    _ = client.answer("read");
    assert_eq!(questions(&client), 0);
    client.call("list", PROFILES, &json!({}));
    _ = client.answer("list");
    let asked = client.wait_for(|line| line["schema"].is_object());
    insta::assert_snapshot!(stage.sandbox.normalise(&asked.to_string()));
}

#[test]
fn an_open_question_holds_up_only_who_needs_the_answer() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/.pi/agent-profiles/helper.md", HELPER);
    let mut server = McpServer::initialized(&stage, &[], &json!({"elicitation": {}}));
    let list = json!({"name": PROFILES});
    let waiting = [(); 2].map(|()| server.request("tools/call", &list));
    let question = server.wait_for(|line| line["method"] == "elicitation/create");
    let read = json!({"name": "subagent_runs", "arguments": {"action": "output", "ids": ["x"]}});
    let id = server.request("tools/call", &read);
    assert_eq!(server.answer(id)["result"]["isError"], true);
    let yes = json!({"action": "accept", "content": {"answer": "Yes, from now on"}});
    server.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": yes}));
    for id in waiting {
        let text = server.answer(id)["result"]["content"][0]["text"].clone();
        assert_eq!(text, "profile: helper — Helps.");
    }
}
