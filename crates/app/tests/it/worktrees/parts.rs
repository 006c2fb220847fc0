//! Files of a result that are accepted without the rest, which waits and can be taken later.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::reviews::{checkout, killed_after, make_dirty, project, step};
use super::stage::WorktreeStage;

const WORK: &str = "mkdir docs; echo guide > docs/guide.txt; sed -i s/two/TWO/ src/app.txt; \
                    git rm -q src/old.txt; true";

fn stage() -> WorktreeStage {
    let stage = project();
    stage.run(&[("both", WORK)]);
    make_dirty(&stage);
    stage
}

fn accept(stage: &WorktreeStage, files: &str) -> String {
    let gate = ["--gate", "sh check.sh"];
    let arguments = [&["review", "both", "--accept", "--files", files][..], &gate].concat();
    let output = stage.ours(&arguments).run().expect_success();
    stage.normalise(&output.stdout)
}

/// Returns what waits: the number of files, and the parts that are left.
fn waiting(stage: &WorktreeStage) -> Vec<Value> {
    let listed = stage.ours(&["review", "--json"]).run().json();
    let waiting = listed["waiting"].as_array().unwrap().iter();
    waiting
        .map(|one| json!([one["name"], one["files"], one["remainder"]]))
        .collect()
}

fn changed(stage: &WorktreeStage) -> Vec<String> {
    let diff = stage.ours(&["diff", "both", "--json"]).run().json();
    let files = diff["files"].as_array().unwrap().iter();
    files
        .map(|file| file["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn files_of_a_result_are_taken_and_the_rest_waits_until_it_is_taken_too() {
    let stage = stage();
    let before = checkout(&stage);
    let whole = json!(["both", 3, null]);
    assert_eq!(waiting(&stage), std::slice::from_ref(&whole));
    insta::assert_snapshot!(accept(&stage, "docs"), @"
    ✓ both  taken  remainder, 2 of 3 parts
    1 result in one step: 1 file +1 −0; your 3 uncommitted files are kept
    ");
    assert_eq!(stage.read("docs/guide.txt"), "guide\n");
    assert!(stage.project().join("src/old.txt").exists());
    let rest = json!(["both", 2, {"left": 2, "of": 3}]);
    assert_eq!(waiting(&stage), [rest]);
    assert_eq!(changed(&stage), ["src/app.txt", "src/old.txt"]);

    stage.ours(&["undo"]).run().expect_success();
    assert_eq!(checkout(&stage), before);
    assert_eq!(waiting(&stage), std::slice::from_ref(&whole));
    assert_eq!(changed(&stage).len(), 3);

    accept(&stage, "docs");
    insta::assert_snapshot!(accept(&stage, "src/old.txt"), @"
    ✓ both  taken  remainder, 1 of 3 parts
    1 result in one step: 1 file +0 −6; your 4 uncommitted files are kept
    ");
    insta::assert_snapshot!(accept(&stage, "src"), @"
    ✓ both  taken
    1 result in one step: 1 file +1 −1; your 5 uncommitted files are kept
    ");
    assert_eq!(waiting(&stage), [] as [Value; 0]);
    assert!(stage.read("src/app.txt").contains("TWO"));
    for _ in 0..3 {
        stage.ours(&["undo"]).run().expect_success();
    }
    assert_eq!(checkout(&stage), before);
    assert_eq!(waiting(&stage), [whole]);
}

#[test]
fn files_that_a_result_does_not_change_are_named_and_the_rest_can_be_merged() {
    let stage = stage();
    let before = checkout(&stage);
    let none = [
        "review",
        "both",
        "--accept",
        "--no-gate",
        "--files",
        "docs,nothing.txt",
    ];
    let output = stage.ours(&none).run();
    assert_eq!(output.code, Some(3));
    let said = "error: both does not change nothing.txt";
    assert!(output.stderr.contains(said), "{output}");
    assert_eq!(checkout(&stage), before);
    accept(&stage, "src/app.txt");
    stage.ours(&["merge", "both"]).run().expect_success();
    assert!(stage.read("src/app.txt").contains("TWO"));
    assert_eq!(stage.read("docs/guide.txt"), "guide\n");
    assert_eq!(waiting(&stage), [] as [Value; 0]);
}

/// Takes three results in one step.
fn three() -> WorktreeStage {
    let stage = project();
    stage.run(&[
        ("docs", "mkdir docs; echo guide > docs/guide.txt"),
        (
            "api",
            "sed -i s/two/TWO/ src/app.txt; echo more >> src/claim.txt",
        ),
        ("tidy", "git rm -q src/old.txt; true"),
    ]);
    make_dirty(&stage);
    stage
}

fn take_all(stage: &WorktreeStage) {
    let take = ["review", "--accept-all", "--gate", "sh check.sh"];
    stage.ours(&take).run().expect_success();
}

#[test]
fn one_result_of_a_step_is_taken_back_and_the_rest_stays() {
    let stage = three();
    let before = checkout(&stage);
    take_all(&stage);
    // Edits of files that stay are nobody's business.
    stage.write("docs/guide.txt", "my guide\n");
    let red = ["undo", "api", "--gate", "grep -q TWO src/app.txt || exit 3"];
    let red = stage.ours(&red).run();
    assert_eq!(red.code, Some(1));
    let said = "error: what stays fails the gate: grep -q TWO src/app.txt || exit 3 → 3; nothing was taken back\n";
    assert!(red.stderr.ends_with(said), "{red}");
    assert!(stage.read("src/app.txt").contains("TWO"));
    let undone = ["undo", "api", "--gate", "sh check.sh"];
    let undone = stage.ours(&undone).run().expect_success();
    assert_eq!(
        undone.stdout,
        "✓ api: taken back, 2 files +1 −2; waits again\n"
    );
    assert!(stage.read("src/app.txt").contains("two"));
    assert_eq!(stage.read("docs/guide.txt"), "my guide\n");
    assert!(!stage.project().join("src/old.txt").exists());
    assert_eq!(waiting(&stage), [json!(["api", 2, null])]);
    let again = stage.ours(&["undo", "api"]).run();
    assert_eq!(again.code, Some(3), "{again}");

    stage.write("docs/guide.txt", "guide\n");
    stage.ours(&["undo"]).run().expect_success();
    assert_eq!(checkout(&stage), before);
    assert_eq!(waiting(&stage).len(), 3);
}

#[test]
fn some_files_of_a_step_are_taken_back_and_wait_as_parts_of_their_results() {
    let stage = three();
    let before = checkout(&stage);
    take_all(&stage);
    let whole = checkout(&stage);
    let files = [
        "undo",
        "--files",
        "docs,src/claim.txt",
        "--gate",
        "sh check.sh",
    ];
    stage.ours(&files).run().expect_success();
    assert!(!stage.project().join("docs/guide.txt").exists());
    assert!(stage.read("src/app.txt").contains("TWO"));
    let mut left = waiting(&stage);
    left.sort_by_key(Value::to_string);
    let part = json!(["api", 1, {"left": 1, "of": 2}]);
    assert_eq!(left, [part, json!(["docs", 1, null])]);
    // A result that was taken back can be taken again.
    take_all(&stage);
    assert_eq!(checkout(&stage), whole);
    for _ in 0..2 {
        stage.ours(&["undo"]).run().expect_success();
    }
    assert_eq!(checkout(&stage), before);
    assert_eq!(waiting(&stage).len(), 3);
    let unknown = stage.ours(&["undo", "--files", "docs"]).run();
    assert_eq!(unknown.code, Some(5));
}

/// Kills a command with -9 before one of its commands of git after the other, and takes back what it
/// has left, which must be nothing or the whole.
fn killed_everywhere(stage: &WorktreeStage, arguments: &[&str], prepare: impl Fn(&WorktreeStage)) {
    std::fs::create_dir(stage.home_path("seen")).unwrap();
    let (before, waits) = (checkout(stage), waiting(stage).len());
    let mut after_commands = 0;
    loop {
        prepare(stage);
        let killed = killed_after(stage, after_commands, arguments);
        let back = stage.ours(&["undo"]).run();
        assert!(matches!(back.code, Some(0 | 5)), "{after_commands}: {back}");
        assert_eq!(checkout(stage), before, "{after_commands}");
        let left = waiting(stage);
        assert_eq!(left.len(), waits, "{after_commands}: {left:#?}");
        assert!(
            left.iter().all(|one| one[2].is_null()),
            "{after_commands}: {left:#?}"
        );
        if !killed {
            break;
        }
        after_commands += step();
    }
}

#[test]
fn a_part_that_is_killed_while_it_is_taken_can_be_taken_back() {
    let take = [
        "review",
        "both",
        "--accept",
        "--files",
        "docs",
        "--gate",
        "sh check.sh",
    ];
    killed_everywhere(&stage(), &take, |_| {});
}

#[test]
fn a_step_that_is_killed_while_a_part_is_taken_back_can_be_taken_back() {
    let undo = ["undo", "api", "--gate", "sh check.sh"];
    killed_everywhere(&three(), &undo, take_all);
}
