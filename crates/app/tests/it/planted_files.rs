//! Files that a clone brought along lead nowhere, hang nothing and count for nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_testkit::{Signal, wait_for_file};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::background_stage::BackgroundStage;
use crate::stage::{Stage, call, completed, outcomes};

const PATIENCE: Duration = Duration::from_mins(1);

/// Runs one task in a project and returns the directory of its record.
fn recorded(stage: &Stage) -> PathBuf {
    let answer = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .run()
        .json();
    PathBuf::from(answer["runs"][0]["directory"].as_str().unwrap())
}

/// Copies a record of somebody else into the project of a stage, as if it were open and in the
/// background on another machine.
fn plant(stage: &Stage, foreign: &Path, number: usize) -> PathBuf {
    let name = format!("planted-{number}");
    let directory = stage
        .sandbox
        .project()
        .join(".pi/subagents/runs")
        .join(&name);
    fs::create_dir_all(&directory).unwrap();
    let content = fs::read_to_string(foreign.join("meta.json")).unwrap();
    let mut meta: Value = serde_json::from_str(&content).unwrap();
    meta["runId"] = json!(name);
    meta["acceptedAt"] = json!("9999-01-01T00:00:00Z");
    meta["owner"]["host"] = json!("elsewhere");
    meta["owner"]["detached"] = json!({"piSession": null});
    let content = serde_json::to_string_pretty(&meta).unwrap();
    fs::write(directory.join("meta.json"), content).unwrap();
    directory
}

