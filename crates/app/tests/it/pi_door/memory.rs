//! The sub-agents that a session of pi remembers, and those that it forgets.

use pi_subagents_testkit::llm::{Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::{Answer, Parent, PiDoor};
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    a_branch_knows_only_the_sub_agents_of_its_own_way,
    a_session_knows_its_sub_agents_after_a_restart_and_a_new_one_does_not,
}

fn output(parent: &mut Parent<'_>, session: &str) -> Answer {
    parent.call("get_subagent_output", json!({"sessionId": session}))
}

/// The records of our runs in a session file.
fn records(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let entries = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries
        .filter(|entry| entry["type"] == "custom" && entry["customType"] == "pi-subagents")
        .map(|entry| entry["data"].clone())
        .collect()
}

fn a_session_knows_its_sub_agents_after_a_restart_and_a_new_one_does_not(pi: RealPi) {
    let script = Script::new().otherwise([Turn::text("Rain.")]);
    let door = PiDoor::new(pi, "embedded", script);
    let not_found = |answer: &Answer| answer.is_error && answer.text.contains("not found");

    let mut first = door.parent(&[]);
    let tasks =
        json!({"tasks": [{"name": "a", "prompt": "One."}, {"name": "b", "prompt": "Two."}]});
    let delegated = first.call("delegate_to_subagents", tasks);
    let sessions = delegated.sessions();
    let file = first.session_file();
    first.rpc.finish();
    let kept = records(&file);
    assert_eq!(kept.len(), 2, "one record for each run");
    assert!(
        !kept[0].to_string().contains("\"role\":\"system\""),
        "pi's system message is not kept"
    );

    let mut second = door.parent(&["--continue"]);
    assert_eq!(output(&mut second, &sessions[0]).text, "Rain.");
    let again = json!({"tasks": [{"name": "a", "prompt": "Again.", "resume": sessions[0]}]});
    assert!(!second.call("delegate_to_subagents", again).is_error);
    assert_eq!(output(&mut second, &sessions[0]).details["runCount"], 2);
    second.rpc.ask(&json!({"type": "new_session"}));
    assert!(not_found(&output(&mut second, &sessions[0])));
    second
        .rpc
        .ask(&json!({"type": "switch_session", "sessionPath": file}));
    assert_eq!(output(&mut second, &sessions[1]).text, "Rain.");
    second.rpc.finish();

    let mut third = door.parent(&["--session", &file]);
    assert_eq!(output(&mut third, &sessions[0]).details["runCount"], 2);
    third.rpc.finish();

    let mut fork = door.parent(&["--fork", &file]);
    assert_eq!(output(&mut fork, &sessions[1]).text, "Rain.");
    fork.rpc.finish();

    let mut other = door.parent(&[]);
    assert!(not_found(&output(&mut other, &sessions[0])));
    other.rpc.finish();
}

/// An extension beside ours: `/back` goes back to before the last prompt.
const BACK: &str = r#"
export default function (pi) {
  pi.registerCommand("back", { async handler(_args, ctx) {
    const prompts = ctx.sessionManager.getBranch().filter((entry) => entry.message?.role === "user");
    await ctx.navigateTree(prompts.at(-1).id, { summarize: false });
    ctx.ui.notify("went back", "info");
  } });
}
"#;

fn a_branch_knows_only_the_sub_agents_of_its_own_way(pi: RealPi) {
    let script = Script::new().otherwise([Turn::text("Rain.")]);
    let door = PiDoor::new(pi, "embedded", script);
    let back = door.sandbox.write("back.js", BACK).display().to_string();
    let one = |name: &str| json!({"tasks": [{"name": name, "prompt": "One."}]});
    let not_found = |answer: &Answer| answer.is_error && answer.text.contains("not found");

    let mut first = door.parent(&["-e", &back]);
    let begun = first.call("delegate_to_subagents", one("begun")).sessions();
    let left = first.call("delegate_to_subagents", one("left")).sessions();
    first.rpc.prompt("/back");
    _ = first.rpc.wait_for(|event| event["message"] == "went back");
    assert!(not_found(&output(&mut first, &left[0])));
    assert_eq!(output(&mut first, &begun[0]).text, "Rain.");
    let taken = first.call("delegate_to_subagents", one("taken")).sessions();
    let file = first.session_file();
    first.rpc.finish();

    for flags in [&["--session", &file], &["--fork", &file]] {
        let mut pi = door.parent(flags);
        assert!(not_found(&output(&mut pi, &left[0])), "{flags:?}");
        for known in [&begun[0], &taken[0]] {
            assert_eq!(output(&mut pi, known).text, "Rain.", "{flags:?}");
        }
        pi.rpc.finish();
    }
}
