//! The results of runs in worktrees, on the page: seen, checked, merged and discarded, by programs
//! and by a person in a real Chromium.

use std::fs;
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::web_page::play;
use crate::web_stage::WebStage;

/// A page of a repository with one commit.
pub(crate) fn web_of_repository(options: &[&str]) -> WebStage {
    let stage = Stage::new();
    stage.sandbox.write("project/a.txt", "one\n");
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.com"],
        &["add", "a.txt"],
        &["commit", "-qm", "first"],
    ] {
        let status = Command::new("git")
            .args(arguments)
            .current_dir(stage.sandbox.project())
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }
    WebStage::of(stage, options)
}

/// Runs a task in a worktree that changes `a.txt` and adds a file.
fn isolated(web: &WebStage, name: &str, text: &str) -> String {
    let command = format!("echo {text} > a.txt; echo new > {name}.txt");
    let rules = json!([{"turns": [
        {"toolCalls": [{"name": "bash", "arguments": {"command": command}}]},
        {"text": "Changed."},
    ]}]);
    let model = web.script(&rules);
    let call = json!({"tasks": [{"name": name, "prompt": "Change it"}]});
    let output = web
        .command(&["delegate", "-", "--model", &model])
        .args(["--runner", "embedded", "--isolation", "worktree", "--json"])
        .stdin(call.to_string())
        .run();
    let runs = output.json();
    assert_eq!(runs["runs"][0]["workspace"]["state"], "captured", "{runs}");
    runs["runs"][0]["runId"].as_str().unwrap().to_owned()
}

fn state(web: &WebStage, run: &str) -> Value {
    web.json(&format!("/v1/runs/{run}"))["workspace"]["state"].clone()
}

fn read(web: &WebStage, name: &str) -> String {
    fs::read_to_string(web.stage.sandbox.project().join(name)).unwrap_or_default()
}

#[test]
fn merging_a_run_leaves_no_earlier_run_of_its_worktree_waiting() {
    let web = web_of_repository(&[]);
    let first = isolated(&web, "api", "two");
    let rules = json!([{"turns": [
        {"toolCalls": [{"name": "bash", "arguments": {"command": "echo three > a.txt"}}]},
        {"text": "Changed again."},
    ]}]);
    let model = web.script(&rules);
    let resumed = web
        .command(&["resume", &first, "Go on", "--model", &model])
        .args(["--json"])
        .run()
        .json();
    let second = resumed["runs"][0]["runId"].as_str().unwrap();
    let merged = web.post(&format!("/v1/runs/{second}/merge"), &json!({}));
    assert_eq!(merged.status, 200, "{}", merged.body);
    assert_eq!(read(&web, "a.txt"), "three\n");
    let states = [first.as_str(), second].map(|run| state(&web, run));
    assert_eq!(states, ["merged", "merged"]);
}

#[test]
fn a_result_is_seen_checked_merged_and_discarded() {
    let web = web_of_repository(&[]);
    let (api, other) = (isolated(&web, "api", "two"), isolated(&web, "ui", "three"));
    let changes = web.json(&format!("/v1/runs/{api}/changes"));
    let files = changes["files"].as_array().unwrap();
    let told: Vec<Value> = files
        .iter()
        .map(|file| json!([file["path"], file["status"], file["added"], file["removed"]]))
        .collect();
    assert_eq!(
        told,
        [
            json!(["a.txt", "modified", 1, 1]),
            json!(["api.txt", "added", 1, 0])
        ]
    );
    let patch = files[0]["patch"].as_str().unwrap();
    assert!(patch.ends_with("@@ -1 +1 @@\n-one\n+two\n"), "{patch}");
    let printed = web.command(&["diff", &api]).run().expect_success();
    let lines = &patch[patch.find("@@").unwrap()..];
    assert!(printed.stdout.contains(lines), "{}", printed.stdout);
    assert_eq!(
        web.json(&format!("/v1/fits?runs={api}"))["clean"],
        json!(true)
    );
    let both = web.json(&format!("/v1/fits?runs={api},{other}"));
    assert_eq!(
        both["results"][0]["others"][0]["conflicts"][0]["path"],
        "a.txt"
    );
    let merged = web.post(&format!("/v1/runs/{api}/merge"), &json!({}));
    assert_eq!(merged.status, 200, "{}", merged.body);
    assert!(
        merged.body.contains("✓ api: merged, 2 files"),
        "{}",
        merged.body
    );
    assert_eq!(
        (read(&web, "a.txt"), read(&web, "api.txt")),
        ("two\n".into(), "new\n".into())
    );
    assert_eq!(state(&web, &api), "merged");
    // It can still be read, and what does not fit is refused whole.
    assert_eq!(
        web.json(&format!("/v1/runs/{api}/changes"))["files"],
        changes["files"]
    );
    let refused = web.post(&format!("/v1/runs/{other}/merge"), &json!({}));
    let refused: Value = serde_json::from_str(&refused.body).unwrap();
    assert_eq!(refused["failed"], json!(true), "{refused}");
    assert_eq!(
        (read(&web, "a.txt"), read(&web, "ui.txt")),
        ("two\n".into(), String::new())
    );
    assert_eq!(state(&web, &other), "captured");
    let gone = web.post(&format!("/v1/runs/{other}/discard"), &json!({}));
    assert!(
        gone.body.contains("ui: discarded; git branch NAME "),
        "{}",
        gone.body
    );
    assert_eq!(state(&web, &other), "discarded");
    let again = web.post(&format!("/v1/runs/{other}/discard"), &json!({}));
    assert_eq!(again.status, 409, "{}", again.body);
    assert_eq!(
        web.get(&format!("/v1/runs/{}/changes", "nothing")).status,
        404
    );
}

#[test]
fn a_person_reads_the_changes_merges_one_result_and_discards_another() {
    let web = web_of_repository(&[]);
    let (api, other) = (isolated(&web, "api", "two"), isolated(&web, "ui", "three"));
    let seen = play(
        &web.stage,
        "results",
        &json!({"url": web.url, "api": api, "ui": other}),
    );
    assert_eq!(
        seen,
        json!({
            "files": ["a.txt modified +1 −1", "api.txt added +1"],
            "diff": ["1-one", "1+two", "1+new"],
            "contents": ["a.txt +1 −1", "api.txt +1"],
            "waiting": ["To merge 2", "To merge 1"],
            "fits": ["✓ fits your checkout", "✗ conflicts in a.txt (line 1)"],
            "isBarred": true,
            "kept": true,
        })
    );
    assert_eq!(
        (state(&web, &api), state(&web, &other)),
        (json!("merged"), json!("discarded"))
    );
    assert_eq!(read(&web, "a.txt"), "two\n");
}

#[test]
fn a_page_for_looking_shows_results_and_changes_nothing() {
    let web = web_of_repository(&["--read-only"]);
    let run = isolated(&web, "api", "two");
    let seen = play(&web.stage, "looking", &json!({"url": web.url, "run": run}));
    assert_eq!(seen, json!({"files": 2, "acts": 0}));
    assert_eq!(state(&web, &run), "captured");
}
