//! Captures of runs in every state.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use pi_subagents_git::{
    Captured, ChangeKind, LargeUntracked, ObjectId, Pin, Pins, Repository, WorkspaceKind, changes,
    patch, pin, unpin,
};
use pretty_assertions::assert_eq;

use crate::fixture::{BRANCH, Fixture, clash, git, write};

/// Makes a worktree of a repository. Returns its place, and what it began from.
fn worktree(fixture: &Fixture) -> (PathBuf, ObjectId) {
    let (path, worktree) = fixture.worktree("worktree");
    (path, worktree.demand_head().unwrap())
}

fn id(text: &str) -> ObjectId {
    ObjectId::parse(text).unwrap()
}

fn capture(worktree: &Path, base: &ObjectId) -> Captured {
    let workspace = Repository::find(worktree).unwrap();
    Captured::take(
        &workspace,
        base,
        WorkspaceKind::Worktree(LargeUntracked::LeftOut),
    )
    .unwrap()
}

fn commit(worktree: &Path, message: &str) -> ObjectId {
    git(worktree, &["add", "-A"]);
    git(worktree, &["commit", "--quiet", "-m", message]);
    id(&git(worktree, &["rev-parse", "HEAD"]))
}

#[test]
fn a_run_that_changed_nothing_is_unchanged() {
    let fixture = Fixture::new();
    let (path, base) = worktree(&fixture);
    write(&path, "debug.log", "ignored\n");
    let captured = capture(&path, &base);
    assert!(captured.is_unchanged);
    assert_eq!(captured.result, base);
}

#[test]
fn everything_that_is_not_ignored_is_in_the_result() {
    let fixture = Fixture::new();
    fixture.write("old name.txt", "some\nlines\nthat\nstay\nthe\nsame\n");
    fixture.write("gone.txt", "gone\n");
    fixture.commit("more");
    let (path, base) = worktree(&fixture);
    write(&path, "committed.txt", "one\n");
    commit(&path, "its own");
    write(&path, "kept.txt", "one\ntwo and a half\nthree\n");
    git(&path, &["mv", "old name.txt", "new name.txt"]);
    fs::remove_file(path.join("gone.txt")).unwrap();
    fs::write(path.join("image"), [0, 1, 2, 255]).unwrap();
    write(&path, "a\nb.txt", "line break\n");
    write(&path, "run.sh", "#!/bin/sh\n");
    fs::set_permissions(path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("kept.txt", path.join("link")).unwrap();
    write(&path, "debug.log", "ignored\n");

    let captured = capture(&path, &base);

    assert_eq!((captured.commits, captured.left_uncommitted), (1, 8));
    let repository = fixture.repository();
    let found = changes(&repository, &base, &captured.result).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|file| (file.path.to_str().unwrap(), file.status.word(), file.lines))
        .collect();
    assert_eq!(
        found,
        [
            ("a\nb.txt", "added", Some((1, 0))),
            ("committed.txt", "added", Some((1, 0))),
            ("gone.txt", "deleted", Some((0, 1))),
            ("image", "added", None),
            ("kept.txt", "modified", Some((1, 1))),
            ("link", "added", Some((1, 0))),
            ("new name.txt", "renamed", Some((0, 0))),
            ("run.sh", "added", Some((1, 0))),
        ]
    );
    let listed = ["ls-tree", "-r", "-z", "--format=%(objectmode) %(path)"];
    let listed = fixture.git(&[&listed[..], &[captured.result.as_str()]].concat());
    assert_eq!(
        listed.split_terminator('\0').collect::<Vec<_>>(),
        [
            "100644 .gitignore",
            r#"100644 "a\nb.txt""#,
            "100644 committed.txt",
            "100644 image",
            "100644 kept.txt",
            "120000 link",
            "100644 new name.txt",
            "100755 run.sh",
        ]
    );
    let diff = patch(&repository, &base, &captured.result)
        .unwrap()
        .unwrap();
    let file = fixture.place.path().join("changes.patch");
    fs::write(&file, diff).unwrap();
    fixture.git(&["apply", file.to_str().unwrap()]);
    assert_eq!(fixture.read("kept.txt"), "one\ntwo and a half\nthree\n");
}

