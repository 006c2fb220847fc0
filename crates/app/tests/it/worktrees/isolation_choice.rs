//! Tasks, definitions and options that ask for a worktree, and the state that it begins from.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::WorktreeStage;

#[test]
fn a_worktree_begins_from_what_the_task_names() {
    let stage = WorktreeStage::new();
    stage.git(&["tag", "first"]);
    stage.write("kept.txt", "second\n");
    stage.git(&["commit", "--quiet", "-am", "second"]);
    stage.write("kept.txt", "uncommitted\n");
    let mut seen = Vec::new();
    for base in ["working", "head", "first"] {
        let prompt = stage.prompt("cat kept.txt > seen.txt");
        let task = json!({"name": base, "prompt": prompt, "isolation": "worktree", "base": base});
        let run = stage.call(&json!({"tasks": [task]}));
        let path = run["runs"][0]["workspace"]["path"].as_str().unwrap();
        seen.push(std::fs::read_to_string(format!("{path}/seen.txt")).unwrap());
    }
    assert_eq!(seen, ["uncommitted\n", "second\n", "one\ntwo\nthree\n"]);
}

#[test]
fn a_base_that_is_not_there_and_one_without_a_worktree_are_refused() {
    let stage = WorktreeStage::new();
    let message = |options: &[&str]| {
        let output = stage.plain(&[("api", "ls")]).args(options).run().json();
        let message = output["runs"][0]["errorMessage"].as_str().unwrap();
        stage.normalise(message)
    };
    let there = message(&["--isolation", "worktree", "--base", "no-such-branch"]);
    insta::assert_snapshot!(there, @r#"Its worktree could not be made: $PROJECT: there is no branch, tag or commit "no-such-branch" here"#);
    insta::assert_snapshot!(message(&["--base", "head"]), @"base is head, and the sub-agent has no worktree that could begin from it; set isolation to worktree, or leave base out");
    assert_eq!(stage.git(&["for-each-ref", "refs/pi-subagents"]), "");
}

#[test]
fn an_old_git_is_refused_in_words() {
    let stage = WorktreeStage::new();
    let old = "#!/bin/sh\ncase \" $* \" in *' version '*) echo 'git version 2.39.5'; exit;; esac\nexit 1\n";
    let path = stage.stand_in("git", old);
    let command = stage.command(&[("api", "echo x > escaped.txt")]);
    let output = command.env("PATH", path).run().json();
    assert_eq!(
        output["runs"][0]["errorMessage"],
        "Its worktree could not be made: git 2.39.5 is too old for this; it needs 2.43 or newer"
    );
    assert!(!stage.project().join("escaped.txt").exists());
}

#[test]
fn definitions_of_both_kinds_ask_for_it_and_the_task_wins() {
    let stage = WorktreeStage::new();
    let agent_dir = stage.home_path(".pi/agent");
    for (folder, name) in [("agent-profiles", "apart"), ("subagents", "also-apart")] {
        std::fs::create_dir_all(format!("{agent_dir}/{folder}")).unwrap();
        let text =
            format!("---\nname: {name}\ndescription: d\nisolation: worktree\n---\nBe apart.\n");
        std::fs::write(format!("{agent_dir}/{folder}/{name}.md"), text).unwrap();
    }
    let mut states = Vec::new();
    for (profile, isolation) in [("apart", ""), ("also-apart", ""), ("apart", "none")] {
        let prompt = stage.prompt("echo x > a.txt");
        let task =
            json!({"name": "t", "prompt": prompt, "profile": profile, "isolation": isolation});
        let run = stage.call(&json!({"tasks": [task]}));
        states.push(run["runs"][0]["workspace"]["state"].clone());
    }
    assert_eq!(states, [json!("captured"), json!("captured"), json!(null)]);
}

#[test]
fn a_sticky_session_belongs_to_the_project_and_goes_on_in_its_worktree() {
    let stage = WorktreeStage::new();
    let model = stage.model();
    let run = |script: &str| {
        let prompt = stage.prompt(script);
        let call = json!({"preset": "default", "task": prompt, "sessionId": "sticky", "isolation": "worktree"});
        let options = [
            "run", "--file", "-", "--runner", "embedded", "--json", "--model", &model,
        ];
        let command = stage.ours(&options).stdin(call.to_string());
        command.run().expect_success().json()
    };
    let first = run("echo one > a.txt");
    let second = run("echo two >> a.txt");
    let of = |run: &serde_json::Value| run["runs"][0]["workspace"].clone();
    assert_eq!(of(&first)["path"], of(&second)["path"]);
    assert_eq!(of(&second)["files"][0]["added"], 2);
    // The directory is removed by hand, and the next run finds it again at the same place.
    let path = of(&second)["path"].as_str().unwrap().to_owned();
    stage.git(&["worktree", "remove", "--force", &path]);
    let third = run("echo three >> a.txt");
    assert_eq!(of(&third)["path"].as_str(), Some(path.as_str()));
    assert_eq!(of(&third)["files"][0]["added"], 3);
    assert_eq!(stage.status(), "");
}