#[test]
fn records_of_a_clone_are_neither_shown_nor_written_to() {
    let somebody = Stage::new();
    let foreign = recorded(&somebody);
    let stage = Stage::new();
    // Without a run of the user's own there is no key that a seal could fit.
    recorded(&stage);
    let victim = stage.sandbox.write("home/.bashrc", "kept\n");
    let planted = plant(&stage, &foreign, 1);
    symlink(&victim, planted.join("events.jsonl")).unwrap();
    let run = planted.file_name().unwrap().to_str().unwrap();
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["counts"]["running"], 0, "{status}");
    assert!(!status.to_string().contains(run), "{status}");
    for arguments in [["output", "typo"], ["output", run], ["stop", run]] {
        assert_eq!(
            stage.command(&arguments).run().code,
            Some(3),
            "{arguments:?}"
        );
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept\n");
    let index = stage.sandbox.agent_dir().join("subagents-index.jsonl");
    assert!(!fs::read_to_string(index).unwrap().contains(run));
    let left: Vec<_> = fs::read_dir(&planted).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn an_own_record_is_not_closed_through_a_link() {
    let stage = Stage::new();
    let ready = stage.path("ready");
    let owner = stage
        .delegate(&call(&[("a", json!([{"touch": ready}, {"hang": true}]))]))
        .spawn();
    wait_for_file(&ready, PATIENCE);
    owner.kill(Signal::KILL);
    _ = owner.wait_for_exit();
    let runs = stage.sandbox.project().join(".pi/subagents/runs");
    let mut directories = fs::read_dir(runs)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let directory = directories.find(|path| path.is_dir()).unwrap();
    let victim = stage.sandbox.write("home/.bashrc", "kept\n");
    fs::remove_file(directory.join("events.jsonl")).unwrap();
    symlink(&victim, directory.join("events.jsonl")).unwrap();
    fs::remove_file(stage.sandbox.agent_dir().join("subagents-index.jsonl")).unwrap();
    let status = stage.command(&["status", "--all", "--json"]).run().json();
    assert_eq!(status["counts"]["running"], 0, "{status}");
    assert_eq!(fs::read_to_string(&victim).unwrap(), "kept\n");
}

#[test]
fn planted_background_runs_take_no_places() {
    let somebody = Stage::new();
    let foreign = recorded(&somebody);
    let background = BackgroundStage::new();
    recorded(&background.stage);
    background.settings(&json!({"maxBackground": 2}));
    for number in 0..16 {
        plant(&background.stage, &foreign, number);
    }
    let status = background.command(&["status", "--all", "--json"]).run();
    assert_eq!(status.json()["counts"]["running"], 0);
    let started = background
        .command(&["spawn", "worker", r#"[{"reply": "hello"}]"#])
        .run();
    assert_eq!(started.code, Some(0), "{started}");
}

#[test]
fn records_are_ignored_by_git_also_where_the_repository_says_otherwise() {
    for shipped in [(".gitkeep", ""), (".gitignore", "!*\n")] {
        let stage = Stage::new();
        let file = format!("project/.pi/subagents/runs/{}", shipped.0);
        stage.sandbox.write(&file, shipped.1);
        let directory = recorded(&stage);
        let ignore = directory.parent().unwrap().join(".gitignore");
        assert_eq!(fs::read_to_string(ignore).unwrap(), "*\n", "{shipped:?}");
    }
}

#[test]
fn the_temporary_directory_and_the_home_are_no_projects() {
    let stage = Stage::new();
    let temporary = stage.sandbox.root().join("temporary");
    let inner = temporary.join("inner");
    fs::create_dir_all(&inner).unwrap();
    for place in [&temporary, &stage.sandbox.home()] {
        fs::create_dir_all(place.join(".pi/agent-profiles")).unwrap();
        fs::create_dir_all(place.join(".git")).unwrap();
        fs::write(place.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let profile = "---\nname: stranger\n---\nObey.\n";
        fs::write(place.join(".pi/agent-profiles/stranger.md"), profile).unwrap();
    }
    let directory_from = |cwd: &Path| {
        let answer = stage
            .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
            .env("TMPDIR", &temporary)
            .cwd(cwd)
            .run()
            .json();
        PathBuf::from(answer["runs"][0]["directory"].as_str().unwrap())
    };
    let elsewhere = stage.sandbox.agent_dir().join("subagents/runs");
    for place in [&temporary, &stage.sandbox.home()] {
        assert!(directory_from(place).starts_with(&elsewhere), "{place:?}");
        let listed = stage
            .command(&["agents", "list", "--json"])
            .env("TMPDIR", &temporary)
            .cwd(place)
            .run();
        assert!(!listed.stdout.contains("stranger"), "{listed}");
    }
    assert!(directory_from(&inner).starts_with(&inner));
    assert!(!temporary.join(".pi/subagents").exists());
}
#[test]
fn no_file_of_a_clone_hangs_us_or_is_read_without_end() {
    let stage = Stage::new();
    let project = stage.sandbox.project();
    fs::create_dir_all(project.join(".pi/agents")).unwrap();
    fs::create_dir_all(project.join(".pi/subagents/runs/bad")).unwrap();
    symlink("/dev/zero", project.join(".pi/settings.json")).unwrap();
    symlink("/dev/zero", project.join(".pi/agents/zero.md")).unwrap();
    symlink(
        "/dev/zero",
        project.join(".pi/subagents/runs/bad/meta.json"),
    )
    .unwrap();
    symlink("/", project.join(".pi/skills")).unwrap();
    symlink("/", project.join(".agents")).unwrap();
    let pipe = project.join(".pi/agents/pipe.md");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    for arguments in [
        &["trust", "--show"][..],
        &["trust", "--yes"],
        &["agents", "list", "--json"],
        &["status", "--all", "--json"],
        &["doctor", "--json"],
    ] {
        let output = stage.command(arguments).patience(PATIENCE).run();
        assert!(
            output.code.is_some_and(|code| code <= 1),
            "{arguments:?}\n{output}"
        );
    }
    let output = stage
        .delegate(&call(&[("a", json!([{"reply": "hello"}]))]))
        .patience(PATIENCE)
        .run();
    assert_eq!(outcomes(&output), [completed("a", "hello")]);
}
