//! The way of a repository to another machine and back.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_git::{
    Cache, Captured, CheckOut, ObjectFormat, ObjectId, Pin, Repository, Snapshot, WorkspaceKind,
    bundle_base, bundle_result, bundle_thin, changes, collect_caches, largest_files, parts, pin,
    receive_result,
};
use pretty_assertions::assert_eq;

use crate::fixture::{Fixture, git, write};

/// A worker, with its cache and a place for files that travel.
struct Worker<'a> {
    caller: &'a Fixture,
    cache: Cache,
}

impl<'a> Worker<'a> {
    fn of(caller: &'a Fixture) -> Self {
        let path = caller.place.path().join("worker/cache.git");
        let cache = Cache::open(&path, ObjectFormat::Sha1).unwrap();
        Self { caller, cache }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.caller.place.path().join(name)
    }

    /// Sends a repository as a caller does, and checks it out as a worker does.
    fn check_out(&self, history: u32) -> (Repository, Snapshot) {
        let repository = self.caller.repository();
        let snapshot = Snapshot::take(&repository).unwrap();
        let mut have = Vec::new();
        let mut shallow = Vec::new();
        if let Some(head) = &snapshot.head {
            let file = self.file("base.bundle");
            let base = bundle_base(&repository, head, history, &file).unwrap();
            self.cache.take(head, &base.shallow, &file).unwrap();
            have.push(head.clone());
            shallow = base.shallow;
        }
        let file = self.file("thin.bundle");
        let thin = bundle_thin(&repository, &snapshot.commit, &have, &shallow, &file).unwrap();
        if let Some(thin) = thin {
            self.cache
                .take(&snapshot.commit, &thin.shallow, &file)
                .unwrap();
        }
        let branch = repository.branch().unwrap();
        let path = self.file("worker/ws/session");
        let wished = CheckOut {
            path: &path,
            head: snapshot.head.as_ref(),
            snapshot: &snapshot.commit,
            branch: branch.as_deref(),
            origin: Some("https://example.com/a.git"),
        };
        (self.cache.check_out(wished).unwrap(), snapshot)
    }

    /// Sends back what is in a workspace.
    fn send_back(&self, workspace: &Repository, snapshot: &Snapshot) -> Option<ObjectId> {
        let file = self.file("result.bundle");
        let captured = Captured::take(workspace, &snapshot.commit, WorkspaceKind::Clone).unwrap();
        let have: Vec<ObjectId> = snapshot
            .head
            .iter()
            .chain([&snapshot.commit])
            .cloned()
            .collect();
        bundle_result(workspace, &captured, &have, &file).unwrap()?;
        let repository = self.caller.repository();
        pin(&repository, "run-1", Pin::Base, &snapshot.commit).unwrap();
        let pins = receive_result(&repository, "run-1", &captured.result, &file).unwrap();
        assert_eq!(pins.result.as_ref(), Some(&captured.result));
        assert_eq!(pins.left, captured.left);
        Some(captured.result)
    }
}

fn status(directory: &Path) -> String {
    git(
        directory,
        &["status", "--porcelain", "--untracked-files=all"],
    )
}

#[test]
fn a_dirty_checkout_arrives_as_it_is_and_its_result_comes_back() {
    let caller = Fixture::new();
    caller.write("moved.txt", "content\n");
    caller.commit("second");
    caller.write("kept.txt", "uncommitted\n");
    caller.write("untracked/new.txt", "new\n");
    caller.write("debug.log", "stays here\n");
    fs::rename(
        caller.top().join("moved.txt"),
        caller.top().join("elsewhere.txt"),
    )
    .unwrap();
    symlink("kept.txt", caller.top().join("link")).unwrap();
    let before = status(&caller.top());
    let worker = Worker::of(&caller);
    let (workspace, snapshot) = worker.check_out(50);
    let top = workspace.top().to_owned();
    assert_eq!(status(&top), before);
    assert_eq!(git(&top, &["log", "--format=%s"]), "second\nfirst");
    assert_eq!(git(&top, &["branch", "--show-current"]), "main");
    assert_eq!(
        git(&top, &["remote", "get-url", "origin"]),
        "https://example.com/a.git"
    );
    assert!(!top.join("debug.log").exists());

    write(&top, "kept.txt", "by the child\n");
    git(
        &top,
        &[
            "-c",
            "user.name=C",
            "-c",
            "user.email=c@example.com",
            "commit",
            "-qam",
            "child",
        ],
    );
    write(&top, "answer.txt", "42\n");
    git(
        &top,
        &[
            "-c",
            "user.name=C",
            "-c",
            "user.email=c@example.com",
            "stash",
            "-q",
        ],
    );
    let result = worker.send_back(&workspace, &snapshot).unwrap();

    assert_eq!(status(&caller.top()), before);
    let repository = caller.repository();
    let found = changes(&repository, &snapshot.commit, &result).unwrap();
    let names: Vec<_> = found
        .iter()
        .map(|file| file.path.to_str().unwrap())
        .collect();
    assert_eq!(names, ["answer.txt", "kept.txt"]);
}

