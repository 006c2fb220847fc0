//! The fit of results to a checkout and to each other.

use std::fs;
use std::path::Path;

use pi_subagents_workspaces::{Change, Conflict, Matrix, Merge, ObjectId, Outcome};

use crate::fixture::{Fixture, git};

/// Makes a change on a branch of its own, and returns to `main`.
pub(crate) fn change(fixture: &Fixture, edit: impl Fn(&Path)) -> Change {
    let base = id(&fixture.git(&["rev-parse", "main"]));
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("worktree");
    let name = path.to_str().unwrap();
    fixture.git(&[
        "worktree",
        "add",
        "--quiet",
        "--detach",
        name,
        base.as_str(),
    ]);
    edit(&path);
    git(&path, &["add", "-A"]);
    git(
        &path,
        &["commit", "--quiet", "--allow-empty", "-m", "change"],
    );
    let result = id(&git(&path, &["rev-parse", "HEAD"]));
    Change { base, result }
}

pub(crate) fn id(text: &str) -> ObjectId {
    ObjectId::parse(text).unwrap()
}

fn cell(conflicts: &[Conflict]) -> String {
    let words = conflicts.iter().map(|conflict| {
        format!(
            "{} {} {:?}",
            conflict.kind,
            conflict.path.display(),
            conflict.lines
        )
    });
    words.collect::<Vec<_>>().join(", ")
}

fn table(matrix: &Matrix) -> String {
    let mut text = Vec::new();
    for (row, checkout) in matrix.checkout.iter().enumerate() {
        text.push(format!("{row} checkout: {}", cell(checkout)));
        for (column, pair) in matrix.pairs[row].iter().enumerate().skip(row + 1) {
            text.push(format!("{row} {column}: {}", cell(pair)));
        }
    }
    text.join("\n")
}

#[test]
fn every_kind_of_conflict_is_named() {
    let fixture = Fixture::new();
    fixture.write("other.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
    fixture.write("moved.txt", "some\nlines\nthat\nstay\n");
    fs::write(fixture.top().join("image"), [0, 1, 2]).unwrap();
    fixture.commit("more");
    let one = change(&fixture, |top| {
        fs::write(top.join("kept.txt"), "one\nTWO\nthree\n").unwrap();
        fs::write(top.join("new.txt"), "new here\n").unwrap();
        fs::remove_file(top.join("other.txt")).unwrap();
        fs::rename(top.join("moved.txt"), top.join("here.txt")).unwrap();
        fs::write(top.join("image"), [0, 1, 2, 3]).unwrap();
        fs::write(top.join("thing"), "a file\n").unwrap();
    });
    let two = change(&fixture, |top| {
        fs::write(top.join("kept.txt"), "one\nzwei\nthree\n").unwrap();
        fs::write(top.join("new.txt"), "new there\n").unwrap();
        fs::write(top.join("other.txt"), "1\n2\n3\n4\n5\n6\n7\n9\n").unwrap();
        fs::rename(top.join("moved.txt"), top.join("there.txt")).unwrap();
        fs::write(top.join("image"), [0, 1, 2, 4]).unwrap();
        fs::create_dir(top.join("thing")).unwrap();
        fs::write(top.join("thing/file"), "in a directory\n").unwrap();
    });
    let three = change(&fixture, |top| {
        fs::write(top.join("other.txt"), "0\n1\n2\n3\n4\n5\n6\n7\n8\n").unwrap();
    });
    // The checkout has uncommitted changes of its own.
    fixture.write("other.txt", "0 and a half\n1\n2\n3\n4\n5\n6\n7\n8\n");
    let objects = fixture.git(&["count-objects"]);
    let matrix = Matrix::of(&fixture.repository(), &[one, two, three]).unwrap();
    insta::assert_snapshot!(table(&matrix));
    assert!(!matrix.is_clean());
    assert_eq!(
        fixture.git(&["count-objects"]),
        objects,
        "a look adds nothing"
    );
}

#[test]
fn changes_that_fit_are_clean() {
    let fixture = Fixture::new();
    let one = change(&fixture, |top| fs::write(top.join("a.txt"), "a\n").unwrap());
    let two = change(&fixture, |top| fs::write(top.join("b.txt"), "b\n").unwrap());
    let matrix = Matrix::of(&fixture.repository(), &[one, two]).unwrap();
    assert!(matrix.is_clean());
}

#[test]
fn a_commit_that_does_not_exist_is_an_error_and_no_conflict() {
    let fixture = Fixture::new();
    let mut one = change(&fixture, |top| fs::write(top.join("a.txt"), "a\n").unwrap());
    one.result = id(&"1".repeat(40));
    Matrix::of(&fixture.repository(), &[one]).unwrap_err();
}

#[test]
fn no_merge_driver_runs() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.txt merge=own\n");
    fixture.commit("attributes");
    let mark = fixture.place.path().join("driver-ran");
    let driver = format!("touch {}; exit 0", mark.display());
    fixture.git(&["config", "merge.own.driver", &driver]);
    let write =
        |text: &'static str| move |top: &Path| fs::write(top.join("kept.txt"), text).unwrap();
    let one = change(&fixture, write("1\n"));
    let two = change(&fixture, write("2\n"));
    let matrix = Matrix::of(&fixture.repository(), &[one, two]).unwrap();
    let kinds = |conflicts: &[Conflict]| -> Vec<String> {
        let kinds = conflicts.iter().map(|conflict| conflict.kind.clone());
        kinds.collect()
    };
    assert_eq!(kinds(&matrix.pairs[0][1]), ["driver"]);
    assert_eq!(matrix.checkout, [vec![], vec![]]);
    assert!(!mark.exists());
}

#[test]
fn a_file_that_a_driver_would_decide_is_never_merged_by_us() {
    let fixture = Fixture::new();
    fixture.write(".gitattributes", "*.lock merge=own\n");
    fixture.write("a.lock", "1\n2\n3\n4\n5\n6\n7\n");
    fixture.commit("a lock file");
    fixture.git(&["config", "merge.own.driver", "false"]);
    let one = change(&fixture, |top| {
        fs::write(top.join("a.lock"), "one\n2\n3\n4\n5\n6\n7\n").unwrap();
    });
    // The text would merge without a conflict.
    fixture.write("a.lock", "1\n2\n3\n4\n5\n6\nseven\n");
    let matrix = Matrix::of(&fixture.repository(), std::slice::from_ref(&one)).unwrap();
    assert_eq!(matrix.checkout[0][0].kind, "driver");
    let mut merging = Merge::begin(&fixture.repository()).unwrap();
    let outcome = merging.apply(&one).unwrap();
    assert!(matches!(outcome, Outcome::Conflicts(_)), "{outcome:?}");
    assert_eq!(fixture.read("a.lock"), "1\n2\n3\n4\n5\n6\nseven\n");
}
