//! Worktrees of runs, made and removed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use pi_subagents_git::{
    CopiedFiles, FilterTrust, NewWorktree, Repository, copy_included, remove_worktree,
    unlock_worktree,
};
use pretty_assertions::assert_eq;

use crate::fixture::{BRANCH, Fixture, git};

fn listed(fixture: &Fixture) -> usize {
    fixture.git(&["worktree", "list"]).lines().count()
}

fn branches(fixture: &Fixture) -> String {
    fixture.git(&["branch", "--format=%(refname:short)"])
}

#[test]
fn a_worktree_is_locked_until_its_run_is_over() {
    let fixture = Fixture::new();
    let (path, _) = fixture.worktree("worktrees/api");
    let shown = fixture.git(&["worktree", "list", "--porcelain"]);
    assert!(shown.contains("locked pi-subagents run-1"), "{shown}");
    assert_eq!(git(&path, &["branch", "--show-current"]), BRANCH);
    unlock_worktree(&fixture.repository(), &path).unwrap();
    remove_worktree(&fixture.repository(), &path, BRANCH).unwrap();
    assert!(!path.exists());
    assert_eq!(
        (listed(&fixture), branches(&fixture)),
        (1, "main".to_owned())
    );
}

#[test]
fn the_size_of_the_tracked_files_is_known_from_the_index() {
    let fixture = Fixture::new();
    let before = fixture.repository().tracked_size().unwrap();
    fixture.write("  size: 7\n  size: 8", "12345");
    fixture.write("untracked.bin", "1234567890");
    fixture.git(&["add", "  size: 7\n  size: 8"]);
    let after = fixture.repository().tracked_size().unwrap();
    assert_eq!(after - before, 5);
    let empty = Fixture::without_commit();
    assert_eq!(empty.repository().tracked_size().unwrap(), 0);
}

#[test]
fn a_directory_inside_of_git_is_named_as_such() {
    let fixture = Fixture::new();
    let found = Repository::find(&fixture.top().join(".git/refs"));
    let said = found.unwrap_err().to_string();
    let expected = "is in the directory of git itself, which has no files to work on";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn nothing_is_left_of_a_worktree_that_could_not_be_made() {
    let fixture = Fixture::new();
    fixture.write("a.big", "pointer\n");
    fixture.write(".gitattributes", "*.big filter=big\n");
    fixture.commit("a filter");
    // The filter is there, and fails.
    fixture.git(&["config", "filter.big.smudge", "false"]);
    fixture.git(&["config", "filter.big.required", "true"]);
    let path = fixture.place.path().join("worktrees/api");
    let repository = fixture
        .repository()
        .with_filters(FilterTrust::Repository)
        .unwrap();
    let base = repository.demand_head().unwrap();
    let wished = NewWorktree {
        path: &path,
        branch: BRANCH,
        base: &base,
        reason: "pi-subagents run-1",
    };
    wished.make(&repository).unwrap_err();
    assert!(!path.exists());
    assert_eq!(
        (listed(&fixture), branches(&fixture)),
        (1, "main".to_owned())
    );
}

#[test]
fn a_half_made_worktree_is_removed_and_others_are_not() {
    let fixture = Fixture::new();
    let other = fixture.place.path().join("other");
    let (path, _) = fixture.worktree("api");
    fixture.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "mine",
        other.to_str().unwrap(),
    ]);
    // As it is after a kill in the middle: locked, without its files, with a lock of the index.
    let git_dir = PathBuf::from(git(&path, &["rev-parse", "--absolute-git-dir"]));
    fs::write(git_dir.join("locked"), "initializing").unwrap();
    fs::write(git_dir.join("index.lock"), "").unwrap();
    fs::remove_dir_all(&path).unwrap();
    // The user's own worktree is on a disk that is not there now.
    fs::rename(&other, fixture.place.path().join("away")).unwrap();
    remove_worktree(&fixture.repository(), &path, BRANCH).unwrap();
    fs::rename(fixture.place.path().join("away"), &other).unwrap();
    assert_eq!(
        (listed(&fixture), branches(&fixture)),
        (2, "main\nmine".to_owned())
    );
    assert_eq!(git(&other, &["branch", "--show-current"]), "mine");
}

#[test]
fn named_ignored_files_are_copied() {
    let fixture = Fixture::new();
    fixture.write(".gitignore", "*.log\n.env*\nlinks/\n");
    fixture.write(
        ".worktreeinclude",
        ".env*\n!.env.secret\nkept.txt\nlinks/\n",
    );
    fixture.commit("included");
    for name in [".env", ".env.secret", "debug.log", "apps/web/.env.local"] {
        fixture.write(name, "content\n");
    }
    fs::set_permissions(
        fixture.top().join(".env"),
        fs::Permissions::from_mode(0o600),
    )
    .unwrap();
    fs::create_dir(fixture.top().join("links")).unwrap();
    symlink("../.env", fixture.top().join("links/inside")).unwrap();
    symlink("/etc/passwd", fixture.top().join("links/outside")).unwrap();
    let (path, _) = fixture.worktree("api");
    let included = copy_included(&fixture.repository(), &path).unwrap();
    assert_eq!(
        included,
        CopiedFiles {
            copied: vec![
                ".env".into(),
                "apps/web/.env.local".into(),
                "links/inside".into()
            ],
            notes: vec![
                "links/outside was not copied: it is a link that leads out of the checkout"
                    .to_owned()
            ],
        }
    );
    let mode = fs::metadata(path.join(".env"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
}