#[test]
fn nothing_comes_back_of_a_run_that_changed_nothing() {
    let caller = Fixture::new();
    caller.write("kept.txt", "uncommitted\n");
    let worker = Worker::of(&caller);
    let (workspace, snapshot) = worker.check_out(50);
    let captured = Captured::take(&workspace, &snapshot.commit, WorkspaceKind::Clone).unwrap();
    assert!(captured.is_unchanged);
    // The workspace of a session is made again at the same place.
    let (workspace, snapshot) = worker.check_out(50);
    assert!(
        Captured::take(&workspace, &snapshot.commit, WorkspaceKind::Clone)
            .unwrap()
            .is_unchanged
    );
}

#[test]
fn a_base_of_some_commits_carries_thin_bundles() {
    let caller = Fixture::new();
    for number in 0..10 {
        caller.write("kept.txt", &format!("{number}\n"));
        caller.commit(&format!("commit {number}"));
    }
    let worker = Worker::of(&caller);
    let (workspace, _) = worker.check_out(3);
    let log = git(workspace.top(), &["log", "--format=%s"]);
    assert_eq!(log, "commit 9\ncommit 8\ncommit 7");

    // A merge of a branch that began before the base's history arrives whole.
    let base = ObjectId::parse(&caller.git(&["rev-parse", "HEAD"])).unwrap();
    let shallow = bundle_base(&caller.repository(), &base, 3, &worker.file("again")).unwrap();
    caller.git(&["checkout", "--quiet", "-b", "old", "HEAD~8"]);
    caller.write("old.txt", "old\n");
    caller.commit("on an old branch");
    caller.git(&["checkout", "--quiet", "main"]);
    caller.git(&["merge", "--quiet", "--no-ff", "-m", "merged", "old"]);
    let repository = caller.repository();
    let head = repository.demand_head().unwrap();
    assert_eq!(repository.distance(&base, &head).unwrap(), Some(2));
    assert_eq!(repository.distance(&head, &base).unwrap(), None);
    let file = worker.file("thin.bundle");
    let thin = bundle_thin(
        &repository,
        &head,
        std::slice::from_ref(&base),
        &shallow.shallow,
        &file,
    );
    worker
        .cache
        .take(&head, &thin.unwrap().unwrap().shallow, &file)
        .unwrap();
    assert!(worker.cache.has(&head).unwrap());
}

#[test]
fn a_thin_bundle_without_its_base_is_refused() {
    let caller = Fixture::new();
    let base = caller.repository().demand_head().unwrap();
    caller.write("kept.txt", "changed\n");
    let repository = caller.repository();
    let snapshot = Snapshot::take(&repository).unwrap();
    let worker = Worker::of(&caller);
    let file = worker.file("thin.bundle");
    bundle_thin(&repository, &snapshot.commit, &[base], &[], &file)
        .unwrap()
        .unwrap();
    let error = worker.cache.take(&snapshot.commit, &[], &file).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("lacks these prerequisite commits"),
        "{error}"
    );
    assert!(!worker.cache.has(&snapshot.commit).unwrap());
}

