//! `uninstall`: the list of what is on the machine, with the lines that remove it.

use std::path::Path;
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::stage::{Stage, files_below};

/// Leaves out the sizes, which differ from machine to machine.
fn without_sizes(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(" (") {
        Some((words, rest)) if rest.ends_with("B)") => format!("{words} (SIZE)\n"),
        Some(_) | None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn everything_is_listed_with_its_line_and_nothing_is_changed() {
    let stage = Stage::new();
    _ = stage
        .command(&["tour", "--here", "--quiet"])
        .run()
        .expect_success();
    let sandbox = &stage.sandbox;
    let servers = json!({"mcpServers": {"pi-subagents": {"command": "pi-subagents"}}});
    sandbox.write("home/.claude.json", &servers.to_string());
    sandbox.write("home/.cursor/mcp.json", &servers.to_string());
    sandbox.write("home/.gemini/settings.json", "{}");
    let before = files_below(sandbox.root());
    let output = stage.command(&["uninstall"]).run().expect_success();
    assert_eq!(files_below(sandbox.root()), before);
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let text = sandbox.normalise(&output.stdout.replace(program, "PROGRAM"));
    insta::assert_snapshot!(without_sizes(&text));
}

/// The lines are pasted, except that which removes the program of this build.
#[test]
fn the_lines_leave_nothing_of_ours() {
    let stage = Stage::new();
    _ = stage
        .command(&["tour", "--here", "--quiet"])
        .run()
        .expect_success();
    let output = stage.command(&["uninstall"]).run().expect_success();
    let program = env!("CARGO_BIN_EXE_pi-subagents");
    let lines = output.stdout.lines().map(str::trim);
    let lines = lines.filter(|line| line.starts_with("rm ") && !line.contains(program));
    let lines: Vec<&str> = lines.collect();
    let pasted = Command::new("sh").args(["-ec", &lines.join("\n")]).status();
    assert!(pasted.unwrap().success());
    let is_ours = |file: &Path| file.to_string_lossy().contains("subagents");
    let mut left = files_below(stage.sandbox.root());
    left.retain(|file| is_ours(file));
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
    let again = stage.command(&["uninstall"]).run().expect_success();
    assert!(again.stdout.starts_with("No run is in progress."));
}

#[test]
fn runs_in_progress_are_named_first() {
    let stage = Stage::new();
    let script = json!({"rules": [{"turns": [
        {"toolCalls": [{"name": "bash", "arguments": {"command": "touch at-work; sleep 100"}}]},
    ]}]});
    stage
        .sandbox
        .write("project/model.json", &script.to_string());
    let arguments = [
        "spawn",
        "--runner",
        "embedded",
        "--model",
        "scripted/model.json",
        "Work",
    ];
    _ = stage.command(&arguments).run().expect_success();
    let output = stage.command(&["uninstall"]).run().expect_success();
    let first: Vec<&str> = output.stdout.lines().take(2).collect();
    assert_eq!(
        first,
        [
            "1 run is in progress. Stop what runs first:",
            "  pi-subagents stop --all"
        ]
    );
    _ = stage.command(&["stop", "--all"]).run().expect_success();
}
