//! `merge`, `merge --check` and `discard`.

use pretty_assertions::assert_eq;
use serde_json::json;

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
    assert_eq!(output.code, Some(4));
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
fn a_run_that_was_merged_and_changed_since_says_so_and_what_to_do() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "sed -i s/two/TWO/ kept.txt")]);
    stage.ours(&["merge", "api"]).run().expect_success();
    let untouched = stage.ours(&["merge", "api"]).run();
    stage.write("kept.txt", "one\ntwo and a half\nthree\n");
    let changed = stage.ours(&["merge", "api"]).run();
    assert_eq!((untouched.code, changed.code), (Some(0), Some(1)));
    let said = [untouched.stdout, changed.stdout].concat();
    insta::assert_snapshot!(stage.normalise(&said), @"
    ✓ api: this checkout has its changes already
    ✗ api: merged before, and not merged again: kept.txt:2 is different here now; git diff refs/pi-subagents/runs/<run-1>/result shows how, and git restore --source with that name takes a file back
    ");
    let json = stage.ours(&["merge", "api", "--json"]).run().json();
    assert_eq!(json["results"][0]["mergedBefore"], true);
    assert_eq!(stage.read("kept.txt"), "one\ntwo and a half\nthree\n");
}

#[test]
fn the_merge_of_a_run_that_failed_says_so() {
    let stage = WorktreeStage::new();
    let gated = stage.command(&[("api", "sed -i s/two/TWO/ kept.txt")]);
    let gated = gated.args(["--gate", "false", "--gate-retries", "0"]).run();
    assert_eq!(gated.code, Some(1), "{gated}");
    let json = stage.ours(&["merge", "api", "--json"]).run().json();
    assert_eq!(json["results"][0]["status"], "failed");
    let again = stage.ours(&["merge", "api"]).run().expect_success();
    insta::assert_snapshot!(again.stdout, @"✓ api: this checkout has its changes already, but its run failed");
}

#[test]
fn a_file_whose_mode_alone_changed_is_shown_with_its_modes() {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "chmod 755 kept.txt")]);
    let stat = stage.ours(&["diff", "api", "--stat"]).run();
    let merged = stage.ours(&["merge", "api"]).run();
    let said = [stat.stdout, stat.stderr, merged.stdout].concat();
    insta::assert_snapshot!(stage.normalise(&said), @"
    kept.txt  mode 644 → 755  modified
    api (run: <run-1>, session: <session-1>, started <past>)
    1 file, mode 644 → 755
    ✓ api: merged, 1 file, mode 644 → 755
    ");
}