#[test]
fn commits_that_nothing_leads_to_are_kept_and_survive_a_collection() {
    let fixture = Fixture::new();
    let (path, base) = worktree(&fixture);
    write(&path, "a.txt", "reset away\n");
    let reset = commit(&path, "reset away");
    git(&path, &["reset", "--quiet", "--hard", base.as_str()]);
    git(&path, &["checkout", "--quiet", "--detach"]);
    write(&path, "b.txt", "detached\n");
    let detached = commit(&path, "detached");
    git(&path, &["checkout", "--quiet", BRANCH]);
    write(&path, "c.txt", "result\n");

    let captured = capture(&path, &base);
    let mut left = captured.left.clone();
    left.sort();
    let mut expected = vec![reset, detached];
    expected.sort();
    assert_eq!(left, expected);
    assert!(!captured.is_unchanged);

    let repository = fixture.repository();
    pin(&repository, "run-1", Pin::Base, &base).unwrap();
    captured.pin(&repository, "run-1").unwrap();
    let name = path.to_str().unwrap();
    fixture.git(&["worktree", "remove", "--force", "--force", name]);
    fixture.git(&["branch", "--quiet", "-D", BRANCH]);
    fixture.git(&["reflog", "expire", "--expire=now", "--all"]);
    fixture.git(&["gc", "--quiet", "--prune=now"]);
    for commit in captured.left.iter().chain([&captured.result]) {
        fixture.git(&["cat-file", "-e", commit.as_str()]);
    }
    let pins = Pins::read(&repository, "run-1").unwrap();
    assert_eq!(pins.base, Some(base));
    assert_eq!(pins.result, Some(captured.result));
    assert_eq!(pins.left, captured.left);
    unpin(&repository, "run-1").unwrap();
    assert_eq!(Pins::read(&repository, "run-1").unwrap(), Pins::default());
}

#[test]
fn commits_on_branches_that_stay_are_not_kept_twice() {
    let fixture = Fixture::new();
    let (path, base) = worktree(&fixture);
    git(&path, &["checkout", "--quiet", "-b", "feature"]);
    write(&path, "a.txt", "a\n");
    commit(&path, "on a branch");
    git(&path, &["checkout", "--quiet", BRANCH]);
    assert_eq!(capture(&path, &base).left, []);
}

#[test]
fn a_workspace_in_the_middle_of_a_merge_is_captured_as_it_is() {
    let fixture = Fixture::new();
    fixture.git(&["checkout", "--quiet", "-b", "other"]);
    fixture.write("kept.txt", "other\n");
    fixture.commit("other");
    fixture.git(&["checkout", "--quiet", "main"]);
    let (path, base) = worktree(&fixture);
    write(&path, "kept.txt", "mine\n");
    commit(&path, "mine");
    clash(&path, "other");
    let captured = capture(&path, &base);
    let kept = format!("{}:kept.txt", captured.result);
    let kept = fixture.git(&["show", &kept]);
    let begin = format!("{} HEAD\nmine\n", "<".repeat(7));
    assert!(kept.starts_with(&begin), "{kept}");
}

#[test]
fn a_broken_index_and_a_lock_lose_nothing() {
    let fixture = Fixture::new();
    let (path, base) = worktree(&fixture);
    write(&path, "a.txt", "a\n");
    write(&path, "kept.txt", "changed\n");
    let git_dir = git(&path, &["rev-parse", "--absolute-git-dir"]);
    fs::write(Path::new(&git_dir).join("index.lock"), "").unwrap();
    let whole = capture(&path, &base);
    fs::write(Path::new(&git_dir).join("index"), "no index\n").unwrap();
    let broken = capture(&path, &base);
    assert_eq!(whole.result, broken.result);
    let found = changes(&fixture.repository(), &base, &broken.result).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|file| (&*file.path, &file.status))
        .collect();
    assert_eq!(
        found,
        [
            (Path::new("a.txt"), &ChangeKind::Added),
            (Path::new("kept.txt"), &ChangeKind::Modified)
        ]
    );
}

#[test]
fn a_head_without_a_commit_is_captured() {
    let fixture = Fixture::new();
    let (path, base) = worktree(&fixture);
    git(&path, &["checkout", "--quiet", "--orphan", "fresh"]);
    write(&path, "a.txt", "a\n");
    let captured = capture(&path, &base);
    assert!(!captured.is_unchanged);
    assert_eq!(
        fixture.git(&["show", &format!("{}:a.txt", captured.result)]),
        "a"
    );
}
