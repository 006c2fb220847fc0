//! Conversations that a fleet keeps, when something is lost: their object has aged, or the process
//! that has them at home is killed. And the tool of an MCP client that goes on with one.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::RunningCommand;
use pretty_assertions::assert_eq;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::fleet_stage::{clone_of, git_project};
use super::worker_stage::{CALLER_LEASE, Yard};
use crate::mcp_stage::McpClient;
use crate::stage::{Stage, outcomes};

const PATIENCE: Duration = Duration::from_mins(1);

/// A caller and a worker, each with a home of its own, and a scripted model.
struct Talk {
    yard: Yard,
    model: LlmServer,
    caller: Stage,
    worker: Option<(Stage, RunningCommand)>,
}

impl Talk {
    /// The model answers each of these words; what it says to "two" waits for the gate `two`.
    fn new() -> Self {
        let script = ["one", "three", "four"]
            .iter()
            .fold(Script::new(), |script, word| {
                script.on(word, [Turn::text(format!("answer {word}"))])
            });
        let script = script.on("two", [Turn::text("answer two").gate("two")]);
        let mut talk = Self {
            yard: Yard::new(),
            model: LlmServer::start(script),
            caller: git_project(),
            worker: None,
        };
        talk.settle(&talk.caller);
        let stage = Stage::new();
        talk.settle(&stage);
        let worker = stage
            .command(&["fleet", "work", "--name", "build-7"])
            .spawn();
        worker.wait_for_stderr("takes");
        talk.worker = Some((stage, worker));
        talk
    }

    fn settle(&self, stage: &Stage) {
        stage.sandbox.models_json(&self.model.base_url());
        let fleet = json!({"servers": [self.yard.server.url()], "callerLease": CALLER_LEASE, "on": "fleet"});
        stage.settings(&json!({"fleet": fleet, "runner": "embedded"}));
        let preset =
            "---\nname: scout\ndescription: looks\nmodel: fake/fake-model\n---\nYou look.\n";
        let file = "home/.pi/agent/subagents/scout.md";
        stage.sandbox.write(file, preset);
    }

    /// Makes a machine with a clone of the caller's repository.
    fn another(&self) -> Stage {
        let stage = clone_of(&self.caller);
        self.settle(&stage);
        stage
    }

    /// Removes all objects of the fleet, as their age does.
    fn age_objects(&self) {
        let address = ("127.0.0.1", self.yard.server.port());
        let mut connection = TcpStream::connect(address).unwrap();
        let lines = BufReader::new(connection.try_clone().unwrap()).lines();
        let purge = "$JS.API.STREAM.PURGE.OBJ_PI_BLOBS";
        let words = format!(
            "CONNECT {{\"verbose\":false}}\r\nSUB answer 1\r\nPUB {purge} answer 0\r\n\r\n"
        );
        connection.write_all(words.as_bytes()).unwrap();
        let mut answers = lines
            .map(Result::unwrap)
            .filter(|line| line.contains("purge"));
        let answer = answers.next().unwrap();
        assert!(answer.contains("\"success\":true"), "{answer}");
    }

    /// Returns what was said in the last request to the model, without the system prompt.
    fn last_conversation(&self) -> Vec<String> {
        let body = self.model.requests().pop().unwrap().body;
        let messages = body["messages"].as_array().unwrap().clone();
        let spoken = messages
            .iter()
            .filter(|message| message["role"] != "system");
        let words = spoken.map(|message| match &message["content"] {
            Value::String(text) => text.clone(),
            parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
        });
        words.collect()
    }
}

#[test]
fn the_subagent_tool_of_an_mcp_client_goes_on_with_its_session_in_the_fleet() {
    let talk = Talk::new();
    let mut client = McpClient::start(&talk.caller, "legacy", &["--tools", "all"]);
    for (word, output) in [("one", "answer one"), ("three", "answer three")] {
        let asked = json!({"agent": "scout", "task": format!("say {word}"), "sessionId": "talk"});
        client.call(word, "subagent", &asked);
        let answer = client.answer(word);
        assert!(answer.to_string().contains(output), "{answer}");
    }
    assert_eq!(
        talk.last_conversation(),
        ["say one", "answer one", "say three"]
    );
    let (_, worker) = talk.worker.as_ref().unwrap();
    let told = worker.stderr();
    assert_eq!(told.matches("completed").count(), 2, "{told}");
}

#[test]
fn a_session_whose_owner_at_home_was_killed_goes_on_in_the_fleet() {
    let talk = Talk::new();
    let stage = &talk.caller;
    let first = ["run", "scout", "say one", "--session", "talk"];
    stage.command(&first).run().expect_success();
    let at_home = ["resume", "talk", "say two", "--on", "local"];
    let owner = stage.command(&at_home).spawn();
    talk.model.wait_for_requests(2, PATIENCE);
    owner.kill(Signal::KILL);
    drop(owner);
    let next = stage
        .command(&["resume", "talk", "say three", "--json"])
        .run();
    let next = next.expect_success().json();
    let last = &next["runs"][0];
    assert_eq!(last["output"], "answer three", "{next}");
    let said = talk.last_conversation();
    assert_eq!(
        said.first().map(String::as_str),
        Some("say one"),
        "{said:?}"
    );
    assert_eq!(
        said.last().map(String::as_str),
        Some("say three"),
        "{said:?}"
    );
    // Another machine has all of it too.
    let third = talk.another();
    let id = last["runId"].as_str().unwrap();
    let resumed = third
        .command(&["resume", id, "say four", "--on", "local"])
        .run();
    assert_eq!(resumed.stdout, "answer four\n", "{resumed}");
}

#[test]
fn a_session_whose_object_has_aged_is_sent_again_by_the_machine_that_has_it() {
    let talk = Talk::new();
    let stage = &talk.caller;
    let first = ["run", "scout", "say one", "--session", "talk", "--json"];
    let first = stage.command(&first).run().expect_success().json();
    let third = talk.another();
    talk.age_objects();
    let id = first["runs"][0]["runId"].as_str().unwrap();
    let refused = third
        .command(&["resume", id, "say three", "--on", "local", "--json"])
        .run();
    let error = outcomes(&refused)[0].error.clone().unwrap_or_default();
    for part in [
        "session talk has gone on in the fleet, and what was said there cannot be had",
        "The machine on which it went on last still has it",
    ] {
        assert!(error.contains(part), "{refused}");
    }
    let next = stage.command(&["resume", "talk", "say three"]).run();
    assert_eq!(next.stdout, "answer three\n", "{next}");
    assert_eq!(
        talk.last_conversation(),
        ["say one", "answer one", "say three"]
    );
}
