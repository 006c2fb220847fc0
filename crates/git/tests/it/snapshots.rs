//! Snapshots of checkouts: what they hold, and that they touch nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use pi_subagents_git::{FilterTrust, LeftOut, Repository, Snapshot, WhyLeftOut, WorkspaceError};
use pretty_assertions::assert_eq;

use crate::fixture::{Fixture, clash, git};

fn tree(fixture: &Fixture, snapshot: &Snapshot) -> Vec<String> {
    let commit = snapshot.commit.as_str();
    let listed = fixture.git(&["ls-tree", "-r", "-z", "--name-only", commit]);
    listed
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_clean_checkout_is_its_head() {
    let fixture = Fixture::new();
    let snapshot = Snapshot::take(&fixture.repository()).unwrap();
    let head = fixture.git(&["rev-parse", "HEAD"]);
    assert_eq!(snapshot.commit.as_str(), head);
    assert!(snapshot.is_clean());
}

#[test]
fn it_holds_what_is_modified_staged_untracked_and_not_what_is_ignored() {
    let fixture = Fixture::new();
    fixture.write("gone.txt", "gone\n");
    fixture.write("staged.txt", "first\n");
    fixture.commit("more");
    fixture.write("kept.txt", "changed\n");
    fixture.write("staged.txt", "staged\n");
    fixture.git(&["add", "staged.txt"]);
    fixture.write("staged.txt", "and changed again\n");
    fs::remove_file(fixture.top().join("gone.txt")).unwrap();
    fixture.write("new/a b\nc.txt", "new\n");
    fixture.write("new/run.sh", "#!/bin/sh\n");
    let program = fixture.top().join("new/run.sh");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    symlink("nowhere", fixture.top().join("link")).unwrap();
    fixture.write("noted.txt", "noted\n");
    fixture.git(&["add", "--intent-to-add", "noted.txt"]);
    fixture.write("debug.log", "ignored\n");
    let before = state(&fixture);

    let snapshot = Snapshot::take(&fixture.repository()).unwrap();

    assert_eq!(state(&fixture), before);
    assert_eq!(
        tree(&fixture, &snapshot),
        [
            ".gitignore",
            "kept.txt",
            "link",
            "new/a b\nc.txt",
            "new/run.sh",
            "noted.txt",
            "staged.txt"
        ]
    );
    let staged = format!("{}:staged.txt", snapshot.commit);
    assert_eq!(fixture.git(&["show", &staged]), "and changed again");
    let mode = fixture.git(&["ls-tree", snapshot.commit.as_str(), "new/run.sh", "link"]);
    let modes: Vec<&str> = mode.lines().map(|line| &line[..6]).collect();
    assert_eq!(modes, ["120000", "100755"]);
    assert_eq!(snapshot.uncommitted.len(), 7);
    // The same state is the same commit, so that it travels once.
    assert_eq!(Snapshot::take(&fixture.repository()).unwrap(), snapshot);
}

/// Returns the bytes of the index and of all files, and what git says about the checkout.
fn state(fixture: &Fixture) -> (Vec<u8>, BTreeMap<PathBuf, Vec<u8>>, String) {
    let index = fs::read(fixture.top().join(".git/index")).unwrap();
    let mut files = BTreeMap::new();
    read_files(&fixture.top(), &mut files);
    // A status that refreshes the index would change it.
    let status = fixture.git(&[
        "--no-optional-locks",
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
    ]);
    (index, files, status)
}

/// Reads the files below a directory, except those of git. A link counts as the path it leads to.
fn read_files(directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let (path, kind) = entry
            .map(|entry| (entry.path(), entry.file_type().unwrap()))
            .unwrap();
        if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap();
            files.insert(path, target.into_os_string().into_encoded_bytes());
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap();
            files.insert(path, bytes);
        } else if !path.ends_with(".git") {
            read_files(&path, files);
        }
    }
}

#[test]
fn a_change_in_the_moment_of_the_last_add_is_seen() {
    let fixture = Fixture::new();
    // The size stays, so that only the times tell, and they may be the same.
    for round in 0..20 {
        fixture.write("kept.txt", &format!("a{round:02}\n"));
        fixture.git(&["add", "kept.txt"]);
        fixture.write("kept.txt", &format!("b{round:02}\n"));
        let snapshot = Snapshot::take(&fixture.repository()).unwrap();
        let kept = format!("{}:kept.txt", snapshot.commit);
        assert_eq!(fixture.git(&["show", &kept]), format!("b{round:02}"));
    }
}

