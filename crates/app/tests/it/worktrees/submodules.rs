//! A project with a submodule: the worktree has it too, and what is changed in it is merged there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pretty_assertions::assert_eq;

use super::stage::WorktreeStage;

/// Runs git in a directory, which must succeed.
fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {said}");
    let printed = String::from_utf8_lossy(&output.stdout);
    printed.trim_end().to_owned()
}

/// A project with the submodule `libs/inner`, whose origin is gone.
fn with_submodule() -> (WorktreeStage, PathBuf) {
    let stage = WorktreeStage::new();
    let origin = stage.stage().sandbox.root().join("origin");
    fs::create_dir(&origin).unwrap();
    git(&origin, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(origin.join("lib.txt"), "library\n").unwrap();
    git(&origin, &["add", "."]);
    git(&origin, &["commit", "--quiet", "-m", "library"]);
    let from = origin.to_str().unwrap();
    let project = stage.project();
    git(
        &project,
        &["submodule", "--quiet", "add", from, "libs/inner"],
    );
    git(&project, &["commit", "--quiet", "-m", "with a library"]);
    fs::remove_dir_all(origin).unwrap();
    let submodule = project.join("libs/inner");
    (stage, submodule)
}

#[test]
fn what_a_run_changed_in_a_submodule_is_merged_in_the_submodule() {
    let (stage, submodule) = with_submodule();
    stage.run(&[(
        "api",
        "cat libs/inner/lib.txt > seen.txt; echo changed > libs/inner/lib.txt",
    )]);
    let inside = |arguments: &[&str]| stage.ours(arguments).cwd(&submodule).run();
    let said = [
        stage.printed(&["worktrees"]),
        stage.printed(&["diff", "api", "--stat"]),
        stage.printed(&["merge", "api"]),
        stage.normalise(&inside(&["diff", "api", "--stat"]).stdout),
        stage.normalise(&inside(&["merge", "api"]).stdout),
    ];
    insta::assert_snapshot!(said.join("\n"), @"
    api  <run-1>  <past>
      worktree: 1 file +1 −0; not merged (pi-subagents merge <run-1>)
      $HOME/.pi/subagent-worktrees/project-HEX/api-HEX (SIZE)
      ! the submodule libs/inner has its own changes; merge run <run-1> there too, in libs/inner
      fits its checkout

    seen.txt  +1 −0  added
    api (run: <run-1>, session: <session-1>, started <past>)
    1 file +1 −0
    ! the submodule libs/inner has its own changes; merge run <run-1> there too, in libs/inner

    ✓ api: merged, 1 file +1 −0
    api (run: <run-1>, session: <session-1>, started <past>)
    ! api: the submodule libs/inner has its own changes; merge run <run-1> there too, in libs/inner

    lib.txt  +1 −1  modified

    ✓ api: merged, 1 file +1 −1
    ");
    assert_eq!(stage.read("seen.txt"), "library\n");
    assert_eq!(stage.read("libs/inner/lib.txt"), "changed\n");
    assert_eq!(git(&submodule, &["status", "--porcelain"]), " M lib.txt");
    for place in [stage.project(), submodule] {
        assert_eq!(git(&place, &["worktree", "list"]).lines().count(), 1);
    }
}

#[test]
fn a_run_in_the_submodule_has_a_worktree_of_the_submodule() {
    let (stage, submodule) = with_submodule();
    let tasks = [("api", "echo new > new.txt")];
    let run = stage.command(&tasks).cwd(&submodule).run();
    let run = run.expect_success().json();
    let workspace = &run["runs"][0]["workspace"];
    assert_eq!(workspace["files"][0]["path"], "new.txt");
    let merged = stage.ours(&["merge", "api"]).cwd(&submodule).run();
    assert_eq!(merged.stdout, "✓ api: merged, 1 file +1 −0\n");
    assert_eq!(git(&submodule, &["status", "--porcelain"]), "?? new.txt");
}
