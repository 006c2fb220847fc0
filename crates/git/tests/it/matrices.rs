//! The fit of results to a checkout and to each other.

use std::fs;
use std::path::Path;
use std::process::Command;

use pi_subagents_git::{Change, ChangeOutcome, Conflict, Matrix, Merge, ObjectId};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

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
fn a_file_that_git_does_not_keep_is_in_the_way() {
    let fixture = Fixture::new();
    let new_log = |top: &Path| {
        fs::write(top.join(".gitignore"), "").unwrap();
        fs::write(top.join("a.log"), "child\n").unwrap();
    };
    let in_directory = |top: &Path| {
        fs::write(top.join(".gitignore"), "").unwrap();
        fs::create_dir(top.join("b.log")).unwrap();
        fs::write(top.join("b.log/file"), "child\n").unwrap();
    };
    let elsewhere = |top: &Path| fs::write(top.join("new.txt"), "child\n").unwrap();
    let changes = [
        change(&fixture, new_log),
        change(&fixture, in_directory),
        change(&fixture, elsewhere),
    ];
    for name in ["a.log", "b.log"] {
        fixture.write(name, "mine\n");
    }
    // A file that git knows here is compared, and is the same.
    fixture.write("new.txt", "child\n");
    let matrix = Matrix::of(&fixture.repository(), &changes).unwrap();
    let cells: Vec<String> = matrix.checkout.iter().map(|row| cell(row)).collect();
    assert_eq!(cells, ["in the way a.log []", "in the way b.log []", ""]);
    assert!(matrix.checkout[0][0].is_in_the_way());
    let alone = Matrix::with_checkout(&fixture.repository(), &changes).unwrap();
    assert_eq!(alone, matrix.checkout);
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
    assert!(
        matches!(outcome, ChangeOutcome::Conflicts(_)),
        "{outcome:?}"
    );
    assert_eq!(fixture.read("a.lock"), "1\n2\n3\n4\n5\n6\nseven\n");
}

#[test]
fn lines_are_those_of_the_files_that_somebody_can_open() {
    let fixture = Fixture::new();
    let text = (1..=20).map(|line| format!("{line}\n"));
    let lines: Vec<String> = text.collect();
    let with = |at: usize, new: &str| {
        let mut lines = lines.clone();
        new.clone_into(&mut lines[at - 1]);
        lines.concat()
    };
    fixture.write("a.txt", &lines.concat());
    fixture.commit("a");
    let one = change(&fixture, |top| {
        fs::write(
            top.join("a.txt"),
            format!("new\nnew\n{}", with(10, "one\n")),
        )
        .unwrap();
    });
    let two = change(&fixture, |top| {
        fs::write(top.join("a.txt"), with(10, "two\ntwo\n")).unwrap();
    });
    let three = change(&fixture, |top| {
        fs::write(top.join("a.txt"), with(18, "")).unwrap();
    });
    // The checkout changes what the third one has removed, below two new lines of its own.
    fixture.write("a.txt", &format!("x\ny\n{}", with(18, "user\n")));
    let changes = [one, two, three];
    let matrix = Matrix::of(&fixture.repository(), &changes).unwrap();
    let lines = |cell: &[Conflict]| -> Vec<_> {
        let cell = cell.iter();
        cell.map(|it| (it.lines.clone(), it.other_lines.clone()))
            .collect()
    };
    // The first one also meets the checkout at the top of the file.
    assert_eq!(lines(&matrix.checkout[0]), [(vec![(1, 2)], vec![(1, 2)])]);
    assert_eq!(
        lines(&matrix.pairs[0][1]),
        [(vec![(12, 12)], vec![(10, 11)])]
    );
    assert_eq!(
        lines(&matrix.pairs[1][0]),
        [(vec![(10, 11)], vec![(12, 12)])]
    );
    assert_eq!(
        lines(&matrix.checkout[2]),
        [(vec![(20, 20)], vec![(17, 17)])]
    );
    assert_eq!(
        Matrix::with_checkout(&fixture.repository(), &changes).unwrap(),
        matrix.checkout
    );
}

