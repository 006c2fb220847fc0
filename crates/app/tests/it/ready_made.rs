//! The ready-made agents: nothing is there before somebody adds it, and each does its work.

use std::process::Command;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;

/// Each agent with the report of a scripted model, if it must report data.
fn agents() -> [(&'static str, Option<Value>); 8] {
    let tested = json!({"passed": true, "command": "make test", "failures": []});
    let secure = json!({
        "findings": [{
            "severity": "high", "place": "a.txt:1", "problem": "A key is committed.",
            "attack": "Whoever reads the repository has it.", "fix": "Take it out and replace it.",
            "checked": true,
        }],
        "looked_at": ["a.txt"],
    });
    let opinion = json!({
        "verdict": "agree",
        "reasons": [{"claim": "It is small.", "opinion": "It has three lines.", "weight": "small"}],
    });
    [
        ("scout", None),
        ("reviewer", None),
        ("tester", Some(tested)),
        ("fixer", None),
        ("planner", None),
        ("security-reviewer", Some(secure)),
        ("documenter", None),
        ("second-opinion", Some(opinion)),
    ]
}

/// A sandbox whose project is a repository, because some of the agents work in a worktree.
fn repository() -> Stage {
    let stage = Stage::new();
    stage.sandbox.write("project/a.txt", "one\n");
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "a.txt"],
        &[
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.com",
            "commit",
            "--quiet",
            "-m",
            "first",
        ],
    ] {
        let mut git = Command::new("git");
        let git = git.args(arguments).current_dir(stage.sandbox.project());
        assert!(
            git.env("HOME", stage.sandbox.home())
                .status()
                .unwrap()
                .success()
        );
    }
    stage
}

#[test]
fn each_ready_made_agent_is_added_and_does_its_work() {
    let stage = repository();
    let command = |arguments: &[&str]| stage.command(arguments).arg("--json").run();
    let names: Vec<&str> = agents().iter().map(|(name, _)| *name).collect();
    let listed = command(&["agents", "add"]).expect_success().json();
    let listed = listed["agents"].as_array().unwrap();
    let listed: Vec<&str> = listed
        .iter()
        .map(|agent| agent["name"].as_str().unwrap())
        .collect();
    assert_eq!(listed, names);
    let none = command(&["agents"]).expect_success().json();
    assert_eq!(none["agents"], json!([]));
    command(&[&["agents", "add"], &names[..]].concat()).expect_success();
    for (name, report) in agents() {
        let turn = match &report {
            Some(result) => Turn::tool_call(
                "subagent_finalize",
                json!({"status": "SUCCESS", "result": result}),
            ),
            None => Turn::text("Done."),
        };
        let server = LlmServer::start(Script::new().otherwise(vec![turn]));
        stage.sandbox.models_json(&server.base_url());
        let explained = command(&["agents", "explain", name])
            .expect_success()
            .json();
        assert_eq!(explained["problems"], json!([]), "{name}");
        assert_eq!(explained["warnings"], json!([]), "{name}");
        let options = ["--model", "fake/fake-model", "--runner", "embedded"];
        let ran = command(&[&["run", name, "Look around."], &options[..]].concat());
        let run = ran.expect_success().json()["runs"][0].clone();
        assert_eq!(run["status"], "completed", "{name}: {run}");
        assert_eq!(run["agent"], name);
        assert_eq!(run["structured"], report.unwrap_or(Value::Null), "{name}");
    }
}

#[test]
fn an_agent_that_is_there_stays_and_a_misspelt_name_adds_nothing() {
    let stage = Stage::new();
    stage
        .command(&["agents", "add", "scout"])
        .run()
        .expect_success();
    let again = stage.command(&["agents", "add", "planner", "scout"]).run();
    assert_eq!(again.code, Some(2), "{again}");
    assert!(again.stderr.contains("already exists"), "{again}");
    let misspelt = stage
        .command(&["agents", "add", "planner", "reviwer"])
        .run();
    assert_eq!(misspelt.code, Some(3), "{misspelt}");
    assert!(
        misspelt.stderr.contains("Did you mean \"reviewer\"?"),
        "{misspelt}"
    );
    let listed = stage
        .command(&["agents", "--json"])
        .run()
        .expect_success()
        .json();
    assert_eq!(
        listed["agents"].as_array().map(Vec::len),
        Some(1),
        "{listed}"
    );
}
