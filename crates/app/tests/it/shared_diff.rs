//! `diff` of a run that worked in a shared checkout: made from its own edits and writes.

use pi_subagents_testkit::Signal;
use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, call};
use crate::terminal::{ENTER, Terminal};

for_each_pi! {
    the_diff_of_a_shared_checkout_is_made_from_calls,
}

fn turns() -> Vec<Turn> {
    let edit = |old: &str, new: &str| {
        Turn::tool_call(
            "edit",
            json!({"path": "app.rs", "edits": [{"oldText": old, "newText": new}]}),
        )
    };
    vec![
        edit("one", "two"),
        edit("nowhere", "x"),
        Turn::tool_call(
            "write",
            json!({"path": "src/new.rs", "content": "fn new() {}\n"}),
        ),
        Turn::tool_call("bash", json!({"command": "echo unseen > other.txt"})),
        Turn::text("Done."),
    ]
}

fn the_diff_of_a_shared_checkout_is_made_from_calls(pi: RealPi) {
    for runner in ["embedded", "pi"] {
        let stage = Stage::new();
        let server = LlmServer::start(Script::new().otherwise(turns()));
        stage.sandbox.models_json(&server.base_url());
        stage.sandbox.write("project/app.rs", "zero\none\n");
        delegate(pi, &stage, runner, &call(&[("a", json!("Do it."))]))
            .run()
            .expect_success();
        let diff = stage.command(&["diff", "last"]).run();
        let written = match runner {
            "embedded" => "@@ -0,0 +1 @@",
            _ => "@@ written whole; the text before is not known @@",
        };
        let expected = format!(
            "diff --git a/app.rs b/app.rs\n--- a/app.rs\n+++ b/app.rs\n@@ -1,2 +1,2 @@\n zero\n-one\n+two\ndiff --git a/src/new.rs b/src/new.rs\n--- a/src/new.rs\n+++ b/src/new.rs\n{written}\n+fn new() {{}}\n"
        );
        assert_eq!(diff.stdout, expected, "{runner}: {}", diff.stderr);
        assert!(
            diff.stderr
                .contains("made from its successful edits and writes"),
            "{runner}: {}",
            diff.stderr
        );
        let stat = stage.command(&["diff", "last", "--stat"]).run();
        let last = match runner {
            "embedded" => "+1 −0",
            _ => "written whole",
        };
        assert_eq!(
            stat.stdout,
            format!("app.rs      +1 −1\nsrc/new.rs  {last}\n"),
            "{runner}"
        );
        let json = stage.command(&["diff", "last", "--json"]).run().json();
        assert_eq!(json["source"], "calls", "{runner}");
    }
}

#[test]
fn attach_shows_the_diff_of_a_shared_checkout() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(turns()));
    stage.sandbox.models_json(&server.base_url());
    stage.sandbox.write("project/app.rs", "zero\none\n");
    let run = stage.delegate_to("embedded", &call(&[("a", json!("Do it."))]));
    run.run().expect_success();
    let mut terminal = Terminal::start_sized(stage.command(&["attach", "last"]), 100, 30);
    terminal.wait_for("Done.");
    terminal.press("d");
    terminal.wait_for("+++ b/src/new.rs");
    terminal.wait_for("made from its successful edits and writes");
    terminal.press("q");
    terminal.press("q");
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn a_run_that_changed_nothing_has_no_diff() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![Turn::text("Done.")]));
    stage.sandbox.models_json(&server.base_url());
    let run = stage.delegate_to("embedded", &call(&[("a", json!("Do it."))]));
    run.run().expect_success();
    let diff = stage.command(&["diff", "last"]).run();
    assert_eq!(
        (diff.code, diff.stdout.as_str()),
        (Some(5), ""),
        "{}",
        diff.stderr
    );
    assert!(
        diff.stderr.contains("made no successful edit or write"),
        "{}",
        diff.stderr
    );
}

#[test]
fn ctrl_c_leaves_the_pager_to_its_reader() {
    let stage = Stage::new();
    let server = LlmServer::start(Script::new().otherwise(vec![
        Turn::tool_call(
            "write",
            json!({"path": "new.txt", "content": "line\n".repeat(100)}),
        ),
        Turn::text("Done."),
    ]));
    stage.sandbox.models_json(&server.base_url());
    let run = stage.delegate_to("embedded", &call(&[("a", json!("Do it."))]));
    run.run().expect_success();
    let pager = "grep -c +line; echo The pager waits.; read key <&1; echo It got $key.";
    let diff = stage.command(&["diff", "last"]).env("PAGER", pager);
    let mut terminal = Terminal::start_in_colour(diff, 80, 24);
    terminal.wait_for("The pager waits.");
    terminal.signal(Signal::INT);
    terminal.answer("100", &format!("q{ENTER}"));
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("It got q."), "{screen}");
}
