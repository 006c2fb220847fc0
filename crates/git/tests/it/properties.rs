//! No commit of a child is lost when its worktree is discarded, whatever the child does with git.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pi_subagents_git::{
    Captured, LargeUntracked, Pin, WorkspaceKind, discard, pin, remove_worktree,
};
use proptest::prelude::*;

use crate::fixture::{BRANCH, Fixture};

/// Something that a child does in its worktree.
#[derive(Debug, Clone)]
enum Step {
    Commit(u8),
    Amend(u8),
    Write(u8),
    Stage,
    ResetHard(u8),
    ResetSoft,
    Detach,
    Branch(u8),
    BackToOwnBranch,
    Orphan(u8),
    Stash,
    DeleteIndex,
    DeleteBranch(u8),
    Tag(u8),
    Merge(u8),
    Rebase(u8),
    CherryPick(u8),
    Revert,
    OtherWorktree(u8),
    Many,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<u8>().prop_map(Step::Commit),
        1 => any::<u8>().prop_map(Step::Amend),
        2 => any::<u8>().prop_map(Step::Write),
        1 => Just(Step::Stage),
        2 => (0..3u8).prop_map(Step::ResetHard),
        1 => Just(Step::ResetSoft),
        1 => Just(Step::Detach),
        1 => (0..3u8).prop_map(Step::Branch),
        1 => Just(Step::BackToOwnBranch),
        1 => (0..3u8).prop_map(Step::Orphan),
        1 => Just(Step::Stash),
        1 => Just(Step::DeleteIndex),
        1 => (0..3u8).prop_map(Step::DeleteBranch),
        1 => (0..3u8).prop_map(Step::Tag),
        1 => (0..3u8).prop_map(Step::Merge),
        1 => (0..3u8).prop_map(Step::Rebase),
        1 => (0..3u8).prop_map(Step::CherryPick),
        1 => Just(Step::Revert),
        1 => (0..3u8).prop_map(Step::OtherWorktree),
        1 => Just(Step::Many),
    ];
    proptest::collection::vec(step, 1..12)
}

/// Runs git as a child does: a command that fails is passed over.
fn try_git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=C", "-c", "user.email=c@example.com"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// Plays a step, and returns the commits that HEAD was at.
fn play(path: &Path, step: &Step) -> Vec<String> {
    let head = || try_git(path, &["rev-parse", "--verify", "-q", "HEAD"]);
    let mut heads = Vec::new();
    let write = |number: u8| fs::write(path.join("work.txt"), format!("{number}\n")).unwrap();
    let run = |arguments: &[&str]| drop(try_git(path, arguments));
    match step {
        Step::Commit(number) => {
            write(*number);
            run(&["add", "-A"]);
            run(&["commit", "--allow-empty", "-qm", "work"]);
        }
        Step::Amend(number) => {
            write(*number);
            run(&["commit", "--amend", "-qam", "amended"]);
        }
        Step::Write(number) => write(*number),
        Step::Stage => run(&["add", "-A"]),
        Step::ResetHard(back) => run(&["reset", "-q", "--hard", &format!("HEAD~{back}")]),
        Step::ResetSoft => run(&["reset", "-q", "--soft", "HEAD~1"]),
        Step::Detach => run(&["checkout", "-q", "--detach"]),
        Step::Branch(number) => run(&["checkout", "-q", "-B", &format!("child-{number}")]),
        Step::BackToOwnBranch => run(&["checkout", "-q", BRANCH]),
        Step::Orphan(number) => run(&["checkout", "-q", "--orphan", &format!("orphan-{number}")]),
        Step::Stash => run(&["stash", "-q", "-u"]),
        Step::DeleteBranch(number) => run(&["branch", "-q", "-D", &format!("child-{number}")]),
        Step::Tag(number) => run(&["tag", "-f", &format!("tag-{number}")]),
        Step::Merge(number) => run(&["merge", "-q", "--no-edit", &format!("child-{number}")]),
        Step::Rebase(number) => run(&["rebase", "-q", &format!("child-{number}")]),
        Step::CherryPick(number) => run(&["cherry-pick", &format!("child-{number}")]),
        Step::Revert => run(&["revert", "--no-edit", "HEAD"]),
        Step::OtherWorktree(number) => {
            let other = path.with_file_name(format!("other-{number}"));
            let other = other.to_str().unwrap();
            run(&[
                "worktree",
                "add",
                "-q",
                "-b",
                &format!("child-{number}"),
                other,
            ]);
            run(&[
                "-C",
                other,
                "commit",
                "-q",
                "--allow-empty",
                "-m",
                "elsewhere",
            ]);
        }
        // More commits than are kept one by one.
        Step::Many => {
            for number in 0..25 {
                write(number);
                run(&["commit", "-q", "--allow-empty", "-am", "one of many"]);
                heads.push(head());
                run(&["reset", "-q", "--hard", "HEAD~1"]);
            }
        }
        Step::DeleteIndex => {
            let index = try_git(path, &["rev-parse", "--git-path", "index"]);
            // A child may have deleted it before.
            _ = fs::remove_file(path.join(PathBuf::from(index)));
        }
    }
    heads.push(head());
    heads
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_commit_of_a_child_is_lost(steps in steps()) {
        let fixture = Fixture::new();
        let repository = fixture.repository();
        let base = repository.demand_head().unwrap();
        let (path, worktree) = fixture.worktree("worktree");
        pin(&repository, "run", Pin::Base, &base).unwrap();
        let mut heads = BTreeSet::new();
        for step in &steps {
            heads.extend(play(&path, step));
        }
        let work = fs::read_to_string(path.join("work.txt")).ok();

        let captured = Captured::take(&worktree, &base, WorkspaceKind::Worktree(LargeUntracked::LeftOut)).unwrap();
        captured.pin(&repository, "run").unwrap();
        discard(&repository, "run").unwrap();
        remove_worktree(&repository, &path, BRANCH).unwrap();

        fixture.git(&["reflog", "expire", "--expire=now", "--all"]);
        fixture.git(&["gc", "--quiet", "--prune=now"]);
        let reachable = fixture.git(&["rev-list", "--all"]);
        let reachable: BTreeSet<&str> = reachable.lines().collect();
        for head in heads.iter().filter(|head| !head.is_empty()) {
            prop_assert!(reachable.contains(head.as_str()), "{head} is lost after {steps:?}");
        }
        let kept = try_git(&fixture.top(), &["show", &format!("{}:work.txt", captured.result)]);
        prop_assert_eq!(work.as_deref().map(str::trim_end), Some(&*kept).filter(|_| work.is_some()));
    }
}
