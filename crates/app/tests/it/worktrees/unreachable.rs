//! Results that cannot be reached, and checkouts in which nothing can be merged: each is told in words
//! that name the reason.

use std::fs;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::WorktreeStage;

#[test]
fn a_run_that_never_began_has_nothing_to_show_or_to_merge() {
    let stage = WorktreeStage::new();
    let refused = stage
        .plain(&[("api", "ls")])
        .args(["--isolation", "worktree", "--base", "nowhere"])
        .run();
    let text = refused.json()["text"].as_str().unwrap().to_owned();
    assert!(text.contains("there is no branch, tag or commit \"nowhere\" here"));
    let runs = stage.ours(&["status", "--all", "--json"]).run().json();
    assert_eq!(runs["runs"], json!([]));
    // Beside a task that begins, a refused one has a record.
    let other = stage.prompt("ls");
    let tasks = json!({"tasks": [
        {"name": "other", "prompt": other}, {"name": "api", "prompt": other, "profile": "nobody"}]});
    let model = stage.model();
    let options = [
        "delegate", "-", "--runner", "embedded", "--json", "--model", &model,
    ];
    let mixed = stage.ours(&options).stdin(tasks.to_string()).run();
    let text = mixed.json()["text"].as_str().unwrap().to_owned();
    assert!(!text.contains("worktree:"), "{text}");
    let commands = [
        &["diff", "api"][..],
        &["merge", "api"],
        &["keep", "api"],
        &["discard", "api", "--yes"],
    ];
    let said = commands.map(|arguments| {
        let output = stage.ours(arguments).run();
        format!("{:?} {}", output.code, stage.normalise(&output.stderr))
    });
    insta::assert_snapshot!(said.join("\n"), @"
    Some(5) api (run: <run-1>, session: <session-1>, started <past>)
    error: api has no result: it never began (run <run-1>)
    hint: pi-subagents status <run-1> says why.

    Some(5) api (run: <run-1>, session: <session-1>, started <past>)
    error: api has no result: it never began (run <run-1>)
    hint: pi-subagents status <run-1> says why.

    Some(5) api (run: <run-1>, session: <session-1>, started <past>)
    error: api has nothing to keep: it never began (run <run-1>)

    Some(5) api (run: <run-1>, session: <session-1>, started <past>)
    error: api has nothing to discard: it never began (run <run-1>)
    ");
}

#[test]
fn a_result_whose_repository_or_git_is_gone_says_so() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo new > new.txt")]);
    let without_git = stage.stage().sandbox.write("no-git/README", "nothing\n");
    let without_git = without_git.parent().unwrap().display().to_string();
    let no_git = stage.ours(&["merge", "api"]).env("PATH", without_git).run();
    let dot_git = stage.project().join(".git");
    let away = stage.project().join("away");
    fs::rename(&dot_git, &away).unwrap();
    let no_repository = stage.ours(&["merge", "api"]).run();
    fs::rename(&away, &dot_git).unwrap();
    let run = stage.last_run();
    for name in ["base", "result"] {
        let name = format!("refs/pi-subagents/runs/{run}/{name}");
        stage.git(&["update-ref", "-d", &name]);
    }
    let no_refs = stage.ours(&["merge", "api"]).run();
    let said = [no_git, no_repository, no_refs].map(|output| {
        let said = stage.normalise(&output.stderr);
        format!("{:?} {}", output.code, said)
    });
    insta::assert_snapshot!(said.join("\n"), @"
    Some(5) api (run: <run-1>, session: <session-1>, started <past>)
    error: api has no result: its repository cannot be read: git is not installed, or not in PATH (run <run-1>)

    Some(5) api (run: <run-1>, session: <session-1>, started <past>)
    error: api has no result: its repository cannot be read: $PROJECT is not in a git repository (run <run-1>)

    Some(5) api (run: <run-1>, session: <session-1>, started <past>)
    error: api has no result: the refs that kept it are gone from $PROJECT (run <run-1>)
    ");
}

#[test]
fn a_checkout_in_the_middle_of_a_merge_is_finished_first() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo new > new.txt")]);
    stage.git(&["checkout", "--quiet", "-b", "other"]);
    stage.write("kept.txt", "other\n");
    stage.git(&["commit", "--quiet", "-am", "other"]);
    stage.git(&["checkout", "--quiet", "main"]);
    stage.write("kept.txt", "main\n");
    stage.git(&["commit", "--quiet", "-am", "main"]);
    let conflict = std::process::Command::new("git")
        .args(["merge", "--quiet", "other"])
        .current_dir(stage.project())
        .output()
        .unwrap();
    assert!(!conflict.status.success());
    let refused = stage.command(&[("ui", "echo escaped > escaped.txt")]).run();
    let refused = refused.json()["runs"][0]["errorMessage"].clone();
    let merge = stage.ours(&["merge", "api"]).run();
    let check = stage.ours(&["merge", "api", "--check"]).run();
    assert_eq!((merge.code, check.code), (Some(1), Some(1)));
    let said = [refused.as_str().unwrap(), &merge.stderr, &check.stderr];
    insta::assert_snapshot!(stage.normalise(&said.join("\n")), @"
    Its worktree could not be made: $PROJECT has unmerged files (kept.txt); finish or abort the merge, rebase or cherry-pick first
    api (run: <run-1>, session: <session-1>, started <past>)
    error: $PROJECT has unmerged files (kept.txt); finish or abort the merge, rebase or cherry-pick first

    api (run: <run-1>, session: <session-1>, started <past>)
    error: $PROJECT has unmerged files (kept.txt); finish or abort the merge, rebase or cherry-pick first
    ");
    assert!(!stage.project().join("escaped.txt").exists());
    assert!(!stage.project().join("new.txt").exists());
}

#[test]
fn a_commit_needs_a_name_and_a_run_that_is_named_twice_is_merged_once() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo new > new.txt")]);
    stage.git(&["config", "user.useConfigOnly", "true"]);
    stage.git(&["config", "--unset", "user.name"]);
    stage.git(&["config", "--unset", "user.email"]);
    let nobody = stage.ours(&["merge", "api", "--commit"]).run();
    let twice = stage.ours(&["merge", "api", "api"]).run();
    assert_eq!((nobody.code, twice.code), (Some(1), Some(0)));
    let said = [nobody.stdout, twice.stdout].concat();
    insta::assert_snapshot!(said, @"
    ✗ api: not merged; git does not know who you are; tell it with git config user.name and git config user.email, or merge without --commit
    ✓ api: merged, 1 file +1 −0
    ");
}
