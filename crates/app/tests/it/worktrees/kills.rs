//! The owner, and git with it, is killed with -9 at each step of making, capturing and merging. The next
//! command leaves a clean repository, every commit can be reached, and nothing of the user is lost.
//!
//! A stand-in for git counts the commands, kills the owner at the chosen one, and is the real git
//! otherwise. Its parent is the keeper of the owner's programs, and the parent of that is the owner.

use std::process::Command;

use pi_subagents_testkit::sandbox::SandboxCommand;
use pretty_assertions::assert_eq;

use super::stage::WorktreeStage;

/// A moment in the work with git.
#[derive(Clone, Copy)]
struct Moment {
    when: When,
    /// A pattern of the shell for the command.
    command: &'static str,
    /// The number of such commands that go well before.
    after: usize,
}

#[derive(Clone, Copy)]
enum When {
    Before,
    After,
    /// While its filter runs, and git is killed too.
    During,
}

const fn moment(when: When, command: &'static str, after: usize) -> Moment {
    Moment {
        when,
        command,
        after,
    }
}

/// The child makes a commit, leaves it behind, and leaves a file uncommitted.
const WORK: &str = "echo one > a.txt; git add a.txt; git commit -qm one; git rev-parse HEAD > \
                    \"$HOME/commit\"; git reset -q --hard HEAD~1; echo two > b.txt";

/// Returns a command that uses the stand-in for git.
fn killed_at(stage: &WorktreeStage, command: SandboxCommand, at: Moment) -> SandboxCommand {
    let real = Command::new("sh")
        .args(["-c", "command -v git"])
        .output()
        .unwrap();
    let real = String::from_utf8_lossy(&real.stdout).trim().to_owned();
    let when = match at.when {
        When::Before => "kill -9 $owner; exit 137".to_owned(),
        When::After => format!("{real} \"$@\"; kill -9 $owner; exit 137"),
        When::During => format!(
            "{real} \"$@\" & git=$!; until [ -e \"$HOME/smudging\" ]; do sleep 0.01; done; \
             kill -9 $git $owner; exit 137"
        ),
    };
    let (pattern, after) = (at.command, at.after);
    let script = format!(
        "#!/bin/sh\nread _ _ _ owner _ < /proc/$PPID/stat\ncase \" $* \" in\n  {pattern})\n    number=$(ls \"$HOME/seen\" | wc -l)\n    \
         : > \"$HOME/seen/$number\"\n    [ \"$number\" -eq {after} ] && {{ {when}; }} ;;\nesac\n\
         exec {real} \"$@\"\n"
    );
    let bin = stage.stand_in("git", &script);
    command.env("PATH", bin)
}

/// A project whose user has staged, unstaged and untracked work.
fn dirty() -> WorktreeStage {
    let stage = WorktreeStage::new();
    std::fs::create_dir(stage.home_path("seen")).unwrap();
    stage.write("staged.txt", "staged\n");
    stage.git(&["add", "staged.txt"]);
    stage.write("kept.txt", "one\nmine\nthree\n");
    stage.write("untracked.txt", "untracked\n");
    stage
}

const DIRTY: &str = " M kept.txt\nA  staged.txt\n?? untracked.txt";

/// Looks at the repository after the next command about worktrees: nothing is half made, and all is as
/// the user left it.
fn check_clean(stage: &WorktreeStage) {
    _ = stage.ours(&["worktrees"]).run();
    let listed = stage.git(&["worktree", "list", "--porcelain"]);
    for line in listed.lines() {
        let is_odd = line.starts_with("locked") || line.starts_with("prunable");
        assert!(!is_odd, "{listed}");
    }
    assert_eq!(stage.read("kept.txt"), "one\nmine\nthree\n");
    assert_eq!(stage.read("untracked.txt"), "untracked\n");
    assert_eq!(stage.git(&["show", ":staged.txt"]), "staged");
    stage.git(&["fsck", "--no-dangling", "--no-progress"]);
}

