//! Programs that a repository names: hooks, monitors and merge drivers are never run, and a filter that
//! is not installed keeps nobody from working.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pretty_assertions::assert_eq;
use serde_json::json;

use super::stage::WorktreeStage;

/// The hooks that git could run for what we do.
const HOOKS: [&str; 12] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-commit",
    "prepare-commit-msg",
    "reference-transaction",
];

#[test]
fn no_hook_monitor_or_merge_driver_runs_in_the_life_of_a_worktree() {
    let stage = WorktreeStage::new();
    stage.write(".gitattributes", "kept.txt merge=own\n");
    stage.git(&["add", "."]);
    stage.git(&["commit", "--quiet", "-m", "attributes"]);
    let mark = stage.home_path("ran");
    let program = format!("#!/bin/sh\necho \"$0\" >> {mark}\n");
    for name in HOOKS {
        let hook = stage.project().join(".git/hooks").join(name);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, &program).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let monitor = stage.project().join(".git/hooks/fsmonitor-watchman");
    let driver = format!("echo driver >> {mark}");
    stage.git(&["config", "merge.own.driver", &driver]);
    // This is the last setting, because git asks the monitor from now on.
    stage.git(&["config", "core.fsmonitor", monitor.to_str().unwrap()]);
    _ = fs::remove_file(&mark);

    stage.run(&[
        ("clashes", "sed -i s/two/child/ kept.txt"),
        ("merged", "echo new > new.txt"),
        ("committed", "echo new > committed.txt"),
        ("unwanted", "echo new > unwanted.txt"),
        ("old", "echo new > old.txt"),
        ("idle", "true"),
    ]);
    stage.write("kept.txt", "one\nmine\nthree\n");
    let check = stage.ours(&["merge", "--check"]).run();
    assert!(
        check.stdout.contains("kept.txt (driver)"),
        "{}",
        check.stdout
    );
    let merge = |arguments: &[&str]| stage.ours(&["merge"]).args(arguments).run();
    assert_eq!(merge(&["clashes"]).code, Some(1));
    merge(&["merged"]).expect_success();
    merge(&["committed", "--commit"]).expect_success();
    let discard = stage.ours(&["discard", "unwanted", "--yes"]).run();
    discard.expect_success();
    stage.age_runs();
    stage.ours(&["worktrees", "prune"]).run().expect_success();
    assert!(
        !fs::exists(&mark).unwrap(),
        "{:?}",
        fs::read_to_string(&mark)
    );

    // The hooks are in order: a commit by hand runs them.
    stage.git(&["commit", "--quiet", "--allow-empty", "-m", "by hand"]);
    let ran = fs::read_to_string(&mark).unwrap();
    assert!(ran.contains("pre-commit"), "{ran}");
}

#[test]
fn a_required_filter_that_is_not_installed_keeps_nobody_from_working() {
    let stage = WorktreeStage::new();
    stage.write(".gitattributes", "*.big filter=big\n");
    stage.write("a.big", "pointer\n");
    stage.git(&["add", "."]);
    stage.git(&["commit", "--quiet", "-m", "large files"]);
    let settings = "[filter \"big\"]\n\tprocess = no-such-filter filter-process\n\tclean = \
                    no-such-filter clean -- %f\n\tsmudge = no-such-filter smudge -- %f\n\t\
                    required = true\n";
    fs::write(stage.home_path(".gitconfig"), settings).unwrap();
    let run = stage.run(&[("api", "cat a.big > seen.txt; echo changed > a.big")]);
    let workspace = &run["runs"][0]["workspace"];
    assert_eq!(
        workspace["files"],
        json!([
            {"path": "a.big", "status": "modified", "added": 1, "removed": 1},
            {"path": "seen.txt", "status": "added", "added": 1, "removed": 0},
        ])
    );
    assert_eq!(
        workspace["notes"],
        json!([
            "no-such-filter is not installed, so files with the filter big are as the repository holds them"
        ])
    );
    stage.ours(&["merge", "api"]).run().expect_success();
    assert_eq!(stage.read("seen.txt"), "pointer\n");
    assert_eq!(stage.read("a.big"), "changed\n");
}
