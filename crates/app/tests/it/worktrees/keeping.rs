//! Old worktrees go by themselves, and results never do.

use pretty_assertions::assert_eq;

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
    insta::assert_snapshot!(stage.said(&["worktrees"]), @"
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
