//! `merge`, `merge --check` and `discard`.

use pretty_assertions::assert_eq;

use super::stage::WorktreeStage;

/// Two runs that change the same line, and one beside them.
fn three() -> WorktreeStage {
    let stage = WorktreeStage::new();
    stage.run(&[
        ("api", "sed -i s/two/TWO/ kept.txt"),
        ("ui", "sed -i s/two/zwei/ kept.txt; true"),
        ("tests", "echo test > test.txt"),
    ]);
    stage
}

#[test]
fn the_matrix_says_what_fits() {
    let stage = three();
    stage.write("test.txt", "mine\n");
    let output = stage
        .ours(&["merge", "api", "ui", "tests", "--check"])
        .run();
    assert_eq!(output.code, Some(1));
    insta::assert_snapshot!(output.stdout);
    assert_eq!(stage.status(), "?? test.txt");
}

#[test]
fn what_fits_is_merged_and_what_conflicts_is_named() {
    let stage = three();
    stage.write("mine.txt", "mine\n");
    let output = stage.ours(&["merge", "api", "ui", "tests"]).run();
    assert_eq!(output.code, Some(4));
    insta::assert_snapshot!(output.stdout);
    assert_eq!(stage.read("kept.txt"), "one\nTWO\nthree\n");
    assert_eq!(stage.status(), " M kept.txt\n?? mine.txt\n?? test.txt");
    // A merged run has no worktree and no branch any more; the other one has both.
    let branches = stage.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches.lines().count(), 2, "{branches}");
    assert!(branches.contains("pi-subagents/ui-"), "{branches}");
    let again = stage.ours(&["merge", "ui"]).run();
    assert_eq!(again.code, Some(1));
}

#[test]
fn a_commit_of_each_run_leaves_the_own_work_uncommitted() {
    let stage = three();
    stage.write("kept.txt", "one\ntwo\nthree\nmine\n");
    let output = stage
        .ours(&["merge", "api", "tests", "--commit"])
        .run()
        .expect_success();
    assert_eq!(output.stdout.lines().count(), 2);
    let log = stage.git(&[
        "log",
        "--format=%s|%(trailers:key=Sub-agent-run,valueonly,separator=)",
    ]);
    let subjects: Vec<&str> = log
        .lines()
        .map(|line| line.split('|').next().unwrap())
        .collect();
    assert_eq!(subjects, ["tests", "api", "first"]);
    assert_eq!(stage.read("kept.txt"), "one\nTWO\nthree\nmine\n");
    assert_eq!(stage.status(), " M kept.txt");
}

#[test]
fn a_discarded_result_can_be_got_back() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo one > a.txt")]);
    let refused = stage.ours(&["discard", "api"]).run();
    assert_eq!(refused.code, Some(2));
    let output = stage
        .ours(&["discard", "api", "--yes"])
        .run()
        .expect_success();
    assert_eq!(output.stdout, "api: discarded\n");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    let named = output
        .stderr
        .split_whitespace()
        .find(|word| word.starts_with("refs/"))
        .unwrap();
    stage.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(stage.git(&["show", &format!("{named}:a.txt")]), "one");
    assert_eq!(stage.ours(&["merge", "api"]).run().code, Some(5));
}

#[test]
fn a_run_in_the_checkout_has_no_result_and_says_so() {
    let stage = WorktreeStage::new();
    stage
        .plain(&[("api", "echo one > a.txt")])
        .run()
        .expect_success();
    let output = stage.ours(&["diff", "api"]).run();
    assert_eq!(output.code, Some(5));
    assert!(
        output.stderr.contains("made no successful edit or write"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_variable_that_leads_to_another_repository_changes_nothing() {
    let stage = WorktreeStage::new();
    let output = stage
        .command(&[("api", "unset GIT_DIR; echo one > a.txt")])
        .env("GIT_DIR", "/nonexistent")
        .run()
        .expect_success();
    assert_eq!(output.json()["runs"][0]["workspace"]["state"], "captured");
    let merged = stage
        .ours(&["merge", "api"])
        .env("GIT_DIR", "/nonexistent")
        .run();
    merged.expect_success();
    assert_eq!(stage.status(), "?? a.txt");
}

#[test]
fn sixteen_at_once_lose_nothing_and_leave_no_branch() {
    let stage = WorktreeStage::new();
    for round in 1..=3 {
        sixteen(&stage, round);
    }
}

/// Runs sixteen tasks that each make or change a file, and merges them.
fn sixteen(stage: &WorktreeStage, round: usize) {
    let names: Vec<String> = (1..=16).map(|number| format!("t{number:02}")).collect();
    let scripts: Vec<String> = (1..=16)
        .map(|number| format!("echo {round}-{number:03} > f{number:02}.txt"))
        .collect();
    let tasks: Vec<(&str, &str)> = names
        .iter()
        .zip(&scripts)
        .map(|(name, script)| (&**name, &**script))
        .collect();
    let output = stage.run(&tasks);
    let states = output["runs"].as_array().unwrap().iter();
    let captured = states
        .filter(|run| run["workspace"]["state"] == "captured")
        .count();
    assert_eq!(captured, 16);
    let ids: Vec<&str> = tasks.iter().map(|(name, _)| *name).collect();
    let merged = stage
        .ours(&[&["merge"][..], &ids].concat())
        .run()
        .expect_success();
    assert_eq!(merged.stdout.lines().count(), 16);
    assert_eq!(stage.git(&["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(stage.status().lines().count(), 16);
}
