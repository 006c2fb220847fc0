//! The features that work on a fresh machine with nothing configured.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;

#[test]
fn the_tour_shows_three_sub_agents_at_real_work() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/README.md", "# Teapot\n\nA project about tea.\n");
    stage
        .sandbox
        .write("project/src/main.c", "int main() { /* TODO: pour */ }\n");
    let output = stage
        .command(&["tour", "--json"])
        .env("PATH", "/usr/bin:/bin")
        .env_remove("PI_SUBAGENTS_PI")
        .run()
        .expect_success();
    let answer = output.json();
    let runs = answer["runs"].as_array().unwrap();
    let names: Vec<&Value> = runs.iter().map(|run| &run["name"]).collect();
    assert_eq!(names, ["survey", "about", "open-ends"]);
    for run in runs {
        assert_eq!(run["status"], "completed");
        assert_eq!(run["sessionId"].as_str().unwrap().len(), 16);
    }
    let said = |index: usize| runs[index]["output"].as_str().unwrap();
    assert!(said(0).contains("README.md"), "{}", said(0));
    assert!(said(1).contains("A project about tea."), "{}", said(1));
    assert!(said(2).contains("src/main.c:1"), "{}", said(2));
}

#[test]
fn the_tour_works_in_an_empty_directory() {
    let stage = Stage::new();
    let output = stage.command(&["tour"]).run().expect_success();
    assert_eq!(output.stdout.matches("✓").count(), 3);
}

#[test]
fn without_a_model_the_error_says_what_to_do() {
    let stage = Stage::new();
    let output = stage
        .command(&[
            "delegate", "--task", "a=hello", "--runner", "embedded", "--json",
        ])
        .run();
    assert_eq!(output.code, Some(1));
    let message = output.json()["runs"][0]["errorMessage"].clone();
    let message = message.as_str().unwrap();
    insta::assert_snapshot!(stage.sandbox.normalise(message), @"
    No model selected.

    Name one with --model provider/id, or set defaultProvider and defaultModel in $HOME/.pi/agent/settings.json.
    ");
}

#[test]
fn no_arguments_say_in_ten_lines_what_it_is() {
    let stage = Stage::new();
    let output = stage.command(&[]).run().expect_success();
    assert!(output.stdout.lines().count() <= 11);
    assert!(output.stdout.contains("pi-subagents tour"));
}

#[test]
fn status_is_empty_and_friendly_at_first() {
    let stage = Stage::new();
    let output = stage.command(&["status", "--json"]).run().expect_success();
    assert_eq!(
        output.json(),
        json!({
            "counts": {
                "running": 0, "queued": 0, "completed": 0, "failed": 0, "aborted": 0, "total": 0,
            },
            "totals": {
                "runs": 0,
                "toolCalls": 0,
                "usage": {
                    "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0,
                    "cost": null,
                },
            },
            "runs": [],
        })
    );
}
