//! The commands a person types in pi, with pi's dialogs for their questions.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Parent, PiDoor};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    profiles_are_made_shown_changed_and_deleted_by_dialogs,
    sub_agents_are_listed_shown_steered_and_stopped,
}

const PATIENCE: Duration = Duration::from_mins(2);

/// Somebody who types commands and answers dialogs.
struct Person<'a> {
    parent: Parent<'a>,
    door: &'a PiDoor,
    /// The number of requests of the user interface that were looked at.
    seen: usize,
    /// All questions, answers and notices.
    talk: Vec<String>,
}

impl<'a> Person<'a> {
    fn at(door: &'a PiDoor) -> Self {
        Self {
            parent: door.parent(&[]),
            door,
            seen: 0,
            talk: Vec::new(),
        }
    }

    fn type_in(&mut self, command: &str) {
        self.talk.push(format!("> {command}"));
        self.parent.rpc.prompt(command);
    }

    /// The next thing that the user interface is asked to show.
    #[track_caller]
    fn next(&mut self) -> Value {
        let is_ours = |event: &&Value| {
            let method = event["method"].as_str().unwrap_or_default();
            let shown = ["notify", "select", "confirm", "input", "editor"];
            event["type"] == "extension_ui_request" && shown.contains(&method)
        };
        let place = self.seen;
        self.seen += 1;
        let found = wait_until(PATIENCE, || {
            let events = self.parent.rpc.events();
            events.iter().filter(is_ours).nth(place).cloned()
        });
        found.unwrap_or_else(|| panic!("nothing more after\n{}", self.talk.join("\n")))
    }

    /// Answers a dialog whose title begins so; a list is a choice by its beginning.
    #[track_caller]
    fn answer(&mut self, title: &str, answer: &str) {
        let asked = self.next();
        let method = asked["method"].as_str().unwrap();
        let question = asked["title"].as_str().unwrap_or_default();
        assert!(question.starts_with(title), "{asked}");
        let mut reply = json!({"type": "extension_ui_response", "id": asked["id"]});
        match method {
            "confirm" => reply["confirmed"] = json!(answer == "yes"),
            "select" => {
                let options = asked["options"].as_array().unwrap();
                let begins = |option: &&Value| {
                    let option = option.as_str().unwrap().to_lowercase();
                    option.starts_with(&answer.to_lowercase())
                };
                reply["value"] = options
                    .iter()
                    .find(begins)
                    .unwrap_or_else(|| panic!("no {answer} in {asked}"))
                    .clone();
            }
            _ => reply["value"] = json!(answer),
        }
        let page = asked["message"].as_str().unwrap_or_default();
        self.talk.extend(page.lines().map(str::to_owned));
        self.talk.push(format!("{method} {question} {answer}"));
        self.parent.rpc.send(&reply);
    }

    /// Presses Escape in a dialog whose title begins so.
    #[track_caller]
    fn cancel(&mut self, title: &str) {
        let asked = self.next();
        let question = asked["title"].as_str().unwrap_or_default();
        assert!(question.starts_with(title), "{asked}");
        self.talk.push(format!("{question} Escape"));
        let id = &asked["id"];
        let reply = json!({"type": "extension_ui_response", "id": id, "cancelled": true});
        self.parent.rpc.send(&reply);
    }

    /// Listens to a notice.
    #[track_caller]
    fn listen(&mut self) -> String {
        let told = self.next();
        assert_eq!(told["method"], "notify", "{told}");
        let message = told["message"].as_str().unwrap().to_owned();
        self.talk.push(message.clone());
        message
    }

    fn talk(&self) -> String {
        self.door.sandbox.normalise(&self.talk.join("\n"))
    }
}

