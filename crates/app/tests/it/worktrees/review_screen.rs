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

/// Waits until another run than this one has the result of a task that was sent back once.
fn sent_back(stage: &WorktreeStage, name: &str, before: &Value) -> Value {
    let sent = wait_until(PATIENCE, || {
        let waiting = waiting(stage);
        let one = waiting.into_iter().find(|one| one["name"] == name)?;
        let is_back = one["reasons"].to_string().contains("was sent back 1 time");
        (is_back && one["runId"] != *before).then_some(one)
    });
    sent.unwrap_or_else(|| panic!("{:#?}", waiting(stage)))
}

/// Returns the run whose result waits under a name.
fn run_of(stage: &WorktreeStage, name: &str) -> Value {
    let waiting = waiting(stage);
    let one = waiting.iter().find(|one| one["name"] == name).unwrap();
    one["runId"].clone()
}

#[test]
fn a_hunk_is_accepted_taken_back_and_the_result_sent_back_by_keys() {
    let stage = stage();
    stage.prompt_for("Please use THREE.", "sed -i s/NEW/THREE/ src/long.txt");
    let (before, run) = (checkout(&stage), run_of(&stage, "api"));
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
    sent_back(&stage, "api", &run);
    let diff = stage.ours(&["diff", "api"]).run().expect_success();
    assert!(diff.stdout.contains("+THREE"), "{diff}");
}

#[test]
fn what_is_left_of_a_result_goes_back_to_its_sub_agent() {
    let stage = stage();
    stage.write("mine.txt", "mine\n");
    stage.run(&[(
        "both",
        "mkdir docs; echo guide > docs/guide.txt; sed -i s/two/TWO/ src/app.txt",
    )]);
    let take = ["review", "both", "--accept", "--files", "docs", "--no-gate"];
    stage.ours(&take).run().expect_success();
    let run = run_of(&stage, "both");
    stage.prompt_for("Say it louder.", "sed -i s/three/THREE/ src/app.txt");
    let screen = stage.ours(&["review", "both"]);
    let mut terminal = Terminal::start_sized(screen, 100, 30);
    terminal.wait_for("remainder, 1 of 2 parts");
    terminal.press("b");
    terminal.answer("to both:", "Say it louder.\r");
    terminal.wait_for("both continues in the background with your text");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    // The part that was accepted is in the checkout, so it is no change of the sub-agent any more.
    let left = sent_back(&stage, "both", &run);
    let sizes = ["files", "added", "removed"].map(|size| left[size].clone());
    assert_eq!(sizes, [1, 2, 2].map(Value::from));
    let diff = stage.ours(&["diff", "both"]).run().expect_success();
    assert!(
        diff.stdout.contains("+TWO\n") && diff.stdout.contains("+THREE\n"),
        "{diff}"
    );
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

#[test]
fn work_that_was_done_again_on_top_of_another_result_is_taken_together_with_it() {
    let stage = project();
    stage.run(&[
        ("api", "sed -i s/two/TWO/ src/app.txt"),
        ("ui", "sed -i s/two/zwei/ src/app.txt"),
    ]);
    let resolved = "printf '# src/app.txt\\none\\nTWO zwei\\nthree\\nfour\\nfive\\n' > src/app.txt";
    stage.prompt_for("was looked at", resolved);
    let (run, waits) = (run_of(&stage, "ui"), waiting(&stage));
    let mut terminal = Terminal::start_sized(stage.ours(&["review"]), 100, 30);
    terminal.wait_for("Needs you: 2");
    for one in &waits {
        if one["name"] == "ui" {
            break;
        }
        terminal.press("j");
    }
    terminal.press("o");
    // The result with which it conflicts is typed already.
    terminal.wait_for("do ui again on top of: api");
    terminal.press(ENTER);
    terminal.wait_for("ui continues in the background with your text; came in: api");
    terminal.press("q");
    assert_eq!(terminal.leave(), (Some(0), true));
    let again = sent_back(&stage, "ui", &run);
    assert_eq!(again["standsOn"], json!(["api"]), "{again:#}");
    assert_eq!(again["conflicts"], Value::Null, "{again:#}");
    assert_eq!(again["conflictsWithCheckout"], Value::Null, "{again:#}");
    let taken = stage
        .ours(&["review", "--accept-all", "--no-gate", "--json"])
        .run()
        .expect_success()
        .json();
    assert_eq!(taken["taken"], 2, "{taken:#}");
    let text = "# src/app.txt\none\nTWO zwei\nthree\nfour\nfive\n";
    assert_eq!(stage.read("src/app.txt"), text);
}
