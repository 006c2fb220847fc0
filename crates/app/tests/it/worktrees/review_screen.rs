//! The screen of `review`, typed through in a pseudo-terminal.

use std::time::Duration;

use pi_subagents_testkit::wait_until;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::reviews::{checkout, project};
use super::stage::WorktreeStage;
use crate::terminal::{ENTER, Terminal};

const PATIENCE: Duration = Duration::from_mins(1);

/// A result with three hunks, and a gate in the settings.
fn stage() -> WorktreeStage {
    let stage = project();
    stage.settings(&json!({"reviewGate": "sh check.sh"}));
    let lines: Vec<String> = (1..30).map(|number| format!("line {number}")).collect();
    let text = format!("# src/long.txt\n{}\n", lines.join("\n"));
    stage.write("src/long.txt", &text);
    stage.git(&["add", "src/long.txt"]);
    stage.git(&["commit", "--quiet", "-m", "a long file"]);
    stage.run(&[("api", "sed -i -e s/2$/TWO/ -e '25s/.*/NEW/' src/long.txt")]);
    stage
}

fn waiting(stage: &WorktreeStage) -> Vec<Value> {
    let listed = stage.ours(&["review", "--json"]).run().json();
    listed["waiting"].as_array().unwrap().clone()
}

#[test]
fn a_hunk_is_accepted_taken_back_and_the_result_sent_back_by_keys() {
    let stage = stage();
    stage.prompt_for("Please use THREE.", "sed -i s/NEW/THREE/ src/long.txt");
    let before = checkout(&stage);
    let screen = stage.ours(&["review"]);
    let mut terminal = Terminal::start_sized(screen, 100, 30);
    terminal.wait_for("Needs you: 1");
    terminal.press(ENTER);
    terminal.wait_for("line TWO");
    // The first hunk is left out.
    terminal.wait_for("3 of 3 parts chosen");
    terminal.press(" ");
    let chosen = terminal.wait_for("2 of 3 parts chosen");
    assert!(chosen.contains("[ ] left out"), "{chosen}");
    terminal.press("a");
    let asked = terminal.wait_for("Accept 2 of 3 parts of api?");
    assert!(asked.contains("sh check.sh"), "{asked}");
    terminal.press("y");
    terminal.wait_for("1 result taken; api: remainder, 1 of 3 parts");
    assert!(stage.read("src/long.txt").contains("NEW"));

    terminal.press("u");
    terminal.answer("Undo the last accept?", "y");
    terminal.wait_for("api: taken back");
    assert_eq!(checkout(&stage), before);

    terminal.press("b");
    terminal.answer("to api:", "Please use THREE.\r");
    terminal.wait_for("api continues in the background with your text");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    let sent = wait_until(PATIENCE, || {
        let waiting = waiting(&stage);
        let reasons = waiting.first()?["reasons"].to_string();
        reasons.contains("was sent back 1 time").then_some(())
    });
    assert!(sent.is_some(), "{:#?}", waiting(&stage));
    let diff = stage.ours(&["diff", "api"]).run().expect_success();
    assert!(diff.stdout.contains("+THREE"), "{diff}");
}

#[test]
fn all_that_are_shown_are_accepted_and_no_others() {
    let stage = stage();
    stage.run(&[("docs", "mkdir docs; echo guide > docs/guide.txt")]);
    let screen = stage.ours(&["review", "docs"]);
    let mut terminal = Terminal::start_sized(screen, 80, 24);
    terminal.wait_for("Needs you: 1");
    terminal.press("A");
    terminal.answer("Accept docs?", "y");
    terminal.wait_for("1 result taken");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    assert_eq!(stage.read("docs/guide.txt"), "guide\n");
    let left: Vec<Value> = waiting(&stage)
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    assert_eq!(left, ["api"]);
}