#[test]
fn runs_of_one_name_are_told_apart_by_words_that_commands_take() {
    let stage = WorktreeStage::new();
    stage.run(&[("default", "sed -i s/two/TWO/ kept.txt")]);
    stage.run(&[("default", "sed -i s/two/zwei/ kept.txt; true")]);
    let output = stage.ours(&["merge", "--check"]).run();
    insta::assert_snapshot!(stage.normalise(&output.stdout), @"
                      checkout  default HEX  default HEX
    default HEX  ✓         –                 ✗ kept.txt:2
    default HEX  ✓         ✗ kept.txt:2      –
    Line numbers are from the run in that row.
    ");
    let rows = output.stdout.lines().skip(1).take(2);
    let words: Vec<&str> = rows
        .filter_map(|row| row.split_whitespace().nth(1))
        .collect();
    let changed = words.iter().map(|word| {
        let patch = stage.ours(&["diff", word]).run().expect_success().stdout;
        ["+TWO", "+zwei"].map(|line| patch.contains(line))
    });
    let changed: Vec<[bool; 2]> = changed.collect();
    assert_eq!(changed, [[true, false], [false, true]]);
    let merge: Vec<&str> = [&["merge"], &words[..]].concat();
    let merged = stage.ours(&merge).run();
    insta::assert_snapshot!(stage.normalise(&merged.stdout), @"
    ✓ default HEX: merged, 1 file +1 −1
    ✗ default HEX: not merged; conflicts with this checkout in kept.txt:2
    ");
}

#[test]
fn the_example_of_the_page_about_worktrees_is_what_is_printed() {
    let stage = WorktreeStage::new();
    std::fs::create_dir(stage.project().join("src")).unwrap();
    stage.write(
        "src/main.rs",
        "fn main() {\n    let name = \"world\";\n    println!(\"hello {name}\");\n}\n",
    );
    stage.run(&[
        ("left", r"sed -i '3s/hello/good morning/' src/main.rs"),
        ("right", r"sed -i '3s/hello/good night/' src/main.rs"),
    ]);
    let merge = ["merge", "left", "right"];
    let checked = stage.ours(&merge).arg("--check").run().stdout;
    let merged = stage.ours(&merge).run().stdout;
    let printed = format!(
        "$ pi-subagents merge left right --check\n{checked}$ pi-subagents merge left right\n{merged}```"
    );
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/worktrees.md");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(&printed), "{printed}");
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

/// Two results, and between them a run that changed nothing and one that worked in the checkout.
fn two_of_four() -> WorktreeStage {
    let stage = WorktreeStage::new();
    stage.run(&[("api", "echo api > api.txt"), ("idle", "true")]);
    stage.plain(&[("here", "true")]).run().expect_success();
    stage.run(&[("ui", "echo ui > ui.txt")]);
    stage
}

#[test]
fn a_run_without_a_result_is_named_and_the_others_are_merged() {
    let stage = two_of_four();
    let all = ["api", "idle", "here", "ui"];
    let checked = stage.ours(&["merge", "--check"]).args(all).run();
    assert_eq!(checked.code, Some(4));
    let merged = stage.ours(&["merge"]).args(all).run();
    assert_eq!(merged.code, Some(4));
    let said = format!("{}\n{}", checked.stdout, merged.stdout);
    insta::assert_snapshot!(stage.normalise(&said), @"
         checkout  api  ui
    api  ✓         –    ✓
    ui   ✓         ✓    –
    ✗ idle has no result: nothing was changed  <run-1>
    ✗ here has no separate result: it worked in the checkout itself  <run-2>

    ✓ api: merged, 1 file +1 −0
    ✗ idle has no result: nothing was changed  <run-1>
    ✗ here has no separate result: it worked in the checkout itself  <run-2>
    ✓ ui: merged, 1 file +1 −0
    ");
    assert_eq!(stage.status(), "?? api.txt\n?? ui.txt");
    let none = stage.ours(&["merge", "idle", "here"]).run();
    assert_eq!(none.code, Some(5));
    insta::assert_snapshot!(stage.normalise(&none.stderr), @"
    idle (run: <run-1>, session: <session-1>, started <past>)
    here (run: <run-2>, session: <session-2>, started <past>)
    error: idle has no result: nothing was changed (run <run-1>)
      here has no separate result: it worked in the checkout itself (run <run-2>)
    ");
    let unknown = stage.ours(&["merge", "api", "nobody"]).run();
    assert_eq!(unknown.code, Some(3));
}

#[test]
fn programs_are_told_of_runs_without_a_result() {
    let stage = two_of_four();
    let all = ["idle", "ui"];
    let checked = stage.ours(&["merge", "--check", "--json"]).args(all).run();
    let idle = &checked.json()["withoutResult"][0];
    assert_eq!(idle["name"], "idle");
    let error = idle["error"].as_str().unwrap();
    assert_eq!(error, "idle has no result: nothing was changed");
    let merged = stage.ours(&["merge", "--json"]).args(all).run().json();
    let told = merged["results"].as_array().unwrap().iter();
    let told: Vec<_> = told.map(|run| (&run["name"], &run["merged"])).collect();
    assert_eq!(
        told,
        [
            (&json!("idle"), &json!(false)),
            (&json!("ui"), &json!(true))
        ]
    );
    let kept = stage.ours(&["keep", "api", "ui", "--json"]).run();
    assert_eq!(kept.code, Some(4));
    assert_eq!(kept.json()["worktrees"][0]["name"], "api");
    assert_eq!(kept.json()["withoutResult"][0]["name"], "ui");
    let discarded = stage
        .ours(&["discard", "ui", "api", "--yes", "--json"])
        .run();
    assert_eq!(discarded.code, Some(4));
    let reference = discarded.json()["discarded"][0]["ref"].clone();
    let reference = reference.as_str().unwrap();
    assert!(
        reference.starts_with("refs/pi-subagents/discarded/"),
        "{reference}"
    );
    assert_eq!(discarded.json()["withoutResult"][0]["name"], "ui");
}

#[test]
fn what_cannot_be_discarded_is_named_and_the_others_are_discarded() {
    let stage = two_of_four();
    let all = ["api", "idle", "here", "ui", "--yes"];
    let discarded = stage.ours(&["discard"]).args(all).run();
    assert_eq!(discarded.code, Some(4));
    let again = stage.ours(&["discard"]).args(all).run();
    assert_eq!(again.code, Some(5));
    let one = stage.ours(&["discard", "here", "--yes"]).run();
    assert_eq!(one.code, Some(5));
    let said = [discarded.stdout, again.stderr, one.stderr].join("\n");
    insta::assert_snapshot!(stage.normalise(&said), @"
    api: discarded
    ui: discarded
    ✗ idle has nothing to discard: nothing was changed  <run-1>
    ✗ here has nothing to discard: it has no worktree  <run-2>

    api (run: <run-3>, session: <session-1>, started <past>)
    idle (run: <run-1>, session: <session-2>, started <past>)
    here (run: <run-2>, session: <session-3>, started <past>)
    ui (run: <run-4>, session: <session-4>, started <past>)
    error: api has nothing to discard: it was discarded (run <run-3>)
      idle has nothing to discard: nothing was changed (run <run-1>)
      here has nothing to discard: it has no worktree (run <run-2>)
      ui has nothing to discard: it was discarded (run <run-4>)

    here (run: <run-2>, session: <session-3>, started <past>)
    error: here has nothing to discard: it has no worktree (run <run-2>)
    ");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}

/// A git that cannot write the tree of the second result.
const FAILING_GIT: &str = r#"#!/bin/sh
case "$*" in *checkout-index*) echo x >> "$HOME/count"; [ "$(wc -l < "$HOME/count")" -lt 2 ] || {
  echo "fatal: cannot write: No space left on device" >&2; exit 128; } ;; esac
PATH=${PATH#*:} exec git "$@"
"#;

#[test]
fn results_before_one_that_git_cannot_merge_are_in_and_those_after_it_are_not_tried() {
    let stage = WorktreeStage::new();
    stage.run(&[
        ("api", "echo api > api.txt"),
        ("ui", "echo ui > ui.txt"),
        ("docs", "echo docs > docs.txt"),
    ]);
    let path = stage.stand_in("git", FAILING_GIT);
    let merged = stage
        .ours(&["merge", "api", "ui", "docs"])
        .env("PATH", path)
        .run();
    assert_eq!(merged.code, Some(4));
    insta::assert_snapshot!(stage.normalise(&merged.stdout), @"
    ✓ api: merged, 1 file +1 −0
    ✗ ui: not merged; git checkout-index failed: cannot write: No space left on device
    ✗ docs: not tried, because the one before it could not be merged
    ");
    // The first one is in and tidied up. The others wait as they were.
    assert_eq!(stage.status(), "?? api.txt");
    let branches = stage.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches.lines().count(), 3, "{branches}");
    assert!(!branches.contains("pi-subagents/api-"), "{branches}");
    stage.ours(&["merge", "ui", "docs"]).run().expect_success();
    assert_eq!(stage.status(), "?? api.txt\n?? docs.txt\n?? ui.txt");
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

#[test]
fn results_become_commits_of_a_new_branch_and_the_checkout_stays() {
    let stage = three();
    stage.write("mine.txt", "mine\n");
    stage.git(&["remote", "add", "origin", "https://github.example/a/b.git"]);
    let before = stage.git(&["rev-parse", "HEAD"]);
    let arguments = [
        "merge",
        "api",
        "ui",
        "tests",
        "--branch",
        "team/work",
        "--pr",
    ];
    let output = stage.ours(&arguments).run();
    assert_eq!(output.code, Some(4));
    let said: Vec<&str> = output.stdout.lines().collect();
    let commits = stage.git(&[
        "log",
        "--reverse",
        "--abbrev=8",
        "--format=%h",
        "HEAD..team/work",
    ]);
    let commits: Vec<&str> = commits.lines().collect();
    let expected = [
        format!("✓ api: {} on team/work", commits[0]),
        "✗ ui: left out; conflicts with team/work in kept.txt:2".to_owned(),
        format!("✓ tests: {} on team/work", commits[1]),
        "git push -u origin team/work".to_owned(),
        "gh pr create --fill --head team/work".to_owned(),
    ];
    assert_eq!(said, expected);
    let messages = stage.git(&["log", "--format=%an %s%n%b", "HEAD..team/work"]);
    let receipt = "1 file changed, 1 command, 2 turns";
    let message = |name: &str| format!("Ada {name}\nsaw: {receipt}\n");
    for name in ["api", "tests"] {
        assert!(messages.contains(&message(name)), "{messages}");
    }
    assert_eq!(messages.matches("Sub-agent-run: ").count(), 2);
    assert_eq!(stage.git(&["rev-parse", "HEAD"]), before);
    assert_eq!(stage.status(), "?? mine.txt");
    let again = stage.ours(&["merge", "api", "--branch", "team/work"]).run();
    assert!(
        again
            .stderr
            .contains("the branch team/work is there already"),
        "{again}"
    );
    let bad = stage.ours(&["merge", "api", "--branch", "a..b"]).run();
    assert!(
        bad.stderr
            .contains("\"a..b\" cannot be the name of a branch"),
        "{bad}"
    );
}
