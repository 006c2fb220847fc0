//! Conversations that go on on several machines: in the fleet, at home, in the fleet again, and on a
//! third machine that knows only an id.

use std::time::Duration;

use pi_subagents_fleet_queue::wire::{Conversation, SessionHolder, StickyConversation};
use pi_subagents_fleet_queue::{TakenSession, Taker};
use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pi_subagents_testkit::sandbox::{RunningCommand, SandboxCommand};
use pi_subagents_testkit::wait_for_file;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::fleet_stage::{clone_of, git_project};
use super::worker_stage::{CALLER_LEASE, Yard, order};
use crate::real_pi::{RealPi, for_each_pi};
use crate::stage::Stage;

const PATIENCE: Duration = Duration::from_mins(1);

for_each_pi! {
    a_conversation_goes_on_in_the_fleet_at_home_and_on_a_third_machine,
}

/// Machines that share a fleet, a scripted model and a repository.
struct Machines {
    yard: Yard,
    model: LlmServer,
    pi: RealPi,
    caller: Stage,
}

impl Machines {
    fn new(pi: RealPi, script: Script) -> Self {
        let machines = Self {
            yard: Yard::new(),
            model: LlmServer::start(script),
            pi,
            caller: git_project(),
        };
        machines.settle(&machines.caller);
        machines
    }

    /// Gives a machine the settings, the model and the definition.
    fn settle(&self, stage: &Stage) {
        stage.sandbox.models_json(&self.model.base_url());
        let fleet = json!({"servers": [self.yard.server.url()], "callerLease": CALLER_LEASE});
        stage.settings(&json!({"fleet": fleet}));
        let preset =
            "---\nname: scout\ndescription: looks\nmodel: fake/fake-model\n---\nYou look.\n";
        stage
            .sandbox
            .write("home/.pi/agent/subagents/scout.md", preset);
    }

    /// Makes a machine with a clone of the caller's repository.
    fn another(&self) -> Stage {
        let stage = clone_of(&self.caller);
        self.settle(&stage);
        stage
    }

    fn worker(&self, name: &str) -> (Stage, RunningCommand) {
        let stage = Stage::new();
        self.settle(&stage);
        let command = stage.command(&["fleet", "work", "--name", name]);
        let worker = self.with_pi(command).spawn();
        worker.wait_for_stderr("takes");
        (stage, worker)
    }

    fn with_pi(&self, command: SandboxCommand) -> SandboxCommand {
        command
            .env("PI_SUBAGENTS_PI", self.pi.program())
            .env("PI_OFFLINE", "1")
    }

    /// Runs a command of a machine and returns its answer.
    fn json(&self, stage: &Stage, arguments: &[&str]) -> Value {
        let command = self.with_pi(stage.command(arguments)).arg("--json");
        command.run().expect_success().json()
    }

    /// Returns what was said in the last request to the model, without the system prompt.
    fn last_conversation(&self) -> Vec<String> {
        let body = self.model.requests().pop().unwrap().body;
        let messages = body["messages"].as_array().unwrap().clone();
        let spoken = messages.iter().filter(|message| {
            let role = message["role"].as_str();
            role == Some("user") || role == Some("assistant")
        });
        let words = spoken.map(|message| match &message["content"] {
            Value::String(text) => text.clone(),
            parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
        });
        words.collect()
    }
}

fn a_conversation_goes_on_in_the_fleet_at_home_and_on_a_third_machine(pi: RealPi) {
    let answers = ["one", "two", "three", "four", "five", "six"];
    let script = answers.iter().fold(Script::new(), |script, word| {
        script.on(word, [Turn::text(format!("answer {word}"))])
    });
    let machines = Machines::new(pi, script);
    let _worker = machines.worker("build-7");
    let caller = &machines.caller;
    let on_fleet = ["--on", "fleet", "--runner", "pi"];
    let first = ["run", "scout", "say one", "--session", "talk"];
    let first = machines.json(caller, &[&first[..], &on_fleet].concat());
    // The last answer, which comes home with the conversation, is not counted again.
    let usage = &first["runs"][0]["usage"];
    assert_eq!(
        [&usage["input"], &usage["output"]],
        [&json!(100), &json!(10)]
    );
    // It goes on where it was, unless told otherwise.
    let second = machines.json(caller, &["resume", "talk", "say two", "--runner", "pi"]);
    let second = second["runs"][0]["runId"].as_str().unwrap().to_owned();
    let told = ["resume", "talk", "say three", "--on", "local", "--runner"];
    machines.json(caller, &[&told[..], &["embedded"]].concat());
    let back = ["resume", "talk", "say four"];
    machines.json(caller, &[&back[..], &on_fleet].concat());
    let mut expected: Vec<String> = answers[..4]
        .iter()
        .flat_map(|word| [format!("say {word}"), format!("answer {word}")])
        .collect();
    assert_eq!(machines.last_conversation(), expected[..7]);
    // Another machine with a key knows the id, and nothing else.
    let third = machines.another();
    let output = third.command(&["output", &second]).run().expect_success();
    assert_eq!(output.stdout, "answer two\n");
    machines.json(
        &third,
        &[
            "resume", &second, "say five", "--on", "local", "--runner", "pi",
        ],
    );
    expected.push("say five".to_owned());
    assert_eq!(machines.last_conversation(), expected);
    // The first machine goes on behind the third.
    machines.json(
        caller,
        &[
            "resume", "talk", "say six", "--on", "local", "--runner", "embedded",
        ],
    );
    expected.extend(["answer five", "say six"].map(str::to_owned));
    assert_eq!(machines.last_conversation(), expected);
}

#[test]
fn a_conversation_that_somebody_has_is_refused_with_the_run_that_has_it() {
    let yard = Yard::new();
    let worker = yard.worker("build-7", &[]);
    let begun = worker.stage.path("begun");
    let go = worker.stage.path("go");
    let script = json!([{"touch": begun}, {"waitForFile": go}, {"reply": "done"}]);
    let in_session = |number| {
        let mut order = order(number, &script);
        order.conversation = Conversation::Sticky(StickyConversation {
            key: "0a.scout.talk".to_owned(),
            agent: "scout".to_owned(),
        });
        yard.submit(&order);
        order.run
    };
    let first = in_session(1);
    wait_for_file(&begun, PATIENCE);
    let second = in_session(2);
    let refused = yard.end_of(&second);
    let said = refused.ending["holder"].as_str().unwrap();
    assert_eq!(
        (refused.ending["kind"].as_str(), said),
        (Some("sessionInUse"), &*first)
    );
    // Somebody at home is refused too, and then has it.
    let at_home = Taker {
        holder: SessionHolder {
            run: "at-home".to_owned(),
            n: 0,
            machine: Some("ada@laptop".to_owned()),
        },
        is_over: None,
    };
    let take = || {
        yard.wait(yard.fleet.take_session("0a.scout.talk", &at_home))
            .unwrap()
    };
    assert!(matches!(take(), TakenSession::InUse(holder) if holder.run == first));
    std::fs::write(&go, "").unwrap();
    yard.end_of(&first);
    assert!(matches!(take(), TakenSession::Mine(_)));
}