#[test]
fn submodules_that_went_different_ways_are_a_conflict() {
    let (part, fixture) = (Fixture::new(), Fixture::new());
    let from = part.top().display().to_string();
    fixture.git(&["submodule", "--quiet", "add", &from, "part"]);
    fixture.commit("a submodule");
    let commits = ["one", "two"].map(|text| {
        part.git(&["checkout", "--quiet", "--detach", "main"]);
        part.write("kept.txt", text);
        part.commit(text)
    });
    let changes = commits.map(|commit| {
        change(&fixture, |top| {
            let entry = format!("160000,{commit},part");
            git(top, &["update-index", "--cacheinfo", &entry]);
        })
    });
    let matrix = Matrix::of(&fixture.repository(), &changes).unwrap();
    assert_eq!(cell(&matrix.pairs[0][1]), "submodule part []");
    assert_eq!(matrix.checkout, [vec![], vec![]]);
}

#[test]
fn a_user_who_likes_other_markers_gets_the_same_lines() {
    let fixture = Fixture::new();
    fixture.git(&["config", "merge.conflictStyle", "diff3"]);
    let write =
        |text: &'static str| move |top: &Path| fs::write(top.join("kept.txt"), text).unwrap();
    let one = change(&fixture, write("1\n"));
    let two = change(&fixture, write("2\n2\n"));
    let matrix = Matrix::of(&fixture.repository(), &[one, two]).unwrap();
    let found = &matrix.pairs[0][1][0];
    assert_eq!(
        (&*found.lines, &*found.other_lines),
        (&[(1, 1)][..], &[(1, 2)][..])
    );
}

/// Something that a run does with the files of a small repository.
#[derive(Debug, Clone)]
enum Edit {
    Write(&'static str, u8),
    Remove(&'static str),
    Rename(&'static str, &'static str),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let files = ["a.txt", "d/b.txt", "d/100%.txt", "d/new.txt", "e/f.txt"];
    let file = prop::sample::select(files.to_vec());
    let places = prop::sample::select(vec!["d", "e", "a.txt", "g", "d/b.txt"]);
    let edit = prop_oneof![
        9 => (file.clone(), 0..2u8).prop_map(|(file, text)| Edit::Write(file, text)),
        1 => file.prop_map(Edit::Remove),
        1 => (places.clone(), places).prop_map(|(from, to)| Edit::Rename(from, to)),
    ];
    proptest::collection::vec(edit, 1..4)
}

/// Plays edits; one that cannot be done is passed over.
fn play(top: &Path, edits: &[Edit]) {
    for edit in edits {
        _ = match edit {
            Edit::Write(file, number) => {
                let lines = format!("1\n2\n3\n{file}\n{number}\n");
                let above = top.join(file);
                _ = fs::create_dir_all(above.parent().unwrap());
                fs::write(above, lines)
            }
            Edit::Remove(file) => fs::remove_file(top.join(file)),
            Edit::Rename(from, to) => fs::rename(top.join(from), top.join(to)),
        };
    }
}

/// Returns whether git merges two changes, each by a process of its own.
fn fits(fixture: &Fixture, base: &str, one: &str, other: &str) -> bool {
    let merged = Command::new("git")
        .args(["merge-tree", "--write-tree", "--name-only"])
        .args([&format!("--merge-base={base}"), one, other])
        .current_dir(fixture.top())
        .output()
        .unwrap();
    let code = merged.status.code().unwrap();
    assert!(code < 2, "{}", String::from_utf8_lossy(&merged.stderr));
    code == 0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_matrix_says_what_git_says_of_each_pair(sides in proptest::collection::vec(edits(), 5)) {
        let fixture = Fixture::new();
        for file in ["a.txt", "d/b.txt", "d/100%.txt", "e/f.txt"] {
            fixture.write(file, &format!("1\n2\n3\n{file}\n"));
        }
        fixture.commit("files");
        let changes: Vec<Change> = sides
            .iter()
            .map(|edits| change(&fixture, |top| play(top, edits)))
            .collect();
        let base = changes[0].base.as_str();
        let matrix = Matrix::of(&fixture.repository(), &changes).unwrap();
        for row in 0..changes.len() {
            prop_assert!(matrix.checkout[row].is_empty());
            for column in row + 1..changes.len() {
                let (one, other) = (&changes[row].result, &changes[column].result);
                let expected = fits(&fixture, base, one.as_str(), other.as_str());
                let found = &matrix.pairs[row][column];
                prop_assert_eq!(found.is_empty(), expected, "{:?} {:?}", &sides, found);
                // Where many pairs meet, small stand-ins are merged. They say the same.
                let alone = [changes[row].clone(), changes[column].clone()];
                let alone = Matrix::of(&fixture.repository(), &alone).unwrap();
                prop_assert_eq!(found, &alone.pairs[0][1], "{:?}", &sides);
            }
        }
    }
}
