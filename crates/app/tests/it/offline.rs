//! The features that work on a fresh machine with nothing configured.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;

#[test]
fn three_sub_agents_look_at_the_directory() {
    let stage = Stage::new();
    stage
        .sandbox
        .write("project/README.md", "# Teapot\n\nA project about tea.\n");
    stage
        .sandbox
        .write("project/src/main.c", "int main() { /* TODO: pour */ }\n");
    let output = stage
        .command(&["tour", "--here", "--json"])
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
fn the_look_at_an_empty_directory_works() {
    let stage = Stage::new();
    let output = stage.command(&["tour", "--here"]).run().expect_success();
    assert_eq!(output.stdout.matches("✓").count(), 3);
}

#[test]
fn the_version_is_a_command_too() {
    let stage = Stage::new();
    let as_command = stage.command(&["version"]).run().expect_success();
    let as_option = stage.command(&["--version"]).run().expect_success();
    assert_eq!(as_command.stdout, as_option.stdout);
}

#[test]
fn colours_are_printed_when_somebody_asks_for_them() {
    let stage = Stage::new();
    let coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let command = stage.command(&[&["doctor"], arguments].concat());
        let command = variables
            .iter()
            .fold(command, |command, (name, value)| command.env(name, *value));
        command.run().stdout.contains('\u{1b}')
    };
    assert!(!coloured(&[], &[]));
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert!(!coloured(&[], &both));
    assert!(!coloured(&["--color=never"], &both[..1]));
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
            "schemaVersion": 1,
            "type": "result",
            "counts": {
                "queued": 0, "running": 0, "completed": 0, "failed": 0, "stopped": 0, "total": 0,
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