/// Kills the owner while it makes the worktree.
fn play_making(at: Moment) {
    let stage = dirty();
    if let When::During = at.when {
        // It is a filter of the user: those of a repository do not run.
        let smudge = "touch \\\"$HOME/smudging\\\"; exec sleep 60";
        let settings = format!("[filter \"slow\"]\n\tsmudge = \"{smudge}\"\n");
        std::fs::write(stage.home_path(".gitconfig"), settings).unwrap();
        std::fs::create_dir_all(stage.project().join(".git/info")).unwrap();
        stage.write(".git/info/attributes", "kept.txt filter=slow\n");
    }
    let command = stage.command(&[("api", WORK)]);
    let ended = killed_at(&stage, command, at).run();
    assert_eq!(ended.signal, Some(9), "{}", ended.stderr);
    check_clean(&stage);
    assert_eq!(stage.status(), DIRTY);
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.git(&["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(stage.git(&["for-each-ref", "refs/pi-subagents"]), "");
}

#[test]
fn before_the_snapshot() {
    play_making(moment(When::Before, "*' diff-files '*", 0));
}

#[test]
fn before_the_base_is_kept() {
    play_making(moment(When::Before, "*' update-ref '*'/base '*", 0));
}

#[test]
fn before_the_worktree_is_added() {
    play_making(moment(When::Before, "*' worktree add '*", 0));
}

#[test]
fn while_the_worktree_is_added() {
    play_making(moment(When::During, "*' worktree add '*", 0));
}

#[test]
fn after_the_worktree_was_added() {
    play_making(moment(When::After, "*' worktree add '*", 0));
}

/// Kills the owner while it keeps what its run left.
fn play_capturing(at: Moment) {
    let stage = dirty();
    let command = stage.command(&[("api", WORK)]);
    let ended = killed_at(&stage, command, at).run();
    assert_eq!(ended.signal, Some(9), "{}", ended.stderr);
    check_clean(&stage);
    assert_eq!(stage.status(), DIRTY);
    let commit = std::fs::read_to_string(stage.home_path("commit")).unwrap();
    let kept = stage.git(&["for-each-ref", "--contains", commit.trim()]);
    assert!(kept.contains("/left/1"), "{kept}");
    stage.ours(&["merge", "api"]).run().expect_success();
    assert_eq!(stage.read("b.txt"), "two\n");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn before_what_was_left_is_committed() {
    // The first commit is that of the caller's checkout.
    play_capturing(moment(When::Before, "*' commit-tree '*", 1));
}

#[test]
fn before_the_result_is_kept() {
    play_capturing(moment(When::Before, "*' update-ref '*'/result '*", 0));
}

#[test]
fn after_the_result_was_kept() {
    play_capturing(moment(When::After, "*' update-ref '*'/result '*", 0));
}

/// Kills `merge`, and does it again.
fn play_merging(options: &[&str], at: Moment) {
    let stage = dirty();
    stage.run(&[("api", WORK)]);
    let merge = [&["merge", "api"][..], options].concat();
    let ended = killed_at(&stage, stage.ours(&merge), at).run();
    assert_eq!(ended.signal, Some(9), "{}", ended.stderr);
    check_clean(&stage);
    let again = stage.ours(&merge).run();
    // A result that was merged already does not wait any more.
    let is_merged = again.stderr.contains("; merged");
    assert!(is_merged || again.code == Some(0), "{}", again.stderr);
    check_clean(&stage);
    assert_eq!(stage.read("b.txt"), "two\n");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.git(&["branch", "--format=%(refname:short)"]), "main");
    let commit = std::fs::read_to_string(stage.home_path("commit")).unwrap();
    assert_ne!(
        stage.git(&["for-each-ref", "--contains", commit.trim()]),
        ""
    );
}

#[test]
fn before_the_files_are_written() {
    play_merging(&[], moment(When::Before, "*' checkout-index '*", 0));
}

#[test]
fn after_the_files_were_written() {
    play_merging(&[], moment(When::Before, "*' read-tree -i -m '*", 0));
}

#[test]
fn before_the_merge_is_noted() {
    play_merging(&[], moment(When::Before, "*' update-ref '*'/merged '*", 0));
}

#[test]
fn before_the_branch_is_deleted() {
    play_merging(&[], moment(When::Before, "*' update-ref -d '*", 0));
}

#[test]
fn before_a_commit_becomes_head() {
    let at = moment(When::Before, "*' merged by pi-subagents '*", 0);
    play_merging(&["--commit"], at);
}
