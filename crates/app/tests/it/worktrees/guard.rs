//! A child in a worktree does not write to its caller's checkout, whatever path it uses.

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::WorktreeStage;
use crate::real_pi::{RealPi, for_each_pi};

for_each_pi! {
    pi_leaves_the_checkout_alone,
}

/// Lets a child write to the checkout, edit a file of another sub-agent, and write to its own copy.
fn play(stage: &WorktreeStage, runner: &str, pi: Option<&RealPi>) {
    let other = stage.run(&[("other", "echo other >> kept.txt")]);
    let other = other["runs"][0]["workspace"]["path"].as_str().unwrap();
    let of_other = format!("{other}/kept.txt");
    let outside = stage.project().join("kept.txt").display().to_string();
    let edits = json!([{"oldText": "two", "newText": "escaped"}]);
    let script = Script::new().otherwise([
        Turn::tool_call("write", json!({"path": outside, "content": "escaped\n"})),
        Turn::tool_call("edit", json!({"path": of_other, "edits": edits})),
        Turn::tool_call("write", json!({"path": "own.txt", "content": "own\n"})),
        Turn::text("ok"),
    ]);
    let server = LlmServer::start(script);
    stage.models_json(&server.base_url());
    let options = [
        "delegate",
        "--task",
        "api=Write.",
        "--json",
        "--runner",
        runner,
    ];
    let mut command = stage.ours(&options).args(["--isolation", "worktree"]);
    if let Some(pi) = pi {
        command = command.env("PI_SUBAGENTS_PI", pi.program());
    }
    let output = command.run().expect_success().json();
    let workspace = &output["runs"][0]["workspace"];
    assert_eq!(stage.read("kept.txt"), "one\ntwo\nthree\n");
    let theirs = std::fs::read_to_string(of_other).unwrap();
    assert_eq!(theirs, "one\ntwo\nthree\nother\n");
    assert_eq!(workspace["files"][0]["path"], "own.txt");
    let requests = server.requests();
    let copy = format!("{}/kept.txt", workspace["path"].as_str().unwrap());
    for (request, whose) in [
        (1, "your caller's checkout"),
        (2, "the worktree of another sub-agent"),
    ] {
        let told = requests[request].body.to_string();
        let expected = format!("That is {whose}. Your copy is {copy}");
        assert!(told.contains(&expected), "{told}");
    }
}

fn pi_leaves_the_checkout_alone(pi: RealPi) {
    play(&WorktreeStage::new(), "pi", Some(&pi));
}

#[test]
fn the_embedded_agent_leaves_the_checkout_alone() {
    play(&WorktreeStage::new(), "embedded", None);
}

#[test]
fn the_checkout_of_which_the_callers_is_a_worktree_is_left_alone_too() {
    let stage = WorktreeStage::new();
    let linked = stage.stage().sandbox.root().join("linked");
    let at = linked.display().to_string();
    stage.git(&["worktree", "add", "--quiet", "-b", "side", &at]);
    let main = stage.project().display().to_string();
    let write =
        |path: String| Turn::tool_call("write", json!({"path": path, "content": "escaped\n"}));
    let server = LlmServer::start(Script::new().otherwise([
        write(format!("{main}/kept.txt")),
        write(format!("{main}/.git/hooks/pre-commit")),
        write(format!("{at}/kept.txt")),
        write("own.txt".to_owned()),
        Turn::text("ok"),
    ]));
    stage.models_json(&server.base_url());
    let command = stage.ours(&["delegate", "--task", "api=Write.", "--json"]);
    let command = command.args(["--runner", "embedded", "--isolation", "worktree"]);
    let output = command.cwd(&linked).run().expect_success().json();
    assert_eq!(
        output["runs"][0]["workspace"]["files"][0]["path"],
        "own.txt"
    );
    assert_eq!(stage.read("kept.txt"), "one\ntwo\nthree\n");
    let theirs = std::fs::read_to_string(linked.join("kept.txt")).unwrap();
    assert_eq!(theirs, "one\ntwo\nthree\n");
    assert!(!stage.project().join(".git/hooks/pre-commit").exists());
}
