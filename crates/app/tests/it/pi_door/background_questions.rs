//! Questions of background agents, inside the real pi: its person sees them, and its model answers.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::{Signal, process, wait_until};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::questions::{PERMISSIONS, answers_offered, dialog};
use super::stage::{Parent, PiDoor, RUNNERS};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    a_question_starts_a_turn_and_the_model_answers_it,
    a_dialog_waits_for_the_person_and_starts_no_turn,
    a_question_starts_no_turn_where_the_user_does_not_want_it,
    a_question_is_announced_once_also_after_a_crash,
}

const PATIENCE: Duration = Duration::from_mins(1);

const ANSWER: &str = "answer_subagent";

/// A pi with the preset `scout`, whose task asks.
fn door(pi: RealPi, runner: &str) -> PiDoor {
    let ask = json!({"question": "Which schema is current?", "options": ["v2", "v3"]});
    let asks = [
        Turn::tool_call("ask_parent", ask),
        Turn::text("Took the answer."),
    ];
    // The notice names the task, so its turn comes first.
    let script = Script::new().on("waits for an answer", [Turn::text("I will see.")]);
    let door = PiDoor::new(pi, runner, script.on("Look around.", asks));
    define_scout(&door, "");
    door
}

fn define_scout(door: &PiDoor, more: &str) {
    door.sandbox.write(
        "home/.pi/agent/subagents/scout.md",
        &format!(
            "---\nname: scout\ndescription: Looks.\nmodel: fake/fake-model\n{more}---\nYou look.\n"
        ),
    );
}

fn start(parent: &mut Parent<'_>) -> String {
    let arguments = json!({"preset": "scout", "task": "Look around."});
    let started = parent.call("background_agent", arguments);
    started.details["runId"].as_str().unwrap().to_owned()
}

/// The notices in a session file, each with its text and its question.
fn notices(file: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let entries = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|entry| entry["customType"] == "pi-subagents:bg-ask");
    entries
        .map(|entry| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&entry["content"]), text(&entry["details"]["question"]))
        })
        .collect()
}

fn first_notice(file: &str) -> (String, String) {
    wait_until(PATIENCE, || notices(file).into_iter().next()).unwrap()
}

fn footer(parent: &Parent<'_>, words: &str) {
    let is_meant = |event: &Value| event["method"] == "setStatus" && event["statusText"] == words;
    parent.rpc.wait_for(is_meant);
}

fn a_question_starts_a_turn_and_the_model_answers_it(pi: RealPi) {
    for runner in RUNNERS {
        let door = door(pi, runner);
        let mut parent = door.parent(&[]);
        let file = parent.session_file();
        let run = start(&mut parent);
        footer(&parent, "bg: 0 running, 1 asks / 1 total");
        let told = parent.rpc.wait_for(|event| event["method"] == "notify");
        let (notice, id) = first_notice(&file);
        assert_eq!(
            told["message"],
            format!(
                "Background agent scout asks: Which schema is current? (/subagents answer {id})"
            )
        );
        assert_eq!(
            notice,
            format!(
                "Background agent scout waits for an answer (question {id})\nTask: Look around.\n\nWhich schema is current? [1 v2, 2 v3]\n\nAnswer with answer_subagent {{\"question\": \"{id}\", \"answer\": \"…\"}}."
            ),
            "{runner}"
        );
        // The notice started it, and the model had the tool.
        parent.pass_turn();
        assert_eq!(answers_offered(&door).last(), Some(&true), "{runner}");
        let status = parent.call("background_agent_status", json!({}));
        assert!(
            status
                .text
                .contains(&format!("waits for an answer (question {id})")),
            "{runner}: {}",
            status.text
        );
        let answered = parent.call(ANSWER, json!({"question": id, "answer": "v3"}));
        assert_eq!(
            answered.text,
            "scout has the answer and continues. This conversation gets a message when it ends.",
            "{runner}"
        );
        footer(&parent, "bg: 0 running / 1 total");
        let waited = door.command(&["wait", &run]).run();
        assert_eq!(waited.code, Some(0), "{waited}");
        let output = door.command(&["output", &run]).run();
        assert_eq!(output.stdout.trim(), "Took the answer.", "{runner}");
        assert_eq!(notices(&file).len(), 1, "{runner}");
        parent.rpc.finish();
    }
}

fn a_dialog_waits_for_the_person_and_starts_no_turn(pi: RealPi) {
    for (reply, is_made) in [("Allow once", true), ("Deny", false)] {
        let command = json!({"command": "echo made > made.txt"});
        let turns = [Turn::tool_call("bash", command), Turn::text("Looked.")];
        let door = PiDoor::new(pi, "pi", Script::new().on("Look around.", turns));
        let file = door.sandbox.write("extension.js", PERMISSIONS);
        define_scout(&door, &format!("extensions:\n- {}\n", file.display()));
        let mut parent = door.parent(&[]);
        let session = parent.session_file();
        let run = start(&mut parent);
        let (notice, id) = first_notice(&session);
        assert!(
            notice.ends_with(&format!(
                "Allow bash: echo made > made.txt [1 Allow once, 2 Deny]\n\nOnly the user can answer it: /subagents answer {id}."
            )),
            "{notice}"
        );
        assert_eq!(answers_offered(&door).last(), Some(&false));
        parent.rpc.prompt("/subagents answer");
        let asked = dialog(&parent, 0);
        assert_eq!(
            (&asked["title"], &asked["options"]),
            (
                &json!("main ▸ scout asks: Allow bash: echo made > made.txt"),
                &json!(["Allow once", "Deny", "Later"])
            )
        );
        let given = json!({"type": "extension_ui_response", "id": asked["id"], "value": reply});
        parent.rpc.send(&given);
        let waited = door.command(&["wait", &run]).run();
        assert_eq!(waited.code, Some(0), "{waited}");
        assert_eq!(door.sandbox.project().join("made.txt").exists(), is_made);
        // The call of the tool and its answer, and nothing for the notice.
        assert_eq!(answers_offered(&door), [false, false]);
        parent.rpc.finish();
    }
}

fn a_question_starts_no_turn_where_the_user_does_not_want_it(pi: RealPi) {
    let door = door(pi, "embedded");
    door.change_settings(|settings| settings["subagents"]["questionsStartTurn"] = json!(false));
    let mut parent = door.parent(&[]);
    let session = parent.session_file();
    start(&mut parent);
    let (_, id) = first_notice(&session);
    assert_eq!(answers_offered(&door), [false, false]);
    // The next turn, which a person starts, has the notice and the tool.
    parent.call(ANSWER, json!({"question": id, "answer": "2"}));
    assert_eq!(answers_offered(&door), [false, false, true, true]);
    parent.rpc.finish();
}

fn a_question_is_announced_once_also_after_a_crash(pi: RealPi) {
    let door = door(pi, "embedded");
    let mut first = door.parent(&[]);
    let session = first.session_file();
    start(&mut first);
    let (_, id) = first_notice(&session);
    first.pass_turn();
    process::kill(first.pid(), Signal::KILL);

    let mut second = door.parent(&["--continue"]);
    footer(&second, "bg: 0 running, 1 asks / 1 total");
    let answered = second.call(ANSWER, json!({"question": id, "answer": "v2"}));
    assert!(!answered.is_error, "{}", answered.text);
    assert_eq!(notices(&session).len(), 1);
    second.rpc.finish();
}