#[test]
fn large_files_and_nested_repositories_are_left_out_and_named() {
    let fixture = Fixture::new();
    let large = fs::File::create(fixture.top().join("large.bin")).unwrap();
    large.set_len(10_000_001).unwrap();
    for (name, commits) in [("nested", true), ("empty", false)] {
        let nested = fixture.top().join(name);
        fs::create_dir(&nested).unwrap();
        git(&nested, &["init", "--quiet"]);
        fs::write(nested.join("file"), "inside\n").unwrap();
        if commits {
            let author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
            git(&nested, &["add", "file"]);
            git(
                &nested,
                &[&author[..], &["commit", "--quiet", "-m", "inside"]].concat(),
            );
        }
    }
    fixture.write("small.txt", "small\n");
    let snapshot = Snapshot::take(&fixture.repository()).unwrap();
    assert_eq!(snapshot.uncommitted, [PathBuf::from("small.txt")]);
    let left_out = |path: &str, why| LeftOut {
        path: path.into(),
        why,
    };
    assert_eq!(
        snapshot.left_out,
        [
            left_out("empty/", WhyLeftOut::NestedRepository),
            left_out("large.bin", WhyLeftOut::TooLarge { bytes: 10_000_001 }),
            left_out("nested/", WhyLeftOut::NestedRepository),
        ]
    );
}

#[test]
fn unmerged_files_are_refused() {
    let fixture = Fixture::new();
    fixture.git(&["checkout", "--quiet", "-b", "other"]);
    fixture.write("kept.txt", "other\n");
    fixture.commit("other");
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture.write("kept.txt", "main\n");
    fixture.commit("main");
    clash(&fixture.top(), "other");
    let error = Snapshot::take(&fixture.repository()).unwrap_err();
    let expected = format!(
        "{} has unmerged files (kept.txt); finish or abort the merge, rebase or cherry-pick first",
        fixture.repository().top().display()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn places_without_a_checkout_are_refused_in_words() {
    let place = tempfile::tempdir().unwrap();
    let error = Repository::find(place.path()).unwrap_err();
    assert!(
        matches!(error, WorkspaceError::NoRepository { .. }),
        "{error}"
    );
    git(place.path(), &["init", "--quiet", "--bare"]);
    let error = Repository::find(place.path()).unwrap_err();
    assert!(matches!(error, WorkspaceError::Bare { .. }), "{error}");
    let error = Fixture::without_commit()
        .repository()
        .demand_head()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("has no commit yet; make one first"),
        "{error}"
    );
}

#[test]
fn a_repository_without_a_commit_has_a_snapshot() {
    let fixture = Fixture::without_commit();
    fixture.write("a.txt", "a\n");
    let snapshot = Snapshot::take(&fixture.repository()).unwrap();
    assert_eq!(snapshot.head, None);
    assert_eq!(snapshot.uncommitted, [PathBuf::from("a.txt")]);
}

#[test]
fn a_required_filter_without_its_program_is_left_out() {
    let fixture = Fixture::new();
    fixture.git(&["config", "filter.big.clean", "no-such-filter clean"]);
    fixture.git(&["config", "filter.big.required", "true"]);
    fixture.write(".gitattributes", "*.big filter=big\n");
    fixture.write("a.big", "pointer\n");
    let repository = fixture
        .repository()
        .with_filters(FilterTrust::Repository)
        .unwrap();
    let snapshot = Snapshot::take(&repository).unwrap();
    let stored = format!("{}:a.big", snapshot.commit);
    assert_eq!(fixture.git(&["show", &stored]), "pointer");
    assert_eq!(
        repository.notes(),
        [
            "no-such-filter is not installed, so files with the filter big are as the repository \
          holds them"
        ]
    );
}

#[test]
fn no_hook_runs() {
    let fixture = Fixture::new();
    let hooks = fixture.top().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in [
        "pre-commit",
        "post-index-change",
        "reference-transaction",
        "post-checkout",
    ] {
        let hook = hooks.join(name);
        fs::write(&hook, "#!/bin/sh\ntouch \"$PWD/hook-ran\"\n").unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fixture.write("kept.txt", "changed\n");
    Snapshot::take(&fixture.repository()).unwrap();
    assert!(!fixture.top().join("hook-ran").exists());
}

#[test]
fn clones_share_an_id_and_other_repositories_do_not() {
    let fixture = Fixture::new();
    let id = fixture.repository().id().unwrap();
    assert_eq!(id, fixture.git(&["rev-parse", "HEAD"]));
    let clone = fixture.place.path().join("clone");
    git(
        fixture.place.path(),
        &["clone", "--quiet", "repository", "clone"],
    );
    assert_eq!(Repository::find(&clone).unwrap().id().unwrap(), id);
    let fixture = Fixture::without_commit();
    let empty = fixture.repository();
    assert_eq!(empty.id().unwrap(), empty.id().unwrap());
    let other = Fixture::without_commit();
    assert_ne!(empty.id().unwrap(), other.repository().id().unwrap());
}

#[test]
fn a_directory_below_the_top_is_named() {
    let fixture = Fixture::new();
    fixture.write("a/b/c.txt", "c\n");
    let repository = Repository::find(&fixture.top().join("a/b")).unwrap();
    let relative = repository.relative(&fixture.top().join("a/b")).unwrap();
    assert_eq!(relative, Path::new("a/b"));
    assert_eq!(repository.relative(fixture.place.path()), None);
}