fn profiles_are_made_shown_changed_and_deleted_by_dialogs(pi: RealPi) {
    let door = PiDoor::new(pi, "embedded", Script::new());
    let mut person = Person::at(&door);
    person.type_in("/profile list");
    person.listen();
    person.type_in("/profile create poet");
    person.answer("1/12 Kind:", "Profile");
    person.answer("2/12 Scope:", "Global");
    person.answer("3/12 Description", "Writes poems.");
    person.answer("4/12 Provider", "fake");
    person.answer("5/12 Model", "fake-model");
    person.answer("6/12 Set a custom system prompt?", "yes");
    person.answer("6/12 System prompt:", "You write poems.\nShort ones.");
    person.cancel("7/12 Append text to the system prompt?");
    person.answer("8/12 Set a thinking level?", "yes");
    person.answer("8/12 Thinking level:", "low");
    person.answer("9/12 Configure tools?", "no");
    person.answer("10/12 Configure extensions?", "no");
    person.answer("11/12 Configure skills?", "no");
    person.answer("12/12 Save this profile?", "yes");
    person.listen();
    person.type_in("/profile create nobody");
    person.answer("1/12 Kind:", "Profile");
    person.answer("2/12 Scope:", "Global");
    person.answer("3/12 Description", "");
    person.cancel("4/12 Provider");
    person.cancel("5/12 Model");
    assert_eq!(person.listen(), "Nothing was written.");
    let file = door.sandbox.agent_dir().join("agent-profiles/poet.md");
    let written = fs::read_to_string(&file).unwrap();
    insta::allow_duplicates! {
        insta::assert_snapshot!(written, @"
        ---
        name: poet
        description: Writes poems.
        provider: fake
        model: fake-model
        thinkingLevel: low
        ---

        You write poems.
        Short ones.
        ");
    }

    person.type_in("/profile list");
    person.listen();
    person.type_in("/profile show poet");
    person.listen();
    person.type_in("/profile edit poet");
    person.answer("1/11 Scope:", "Global");
    person.answer("2/11 Description: Writes poems.", "Keep");
    person.answer("3/11 Provider: fake", "Keep");
    person.answer("4/11 Model: fake-model", "Change");
    person.answer("4/11 Model:", "Another one");
    person.answer("4/11 Model:", "other-model");
    person.answer("5/11 System prompt:", "Keep");
    person.answer("6/11 Append text to the system prompt?", "no");
    person.answer("7/11 Thinking level: low", "Remove");
    person.answer("8/11 Configure tools?", "no");
    person.answer("9/11 Configure extensions?", "no");
    person.answer("10/11 Configure skills?", "no");
    person.answer("11/11 Save this profile?", "yes");
    person.listen();
    person.type_in("/profile delete poet");
    person.answer("Delete profile", "no");
    person.listen();
    assert!(file.exists());
    person.type_in("/profile delete poet");
    person.answer("Delete profile", "yes");
    person.listen();
    assert!(!file.exists());
    person.type_in("/profile show poet");
    person.listen();
    insta::assert_snapshot!("profiles", person.talk());
    person.parent.rpc.finish();
}

fn sub_agents_are_listed_shown_steered_and_stopped(pi: RealPi) {
    let script = Script::new()
        .on_every("Quick", [Turn::text("Quick as ever.")])
        .otherwise([Turn::text("Late.").gate("never")]);
    let door = PiDoor::new(pi, "embedded", script);
    // One after the other, so that they begin in their order.
    let file = door.sandbox.agent_dir().join("settings.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    settings["subagents"]["maxConcurrency"] = 1.into();
    fs::write(&file, settings.to_string()).unwrap();
    let mut person = Person::at(&door);
    person.type_in("/subagents list");
    person.listen();
    let tasks = json!({"tasks": [{"name": "quick", "prompt": "Quick."}, {"name": "slow", "prompt": "Slow."}]});
    person.parent.begin("delegate_to_subagents", tasks);
    person.parent.rpc.wait_for(|event| {
        event["partialResult"]["content"][0]["text"] == "Sub-agents: 1 running, 1 done"
    });
    person.type_in("/subagents");
    person.answer("Sub-agents of this session", "⏳ slow");
    person.answer("slow", "Stop it");
    person.listen();
    let answer = person.parent.settle();
    person.type_in("/subagents list");
    person.listen();
    person.type_in(&format!("/subagents show {}", answer.sessions()[0]));
    person.listen();
    person.type_in("/subagents steer nobody hello");
    person.listen();
    insta::assert_snapshot!("sub_agents", person.talk());
    person.parent.rpc.finish();
}
