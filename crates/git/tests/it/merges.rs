//! Changes of runs, merged into checkouts with uncommitted work.

use std::fs;

use pi_subagents_git::{Change, ChangeOutcome, Merge};
use pretty_assertions::assert_eq;

use crate::fixture::Fixture;
use crate::matrices::{change, id};

fn merge(fixture: &Fixture, change: &Change) -> ChangeOutcome {
    Merge::begin(&fixture.repository())
        .unwrap()
        .apply(change)
        .unwrap()
}

fn status(fixture: &Fixture) -> String {
    fixture.git(&["status", "--porcelain", "--untracked-files=all"])
}

#[test]
fn what_the_user_has_staged_changed_and_made_stays() {
    let fixture = Fixture::new();
    fixture.write("staged.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    fixture.write("changed.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    fixture.write("removed.txt", "removed\n");
    fixture.commit("more");
    let change = change(&fixture, |top| {
        fs::write(top.join("staged.txt"), "1\n2\n3\n4\n5\n6\n7\n8\nchild\n").unwrap();
        fs::write(top.join("changed.txt"), "1\n2\n3\n4\n5\n6\n7\n8\nchild\n").unwrap();
        fs::write(top.join("a b\nc.txt"), "new\n").unwrap();
        fs::remove_file(top.join("removed.txt")).unwrap();
    });
    fixture.write("staged.txt", "user\n2\n3\n4\n5\n6\n7\n8\n9\n");
    fixture.git(&["add", "staged.txt"]);
    fixture.write("changed.txt", "user\n2\n3\n4\n5\n6\n7\n8\n9\n");
    fixture.write("untracked.txt", "mine\n");
    let staged = fixture.git(&["diff", "--cached"]);

    let outcome = merge(&fixture, &change);

    assert!(
        matches!(&outcome, ChangeOutcome::Merged { files, commit: None } if files.len() == 4),
        "{outcome:?}"
    );
    assert_eq!(fixture.git(&["diff", "--cached"]), staged);
    for name in ["staged.txt", "changed.txt"] {
        assert_eq!(fixture.read(name), "user\n2\n3\n4\n5\n6\n7\n8\nchild\n");
    }
    assert_eq!(fixture.read("untracked.txt"), "mine\n");
    assert_eq!(
        status(&fixture),
        " M changed.txt\n D removed.txt\nMM staged.txt\n?? \"a b\\nc.txt\"\n?? untracked.txt"
    );
    assert_eq!(merge(&fixture, &change), ChangeOutcome::Nothing);
}

#[test]
fn a_file_that_a_sparse_checkout_leaves_out_is_named_with_the_way_to_have_it() {
    let fixture = Fixture::new();
    fixture.write("in/a.txt", "a\n");
    fixture.write("out/b.txt", "b\n");
    fixture.commit("two directories");
    let change = change(&fixture, |top| {
        fs::write(top.join("in/a.txt"), "child\n").unwrap();
        fs::write(top.join("out/b.txt"), "child\n").unwrap();
    });
    fixture.git(&["sparse-checkout", "set", "--cone", "in"]);
    let mut merging = Merge::begin(&fixture.repository()).unwrap();
    let error = merging.apply(&change).unwrap_err().to_string();
    assert_eq!(
        error,
        "out/b.txt is not in the sparse checkout, so nothing can be merged into it; git sparse-checkout add out brings it in"
    );
    drop(merging);
    assert_eq!(fixture.read("in/a.txt"), "a\n");
    fixture.git(&["sparse-checkout", "add", "out"]);
    let outcome = merge(&fixture, &change);
    assert!(
        matches!(outcome, ChangeOutcome::Merged { .. }),
        "{outcome:?}"
    );
}

#[test]
fn a_conflict_writes_nothing() {
    let fixture = Fixture::new();
    let change = change(&fixture, |top| {
        fs::write(top.join("kept.txt"), "one\nchild\nthree\n").unwrap();
        fs::write(top.join("new.txt"), "new\n").unwrap();
    });
    fixture.write("kept.txt", "one\nuser\nthree\n");
    let ChangeOutcome::Conflicts(conflicts) = merge(&fixture, &change) else {
        panic!("no conflict");
    };
    assert_eq!(conflicts[0].lines, [(2, 2)]);
    assert_eq!(status(&fixture), " M kept.txt");
    assert_eq!(fixture.read("kept.txt"), "one\nuser\nthree\n");
}

#[test]
fn ignored_files_in_the_way_are_not_overwritten() {
    let fixture = Fixture::new();
    let one = change(&fixture, |top| {
        fs::write(top.join(".gitignore"), "").unwrap();
        fs::write(top.join("a.log"), "child\n").unwrap();
    });
    let two = change(&fixture, |top| {
        fs::create_dir(top.join("b.log")).unwrap();
        fs::write(top.join("b.log/file"), "child\n").unwrap();
        fs::write(top.join(".gitignore"), "").unwrap();
    });
    for name in ["a.log", "b.log"] {
        fixture.write(name, "mine\n");
    }
    for (change, name) in [(one, "a.log"), (two, "b.log")] {
        assert_eq!(
            merge(&fixture, &change),
            ChangeOutcome::InTheWay(vec![name.into()])
        );
        assert_eq!(fixture.read(name), "mine\n");
        assert_eq!(fixture.read(".gitignore"), "*.log\n");
    }
}

#[test]
fn a_directory_with_ignored_files_is_not_replaced_by_a_file() {
    let fixture = Fixture::new();
    fixture.write("d/file.txt", "tracked\n");
    fixture.commit("a directory");
    let change = change(&fixture, |top| {
        fs::remove_dir_all(top.join("d")).unwrap();
        fs::write(top.join("d"), "now a file\n").unwrap();
    });
    fixture.write("d/mine.log", "mine\n");
    assert_eq!(
        merge(&fixture, &change),
        ChangeOutcome::InTheWay(vec!["d/mine.log".into()])
    );
    fs::remove_file(fixture.top().join("d/mine.log")).unwrap();
    assert!(matches!(
        merge(&fixture, &change),
        ChangeOutcome::Merged { .. }
    ));
    assert_eq!(fixture.read("d"), "now a file\n");
}

#[test]
fn a_file_that_changes_meanwhile_is_merged_as_it_is_then() {
    let fixture = Fixture::new();
    fixture.write("other.txt", "other\n");
    fixture.commit("more");
    let change = change(&fixture, |top| {
        fs::write(top.join("kept.txt"), "child\n").unwrap();
        fs::write(top.join("other.txt"), "child\n").unwrap();
        fs::write(top.join("new.txt"), "new\n").unwrap();
    });
    let mut merge = Merge::begin(&fixture.repository()).unwrap();
    fixture.write("kept.txt", "written a moment ago\n");
    let outcome = merge.apply(&change).unwrap();
    let ChangeOutcome::Conflicts(conflicts) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(conflicts[0].path.to_str(), Some("kept.txt"));
    assert_eq!(status(&fixture), " M kept.txt");
    assert_eq!(fixture.read("kept.txt"), "written a moment ago\n");
    drop(merge);
    // What fits is merged with it.
    fixture.write("kept.txt", "one\ntwo\nthree\n");
    let mut merge = Merge::begin(&fixture.repository()).unwrap();
    fixture.write("kept.txt", "child\n");
    let outcome = merge.apply(&change).unwrap();
    assert!(
        matches!(&outcome, ChangeOutcome::Merged { files, .. } if files.len() == 2),
        "{outcome:?}"
    );
    assert_eq!(fixture.read("new.txt"), "new\n");
}

#[test]
fn several_changes_are_merged_one_after_the_other() {
    let fixture = Fixture::new();
    let changes = ["a", "b", "kept"].map(|name| {
        change(&fixture, |top| {
            fs::write(top.join(format!("{name}.txt")), "child\n").unwrap();
        })
    });
    let again = change(&fixture, |top| {
        fs::write(top.join("kept.txt"), "other\n").unwrap();
    });
    let mut merge = Merge::begin(&fixture.repository()).unwrap();
    for change in &changes {
        assert!(matches!(
            merge.apply(change).unwrap(),
            ChangeOutcome::Merged { .. }
        ));
    }
    assert!(matches!(
        merge.apply(&again).unwrap(),
        ChangeOutcome::Conflicts(_)
    ));
    assert_eq!(status(&fixture), " M kept.txt\n?? a.txt\n?? b.txt");
}

#[test]
fn a_commit_holds_the_change_alone() {
    let fixture = Fixture::new();
    fixture.write("staged.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    fixture.commit("more");
    let change = change(&fixture, |top| {
        fs::write(top.join("staged.txt"), "1\n2\n3\n4\n5\n6\n7\n8\nchild\n").unwrap();
        fs::write(top.join("new.txt"), "new\n").unwrap();
    });
    fixture.write("staged.txt", "user\n2\n3\n4\n5\n6\n7\n8\n9\n");
    fixture.git(&["add", "staged.txt"]);
    fixture.write("kept.txt", "user\n");
    fixture.write("untracked.txt", "mine\n");
    let before = status(&fixture);
    let mut merge = Merge::begin(&fixture.repository()).unwrap();
    let outcome = merge
        .commit(&change, "api\n\nSub-agent-run: run-1\n")
        .unwrap();
    let ChangeOutcome::Merged {
        commit: Some(commit),
        ..
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(id(&fixture.git(&["rev-parse", "main"])), commit);
    assert_eq!(
        fixture.git(&["show", "--format=%an%n%B", "--name-only", "HEAD"]),
        "Ada\napi\n\nSub-agent-run: run-1\n\n\nnew.txt\nstaged.txt"
    );
    assert_eq!(status(&fixture), before);
    assert_eq!(
        fixture.read("staged.txt"),
        "user\n2\n3\n4\n5\n6\n7\n8\nchild\n"
    );
    assert_eq!(
        merge.commit(&change, "again\n").unwrap(),
        ChangeOutcome::Nothing
    );
}

#[test]
fn a_change_that_conflicts_with_a_commit_does_not_need_uncommitted_work() {
    let fixture = Fixture::new();
    let [one, two] = ["one", "two"].map(|text| {
        change(&fixture, |top| {
            fs::write(top.join("kept.txt"), text).unwrap();
        })
    });
    let mut merge = Merge::begin(&fixture.repository()).unwrap();
    let committed = merge.commit(&one, "one\n").unwrap();
    assert!(
        matches!(committed, ChangeOutcome::Merged { .. }),
        "{committed:?}"
    );
    let outcome = merge.commit(&two, "two\n").unwrap();
    assert!(
        matches!(outcome, ChangeOutcome::Conflicts(_)),
        "{outcome:?}"
    );
    assert_eq!(fixture.read("kept.txt"), "one");
}

#[test]
fn a_change_on_uncommitted_work_has_no_commit_of_its_own() {
    let fixture = Fixture::new();
    fixture.write("kept.txt", "user\n");
    let base = pi_subagents_git::Snapshot::take(&fixture.repository())
        .unwrap()
        .commit;
    let mut change = change(&fixture, |top| {
        fs::write(top.join("kept.txt"), "user and child\n").unwrap();
    });
    change.base = base;
    let mut merge = Merge::begin(&fixture.repository()).unwrap();
    let outcome = merge.commit(&change, "message\n").unwrap();
    assert!(
        matches!(outcome, ChangeOutcome::NeedsUncommitted(_)),
        "{outcome:?}"
    );
    assert!(matches!(
        merge.apply(&change).unwrap(),
        ChangeOutcome::Merged { .. }
    ));
}
