//! Old worktrees go by themselves, and results never do.

use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::WorktreeStage;

#[test]
fn old_directories_go_and_their_results_stay() {
    let stage = WorktreeStage::new();
    let other = stage.home_path("my-own-worktree");
    stage.git(&["worktree", "add", "--quiet", "--detach", &other]);
    stage.run(&[("old", "echo one > a.txt"), ("kept", "echo two > b.txt")]);
    assert_eq!(
        stage.ours(&["keep", "kept"]).run().stdout,
        "kept: its worktree stays until it is merged or discarded\n"
    );
    stage.ours(&["worktrees", "prune"]).run().expect_success();
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 4);
    stage.age_runs();
    let pruned = stage.ours(&["worktrees", "prune"]).run().expect_success();
    let line = "old: its directory was removed; its result stays  ";
    assert!(pruned.stdout.starts_with(line), "{}", pruned.stdout);
    let listed = stage.git(&["worktree", "list", "--porcelain"]);
    assert!(listed.contains(&other), "{listed}");
    assert_eq!(listed.matches("worktree ").count(), 3, "{listed}");
    // A result that nobody merged is there for ever.
    stage.ours(&["merge", "old", "kept"]).run().expect_success();
    assert_eq!(stage.status(), "?? a.txt\n?? b.txt");
}

/// Goes on with the conversation of the task, and returns what its run changed and where it worked.
fn gone_on(stage: &WorktreeStage, script: &str) -> (Value, Value) {
    let prompt = stage.prompt(script);
    let again = stage.ours(&["resume", "api", &prompt, "--json"]).run();
    let json = again.expect_success().json();
    let workspace = &json["runs"][0]["workspace"];
    (workspace["files"].clone(), workspace["path"].clone())
}

#[test]
fn a_conversation_goes_on_after_its_directory_was_pruned_or_discarded() {
    let stage = WorktreeStage::new();
    let first = stage.run(&[("api", "echo one > a.txt")]);
    let path = first["runs"][0]["workspace"]["path"].clone();
    let directory = PathBuf::from(path.as_str().unwrap());
    stage.age_runs();
    stage.ours(&["worktrees", "prune"]).run().expect_success();
    assert!(!directory.exists());
    // The changes that wait to be merged are there again, at the same place.
    let (files, place) = gone_on(&stage, "test -s a.txt && echo two >> a.txt");
    assert_eq!(place, path);
    let file = |added| json!([{"path": "a.txt", "status": "added", "added": added, "removed": 0}]);
    assert_eq!(files, file(2));
    // A discarded change was not wanted, so the next run begins with the checkout.
    let discarded = stage.ours(&["discard", "api", "--yes"]).run();
    discarded.expect_success();
    assert!(!directory.exists());
    let (files, place) = gone_on(&stage, "test ! -e a.txt && echo three > a.txt");
    assert_eq!(place, path);
    assert_eq!(files, file(1));
    assert_eq!(stage.status(), "");
    stage.ours(&["merge", "api"]).run().expect_success();
    assert_eq!(stage.read("a.txt"), "three\n");
}

#[test]
fn a_worktree_that_is_gone_cannot_be_kept() {
    let stage = WorktreeStage::new();
    stage.run(&[
        ("merged", "echo one > a.txt"),
        ("discarded", "echo two > b.txt"),
        ("waits", "echo three > c.txt"),
        ("idle", "true"),
    ]);
    stage.plain(&[("here", "true")]).run().expect_success();
    stage.ours(&["merge", "merged"]).run().expect_success();
    let discard = stage.ours(&["discard", "discarded", "--yes"]).run();
    discard.expect_success();
    let kept = stage
        .ours(&["keep", "merged", "discarded", "waits", "idle", "here"])
        .run();
    assert_eq!(kept.code, Some(4));
    let alone = stage.ours(&["keep", "merged"]).run();
    assert_eq!(alone.code, Some(5));
    let said = format!("{}\n{}", kept.stdout, alone.stderr);
    insta::assert_snapshot!(stage.normalise(&said), @"
    waits: its worktree stays until it is merged or discarded
    ✗ merged has nothing to keep: it was merged  <run-1>
    ✗ discarded has nothing to keep: it was discarded  <run-2>
    ✗ idle has nothing to keep: nothing was changed  <run-3>
    ✗ here has nothing to keep: it has no worktree  <run-4>

    merged (run: <run-1>, session: <session-1>, started <past>)
    error: merged has nothing to keep: it was merged (run <run-1>)
    ");
}

#[test]
fn the_list_has_sizes_conflicts_and_what_no_run_knows() {
    let stage = WorktreeStage::new();
    stage.run(&[
        ("fits", "echo one > a.txt"),
        ("clashes", "echo mine > kept.txt"),
    ]);
    stage.write("kept.txt", "of the user\n");
    let stray = stage.home_path(".pi/subagent-worktrees/somewhere/lost");
    std::fs::create_dir_all(&stray).unwrap();
    insta::assert_snapshot!(stage.printed(&["worktrees"]), @"
    fits  <run-1>  <past>
      worktree: 1 file +1 −0; not merged (pi-subagents merge <run-1>)
      $HOME/.pi/subagent-worktrees/project-HEX/fits-HEX (SIZE)
      fits its checkout
    clashes  <run-2>  <past>
      worktree: 1 file +1 −3; not merged (pi-subagents merge <run-2>)
      $HOME/.pi/subagent-worktrees/project-HEX/clashes-HEX (SIZE)
      conflicts with its checkout: kept.txt:1
    no run knows  <past>
      $HOME/.pi/subagent-worktrees/somewhere/lost (SIZE)
    ");
    assert!(std::path::Path::new(&stray).exists());
}