#[test]
fn a_bundle_with_another_commit_is_refused() {
    let caller = Fixture::new();
    let repository = caller.repository();
    let head = repository.demand_head().unwrap();
    let worker = Worker::of(&caller);
    let file = worker.file("base.bundle");
    bundle_base(&repository, &head, 50, &file).unwrap();
    let other = ObjectId::parse(&"1".repeat(40)).unwrap();
    let error = worker.cache.take(&other, &[], &file).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with(&format!("does not hold the commit {other}")),
        "{error}"
    );
    fs::write(&file, "no bundle\n").unwrap();
    worker.cache.take(&head, &[], &file).unwrap_err();
}

#[test]
fn a_shallow_caller_and_one_without_a_commit_can_send() {
    let origin = Fixture::new();
    for number in 0..5 {
        origin.commit(&format!("commit {number}"));
    }
    let place = tempfile::tempdir().unwrap();
    let url = format!("file://{}", origin.top().display());
    git(
        place.path(),
        &["clone", "--quiet", "--depth=2", &url, "repository"],
    );
    let shallow = Fixture { place };
    shallow.name_author();
    shallow.write("kept.txt", "changed\n");
    let (workspace, _) = Worker::of(&shallow).check_out(50);
    assert_eq!(
        git(workspace.top(), &["log", "--format=%s"]),
        "commit 4\ncommit 3"
    );

    let empty = Fixture::without_commit();
    empty.write("a.txt", "a\n");
    let worker = Worker::of(&empty);
    let (workspace, snapshot) = worker.check_out(50);
    assert_eq!(status(workspace.top()), "?? a.txt");
    write(workspace.top(), "b.txt", "b\n");
    let result = worker.send_back(&workspace, &snapshot).unwrap();
    let found = changes(&empty.repository(), &snapshot.commit, &result).unwrap();
    assert_eq!(found.len(), 1);
}

#[test]
fn submodules_travel_as_repositories_of_their_own() {
    let inner = Fixture::new();
    let caller = Fixture::new();
    let url = inner.top();
    caller.git(&[
        "submodule",
        "--quiet",
        "add",
        url.to_str().unwrap(),
        "libs/inner",
    ]);
    caller.commit("with a submodule");
    caller.write("libs/inner/kept.txt", "dirty inside\n");
    let found = parts(&caller.repository()).unwrap();
    let paths: Vec<_> = found
        .iter()
        .map(|part| part.path.to_str().unwrap())
        .collect();
    assert_eq!(paths, ["", "libs/inner"]);
    let snapshot = Snapshot::take(&found[1].repository).unwrap();
    assert_eq!(snapshot.uncommitted, [PathBuf::from("kept.txt")]);
    // The outer repository knows the inner commit and not its files.
    assert!(Snapshot::take(&found[0].repository).unwrap().is_clean());
}

#[test]
fn the_largest_files_are_named() {
    let caller = Fixture::new();
    let base = caller.repository().demand_head().unwrap();
    for (name, bytes) in [("a", 10), ("b", 3000), ("c", 200)] {
        caller.write(name, &"x".repeat(bytes));
    }
    let repository = caller.repository();
    let snapshot = Snapshot::take(&repository).unwrap();
    let found = largest_files(&repository, Some(&base), &snapshot.commit).unwrap();
    let expected = [("b".into(), 3000), ("c".into(), 200), ("a".into(), 10)];
    assert_eq!(found, expected);
}

#[test]
fn caches_that_nobody_uses_make_room_and_one_in_use_stays() {
    let place = tempfile::tempdir().unwrap();
    let open = |name: &str| Cache::open(&place.path().join(name), ObjectFormat::Sha1).unwrap();
    let used = open("used");
    drop((open("first"), open("second")));
    let names = || {
        let entries = fs::read_dir(place.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let month = Duration::from_hours(30 * 24);
    assert_eq!(collect_caches(place.path(), u64::MAX, month).unwrap(), 0);
    assert_eq!(collect_caches(place.path(), 0, month).unwrap(), 2);
    assert_eq!(names(), ["used"]);
    drop(used);
    assert_eq!(
        collect_caches(place.path(), u64::MAX, Duration::ZERO).unwrap(),
        1
    );
    assert_eq!(names(), [""; 0]);
}
