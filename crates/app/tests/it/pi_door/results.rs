//! Results that wait in worktrees, inside the real pi: when its model gets the tool for them.

use std::process::Command;

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::questions::dialog;
use super::stage::PiDoor;
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    the_tool_for_results_comes_with_the_first_result_and_is_there_after_a_resume,
    the_model_takes_a_result_after_its_person_has_said_yes,
}

const MERGE: &str = "merge_subagents";

fn git(door: &PiDoor, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(arguments)
        .current_dir(door.sandbox.project())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Makes the project a repository with one file.
pub(super) fn make_repository(door: &PiDoor) {
    git(door, &["init", "--quiet", "--initial-branch=main"]);
    door.sandbox.write("project/kept.txt", "one\n");
    git(door, &["add", "kept.txt"]);
    git(door, &["commit", "--quiet", "-m", "first"]);
}

/// Returns for each request of the parent's model, after the first so many, if it had the tool.
fn offers(door: &PiDoor, since: usize) -> Vec<bool> {
    let requests = door.server.requests().split_off(since);
    let is_of_parent = |body: &Value| body.to_string().contains("\"delegate_to_subagents\"");
    let bodies = requests.into_iter().map(|request| request.body);
    let bodies = bodies.filter(is_of_parent);
    bodies
        .map(|body| body["tools"].to_string().contains(MERGE))
        .collect()
}

fn the_tool_for_results_comes_with_the_first_result_and_is_there_after_a_resume(pi: RealPi) {
    let write = json!({"command": "echo new > new.txt"});
    let script = Script::new().on(
        "Write it.",
        [Turn::tool_call("bash", write), Turn::text("Done.")],
    );
    let door = PiDoor::new(pi, "embedded", script);
    make_repository(&door);
    let mut first = door.parent(&[]);
    let task = json!({"name": "api", "prompt": "Write it.", "isolation": "worktree"});
    let delegated = first.call("delegate_to_subagents", json!({"tasks": [task]}));
    assert!(
        delegated
            .text
            .contains("not merged (merge_subagents with runs"),
        "{}",
        delegated.text
    );
    // Before its answer it is not there, and the answer brings it.
    assert_eq!(offers(&door, 0), [false, true]);
    let checked = first.call(MERGE, json!({"check": true}));
    assert!(checked.text.contains("All of it fits."), "{}", checked.text);
    let file = first.session_file();
    first.rpc.finish();

    let asked = door.server.requests().len();
    let mut second = door.parent(&["--session", &file]);
    let merged = second.call(MERGE, json!({"runs": ["api"]}));
    assert!(
        merged.text.starts_with("✓ api: merged, 1 file +1 −0"),
        "{}",
        merged.text
    );
    assert_eq!(offers(&door, asked), [true, true]);
    assert_eq!(
        std::fs::read_to_string(door.sandbox.project().join("new.txt")).unwrap(),
        "new\n"
    );
    let asked = door.server.requests().len();
    second.rpc.ask(&json!({"type": "new_session"}));
    let listed = second.call("list_subagent_profiles", json!({}));
    assert!(!listed.is_error);
    assert_eq!(offers(&door, asked), [false, false]);
    second.rpc.finish();
}

fn the_model_takes_a_result_after_its_person_has_said_yes(pi: RealPi) {
    let write = json!({"command": "echo new > new.txt"});
    let script = Script::new().on(
        "Write it.",
        [Turn::tool_call("bash", write), Turn::text("Done.")],
    );
    let door = PiDoor::new(pi, "embedded", script);
    make_repository(&door);
    let mut parent = door.parent(&[]);
    let task = json!({"name": "api", "prompt": "Write it.", "isolation": "worktree"});
    parent.call("delegate_to_subagents", json!({"tasks": [task]}));
    let listed = parent.call("review_subagents", json!({}));
    assert!(listed.text.contains("no test was seen"), "{}", listed.text);
    let file = door.sandbox.project().join("new.txt");
    for (number, (reply, is_taken)) in [("No", false), ("Yes", true)].into_iter().enumerate() {
        parent.begin("review_subagents", json!({"action": "accept"}));
        let asked = dialog(&parent, number);
        assert_eq!(
            asked["title"],
            "The model wants to take 1 result: api (careful) into your checkout. No gate runs."
        );
        let given = json!({"type": "extension_ui_response", "id": asked["id"], "value": reply});
        parent.rpc.send(&given);
        let answer = parent.settle();
        assert_eq!(
            (answer.is_error, file.exists()),
            (!is_taken, is_taken),
            "{}",
            answer.text
        );
    }
    parent.rpc.finish();
}
