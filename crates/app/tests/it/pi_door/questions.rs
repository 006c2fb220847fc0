//! Sub-agents that ask, inside the real pi: its person answers in pi's own dialog, or later; then
//! the call returns and its model answers.

use std::time::Duration;

use pi_subagents_testkit::llm::{Script, Turn};
use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Parent, PiDoor, RUNNERS};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    a_call_returns_when_its_person_answers_later,
    a_permission_extension_gets_allow_and_deny_from_pis_own_dialog,
    runs_that_were_left_end_with_their_session,
}

const PATIENCE: Duration = Duration::from_mins(1);

const DELEGATE: &str = "delegate_to_subagents";
const ANSWER: &str = "answer_subagent";

fn ask() -> Turn {
    Turn::tool_call(
        "ask_parent",
        json!({"question": "Which schema is current?", "options": ["v2", "v3"]}),
    )
}

fn task() -> Value {
    json!({"tasks": [{"name": "api", "prompt": "Look at it."}]})
}

/// Waits for a dialog after so many others.
pub(super) fn dialog(parent: &Parent<'_>, place: usize) -> Value {
    let is_dialog =
        |event: &&Value| event["type"] == "extension_ui_request" && event["method"] == "select";
    let found = || {
        parent
            .rpc
            .events()
            .iter()
            .filter(is_dialog)
            .nth(place)
            .cloned()
    };
    wait_until(PATIENCE, found).unwrap()
}

fn escape(parent: &mut Parent<'_>, dialog: &Value) {
    let id = &dialog["id"];
    let reply = json!({"type": "extension_ui_response", "id": id, "cancelled": true});
    parent.rpc.send(&reply);
}

/// Returns the id of the question in an answer.
fn question(text: &str) -> String {
    let (_, rest) = text
        .split_once("(question ")
        .unwrap_or_else(|| panic!("{text}"));
    rest[..7].to_owned()
}

/// Returns for each request of the parent's model if it had the tool for answers.
pub(super) fn answers_offered(door: &PiDoor) -> Vec<bool> {
    let bodies = door
        .server
        .requests()
        .into_iter()
        .map(|request| request.body);
    let of_parent = bodies.filter(|body| body.to_string().contains("\"delegate_to_subagents\""));
    of_parent
        .map(|body| body["tools"].to_string().contains(ANSWER))
        .collect()
}

fn a_call_returns_when_its_person_answers_later(pi: RealPi) {
    for runner in RUNNERS {
        let script = Script::new().on("Look at it.", [ask(), Turn::text("Took it.")]);
        let door = PiDoor::new(pi, runner, script);
        let mut parent = door.parent(&[]);
        parent.begin(DELEGATE, task());
        let asked = dialog(&parent, 0);
        assert_eq!(
            (&asked["title"], &asked["options"]),
            (
                &json!("main ▸ api asks: Which schema is current?"),
                &json!(["v2", "v3", "Something else…", "Later"])
            )
        );
        escape(&mut parent, &asked);
        let returned = parent.settle();
        let id = question(&returned.text);
        assert_eq!(
            returned.text,
            format!(
                "? api: waits for an answer (question {id}): Which schema is current? [1 v2, 2 v3]\n  Answer with answer_subagent {{\"question\": \"{id}\", \"answer\": \"…\"}}."
            ),
            "{runner}"
        );
        // Before the answer of the call it is not there, and the answer brings it.
        assert_eq!(answers_offered(&door), [false, true], "{runner}");
        let finished = parent.call(ANSWER, json!({"question": id, "answer": "v3"}));
        assert!(
            finished
                .text
                .starts_with("api continued with the answer, and has finished.")
                && finished.text.contains("Took it."),
            "{runner}: {}",
            finished.text
        );
        assert!(
            finished.usage["totalTokens"].as_u64() > Some(0),
            "{}",
            finished.usage
        );
        assert_eq!(returned.usage["totalTokens"], 0, "{}", returned.usage);
        let late = parent.call(ANSWER, json!({"question": id, "answer": "v2"}));
        assert!(
            late.is_error && late.text.contains("is answered already"),
            "{}",
            late.text
        );
        parent.rpc.finish();
    }
}

/// An extension as people write them: it asks before each shell command.
pub(super) const PERMISSIONS: &str = r#"export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return undefined;
    const choice = await ctx.ui.select(`Allow bash: ${event.input.command}`, ["Allow once", "Deny"]);
    if (choice === "Allow once") return undefined;
    return { block: true, reason: "The user declined." };
  });
}
"#;

fn a_permission_extension_gets_allow_and_deny_from_pis_own_dialog(pi: RealPi) {
    for (reply, is_made) in [("Allow once", true), ("Deny", false)] {
        let command = json!({"command": "echo made > made.txt"});
        let script = Script::new().on(
            "Look at it.",
            [Turn::tool_call("bash", command), Turn::text("Looked.")],
        );
        let door = PiDoor::new(pi, "pi", script);
        let file = door.sandbox.write("extension.js", PERMISSIONS);
        door.sandbox.write(
            "home/.pi/agent/agent-profiles/guarded.md",
            &format!(
                "---\nname: guarded\ndescription: Asks.\nextensions:\n- {}\n---\n",
                file.display()
            ),
        );
        let mut parent = door.parent(&[]);
        let mut call = task();
        call["tasks"][0]["profile"] = json!("guarded");
        parent.begin(DELEGATE, call);
        let asked = dialog(&parent, 0);
        assert_eq!(
            (&asked["title"], &asked["options"]),
            (
                &json!("main ▸ api asks: Allow bash: echo made > made.txt"),
                &json!(["Allow once", "Deny", "Later"])
            )
        );
        let id = &asked["id"];
        let given = json!({"type": "extension_ui_response", "id": id, "value": reply});
        parent.rpc.send(&given);
        let answer = parent.settle();
        assert!(answer.text.starts_with("✓ api"), "{}", answer.text);
        assert_eq!(door.sandbox.project().join("made.txt").exists(), is_made);
        let declined = door.server.requests().iter().any(|request| {
            request.body["messages"]
                .to_string()
                .contains("The user declined.")
        });
        assert_eq!(declined, !is_made);
        parent.rpc.finish();
    }
}

fn runs_that_were_left_end_with_their_session(pi: RealPi) {
    let script = Script::new().on("Look at it.", [ask()]);
    let door = PiDoor::new(pi, "embedded", script);
    let mut parent = door.parent(&[]);
    parent.begin(DELEGATE, task());
    let asked = dialog(&parent, 0);
    escape(&mut parent, &asked);
    _ = question(&parent.settle().text);
    parent.rpc.ask(&json!({"type": "new_session"}));
    let runs = door.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(runs["runs"][0]["status"], "stopped", "{runs}");
    parent.rpc.finish();
}
