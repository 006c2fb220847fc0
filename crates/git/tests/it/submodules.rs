//! Submodules of worktrees come from the checkout, with those inside them.

use std::fs;
use std::path::PathBuf;

use pi_subagents_git::{
    Repository, add_submodules, forget_submodules, open_submodule, remove_worktree,
};
use pretty_assertions::assert_eq;

use crate::fixture::{BRANCH, Fixture, git, make_worktree};

/// A repository with a submodule that has a submodule.
fn nested() -> (Fixture, Fixture, Fixture) {
    let (inner, middle, outer) = (Fixture::new(), Fixture::new(), Fixture::new());
    inner.write("inner.txt", "inner\n");
    inner.commit("inner");
    let add = |fixture: &Fixture, from: &Fixture, name: &str| {
        let from = from.top().display().to_string();
        let allow = "protocol.file.allow=always";
        fixture.git(&["-c", allow, "submodule", "--quiet", "add", &from, name]);
        fixture.commit("a submodule");
    };
    add(&middle, &inner, "deep");
    add(&outer, &middle, "libs/middle");
    let allow = "protocol.file.allow=always";
    let update = ["submodule", "--quiet", "update", "--init", "--recursive"];
    outer.git(&[&["-c", allow][..], &update].concat());
    (outer, middle, inner)
}

#[test]
fn they_are_there_without_a_network_and_leave_nothing() {
    let (outer, middle, inner) = nested();
    // Nothing can be fetched from anywhere.
    fs::remove_dir_all(middle.top()).unwrap();
    fs::remove_dir_all(inner.top()).unwrap();
    let (path, worktree) = outer.worktree("worktree");
    let added = add_submodules(&outer.repository(), &worktree, "test").unwrap();
    assert_eq!(added.notes, [""; 0]);
    let names: Vec<PathBuf> = added.added.iter().map(|one| one.path.clone()).collect();
    assert_eq!(
        names,
        ["libs/middle", "libs/middle/deep"].map(PathBuf::from)
    );
    let text = fs::read_to_string(path.join("libs/middle/deep/inner.txt")).unwrap();
    assert_eq!(text, "inner\n");
    assert_eq!(git(&path, &["status", "--porcelain"]), "");

    fs::write(path.join("libs/middle/new.txt"), "new\n").unwrap();
    git(&path.join("libs/middle"), &["add", "new.txt"]);
    let author = ["-c", "user.name=C", "-c", "user.email=c@example.com"];
    let commit = ["commit", "--quiet", "-m", "new"];
    git(&path.join("libs/middle"), &[&author[..], &commit].concat());
    let made = git(&path.join("libs/middle"), &["rev-parse", "HEAD"]);
    let opened = open_submodule(&outer.repository(), &path, &added.added[0]).unwrap();
    assert_eq!(opened.head().unwrap().unwrap().as_str(), made);
    remove_worktree(&outer.repository(), &path, BRANCH).unwrap();
    forget_submodules(&outer.repository(), &path).unwrap();
    let module = outer.top().join("libs/middle");
    assert_eq!(git(&module, &["worktree", "list"]).lines().count(), 1);
    // A commit that was made in it is in the repository of the submodule.
    assert_eq!(git(&module, &["cat-file", "-t", &made]), "commit");
    assert_eq!(outer.git(&["status", "--porcelain"]), "");
}

#[test]
fn one_that_the_checkout_has_not_is_named() {
    let (outer, _middle, _inner) = nested();
    outer.git(&["submodule", "--quiet", "deinit", "--force", "libs/middle"]);
    let (_, worktree) = outer.worktree("worktree");
    let added = add_submodules(&outer.repository(), &worktree, "test").unwrap();
    assert_eq!(
        added.notes,
        ["the submodule libs/middle is empty here: the checkout has not got it either"]
    );
    assert_eq!(added.added, []);
}

#[test]
fn a_repository_that_is_a_submodule_has_worktrees_too() {
    let (outer, _middle, _inner) = nested();
    let module = Repository::find(&outer.top().join("libs/middle")).unwrap();
    let path = outer.place.path().join("of-module");
    let made = make_worktree(&module, &path);
    assert_eq!(made.top(), fs::canonicalize(&path).unwrap());
    assert!(path.join(".gitmodules").exists());
}
