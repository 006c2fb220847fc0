//! `subagent`, called by the model of a real pi.

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{PiDoor, RUNNERS};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    a_session_goes_on_while_pi_is_restarted_between_its_calls,
    several_tasks_are_answered_in_their_order,
    a_model_may_be_named_by_its_id_and_an_unknown_one_is_told_what_there_is,
}

fn door(pi: RealPi, runner: &str, script: Script) -> PiDoor {
    let door = PiDoor::new(pi, runner, script);
    door.sandbox.write(
        "home/.pi/agent/subagents/scout.md",
        "---\nname: scout\ndescription: Looks.\nmodel: fake/fake-model\n---\nYou look.\n",
    );
    door
}

/// The words of a message, which is a text or has parts.
fn text(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten();
    let joined = parts.filter_map(|part| part["text"].as_str()).collect();
    content.as_str().map_or(joined, str::to_owned)
}

/// Returns the conversation with the sub-agent that ends with these words.
fn asked(door: &PiDoor, words: &str) -> Vec<String> {
    let requests = door.server.requests();
    let conversation = |body: &Value| -> Vec<String> {
        let messages = body["messages"].as_array().unwrap().iter();
        let spoken = messages.filter(|message| message["role"] != "system");
        spoken.map(|message| text(&message["content"])).collect()
    };
    let mut conversations = requests.iter().map(|request| conversation(&request.body));
    let found = conversations.find(|said| said.last().is_some_and(|last| last == words));
    found.unwrap()
}

fn a_session_goes_on_while_pi_is_restarted_between_its_calls(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new()
            .on("say one", [Turn::text("first answer")])
            .on("say two", [Turn::text("second answer")])
            .on("say three", [Turn::text("third answer")]);
        let door = door(pi, runner, script);
        let calls: [(&[&str], &str, &str); 3] = [
            (
                &[],
                "say one",
                "first answer\n\n! There was no session `talk` of this preset in this directory; it is new.",
            ),
            (&["--continue"], "say two", "second answer"),
            // A new session of pi, which does not know it, goes on with it too.
            (&[], "say three", "third answer"),
        ];
        for (flags, task, said) in calls {
            let mut pi = door.parent(flags);
            let arguments = json!({"preset": "scout", "task": task, "sessionId": "talk"});
            let answer = pi.call("subagent", arguments);
            assert_eq!(
                answer.text,
                format!("**Status:** SUCCESS\n**Session ID:** `talk`\n\n---\n\n{said}")
            );
            // A continued child lists only the changes of its tools.
            // The person inside pi can be asked.
            assert_eq!(answer.details["windows"][0]["toolCount"], 5, "{runner}");
            pi.rpc.finish();
        }
        assert_eq!(
            asked(&door, "say three"),
            [
                "say one",
                "first answer",
                "say two",
                "second answer",
                "say three"
            ]
        );
    }
}

fn several_tasks_are_answered_in_their_order(pi: RealPi) {
    let script = Script::new()
        .on("say one", [Turn::text("first answer")])
        .on("say two", [Turn::text("second answer")]);
    let door = door(pi, "embedded", script);
    let mut pi = door.parent(&[]);
    let tasks = json!([
        {"preset": "scout", "task": "say one", "sessionId": "left"},
        {"preset": "scout", "task": "say two", "sessionId": "right", "model": "fake/fake-model"},
    ]);
    let answer = pi.call("subagent", json!({"tasks": tasks}));
    insta::assert_snapshot!("several_tasks", answer.text);
    assert_eq!(answer.sessions(), ["left", "right"]);
    pi.rpc.finish();
}

fn a_model_may_be_named_by_its_id_and_an_unknown_one_is_told_what_there_is(pi: RealPi) {
    let script = Script::new().on_every("say one", [Turn::text("first answer")]);
    let door = door(pi, "embedded", script);
    let mut pi = door.parent(&[]);
    for model in ["fake-model", "", "fake/fake-model"] {
        let task = json!({"preset": "scout", "task": "say one", "model": model});
        let answer = pi.call("subagent", json!({"tasks": [task]}));
        assert!(!answer.is_error, "{}", answer.text);
        let asked = &answer.details["windows"][0]["model"];
        assert_eq!(asked, "fake-model", "{answer:?}");
    }
    let task = json!({"preset": "scout", "task": "say one", "model": "fake/other"});
    let answer = pi.call("background_agent", task);
    assert_eq!(
        (answer.is_error, answer.text.as_str()),
        (
            true,
            "\"fake/other\" is not a model that can be used here. Use one of: fake/fake-model; or leave it out for the preset's own."
        )
    );
    pi.rpc.finish();
}
