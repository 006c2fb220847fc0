//! The state of a checkout comes into a worktree with conflict markers, and the checkout is not touched.

use std::fs;

use pi_subagents_git::{
    Captured, Change, LargeUntracked, Snapshot, WorkspaceKind, bring_into, marked_files,
};
use pretty_assertions::assert_eq;

use crate::fixture::Fixture;

#[test]
fn both_versions_are_there_and_markers_are_found() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "1\n2\n3\n");
    fixture.commit("a");
    let repository = fixture.repository();
    let base = repository.demand_head().unwrap();
    let (path, worktree) = fixture.worktree("worktree");
    fs::write(path.join("a.txt"), "1\nchild\n3\n").unwrap();
    fixture.write("a.txt", "1\nuser\n3\n");
    fixture.write("other.txt", "user\n");
    let now = Snapshot::take(&repository).unwrap().commit;
    let brought = bring_into(&worktree, &base, &now).unwrap();
    assert_eq!(brought.conflicts.len(), 1);
    assert_eq!(brought.conflicts[0].lines, [(2, 2)]);
    let text = fs::read_to_string(path.join("a.txt")).unwrap();
    let expected = format!(
        "1\n<<<<<<< {}\nchild\n=======\nuser\n>>>>>>> {now}\n3\n",
        brought.ours
    );
    assert_eq!(text, expected);
    assert_eq!(
        fs::read_to_string(path.join("other.txt")).unwrap(),
        "user\n"
    );
    assert_eq!(fixture.read("a.txt"), "1\nuser\n3\n");

    let marked = || {
        let captured = Captured::take(
            &worktree,
            &now,
            WorkspaceKind::Worktree(LargeUntracked::LeftOut),
        )
        .unwrap();
        let (base, result) = (now.clone(), captured.result);
        marked_files(&repository, &Change { base, result }).unwrap()
    };
    assert_eq!(marked(), [std::path::PathBuf::from("a.txt")]);
    fs::write(path.join("a.txt"), "1\nboth\n3\n").unwrap();
    assert_eq!(marked(), Vec::<std::path::PathBuf>::new());
}
