//! A checkout that changes meanwhile is noticed.

use std::path::PathBuf;

use pi_subagents_git::CheckoutState;
use pretty_assertions::assert_eq;

use crate::fixture::Fixture;

#[test]
fn what_changed_is_named_and_what_did_not_is_not() {
    let fixture = Fixture::new();
    fixture.write("dirty.txt", "mine\n");
    let look = || CheckoutState::of(&fixture.repository()).unwrap().unwrap();
    let before = look();
    let read = CheckoutState::from_bytes(&before.to_bytes()).unwrap();
    assert_eq!(read, before);
    assert_eq!(look().changed_since(&before), Vec::<PathBuf>::new());
    fixture.write("dirty.txt", "somebody else's\n");
    fixture.write("new\nname.txt", "new\n");
    let changed = look().changed_since(&before);
    assert_eq!(changed, ["dirty.txt", "new\nname.txt"].map(PathBuf::from));
}

#[test]
fn a_commit_that_changes_no_file_is_noticed() {
    let fixture = Fixture::new();
    let look = || CheckoutState::of(&fixture.repository()).unwrap().unwrap();
    let before = look();
    fixture.git(&["commit", "--quiet", "--allow-empty", "-m", "empty"]);
    assert_eq!(look().changed_since(&before), [PathBuf::from("HEAD")]);
}
