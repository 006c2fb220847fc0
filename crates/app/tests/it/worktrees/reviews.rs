//! `review`, `review --accept-all` and `undo`: eight results of which some must not be taken, a person
//! with uncommitted work, and an owner that is killed with -9.

use std::collections::BTreeMap;
use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::stage::WorktreeStage;

/// The tests of the project: every file of `src` has a first line that names it, and strict rules
/// stand no yes and no.
const CHECK: &str = "#!/bin/sh
count=0
for file in src/*.txt; do
  [ \"$(head -n 1 \"$file\")\" = \"# $file\" ] || { echo \"$file has no heading\"; exit 1; }
  count=$((count + 1))
done
if grep -q '^strict=on' src/strict.txt && grep -q '^answer=yes' src/bools.txt; then
  echo \"FAILED: strict rules stand no yes and no\"
  exit 101
fi
[ ! -e broken.txt ] || { echo broken; exit 1; }
echo \"$count passed\"
";

/// A project with tests of its own, and a person who has work of every kind in it.
pub(super) fn project() -> WorktreeStage {
    let stage = WorktreeStage::new();
    stage.write("check.sh", CHECK);
    stage.write(".gitignore", "*.log\n");
    stage.write("Cargo.lock", "one 1.0\n");
    std::fs::create_dir(stage.project().join("src")).unwrap();
    for name in ["app", "strict", "bools", "claim", "old", "mine"] {
        let text = format!("# src/{name}.txt\none\ntwo\nthree\nfour\nfive\n");
        stage.write(&format!("src/{name}.txt"), &text);
    }
    for number in 0..40 {
        stage.write(
            &format!("src/part-{number}.txt"),
            &format!("# src/part-{number}.txt\n"),
        );
    }
    stage.git(&["add", "-A", "--", ".", ":!.pi"]);
    stage.git(&["commit", "--quiet", "-m", "a project"]);
    stage
}

/// Adds the uncommitted work of the person.
pub(super) fn make_dirty(stage: &WorktreeStage) {
    stage.write("staged.txt", "staged\n");
    stage.git(&["add", "staged.txt"]);
    stage.write("src/mine.txt", "# src/mine.txt\nmine\n");
    stage.write("untracked.txt", "mine\n");
    stage.write("ignored.log", "mine\n");
}

const DIRTY: [&str; 5] = [
    "staged.txt",
    "src/mine.txt",
    "untracked.txt",
    "ignored.log",
    ".git/index",
];

const EIGHT: [(&str, &str); 8] = [
    ("docs", "mkdir docs; echo guide > docs/guide.txt"),
    ("api", "sed -i s/two/TWO/ src/app.txt"),
    (
        "ui",
        "sed -i s/two/zwei/ src/app.txt; printf 'more\\nlines\\n' >> src/app.txt",
    ),
    ("strict", "echo strict=on >> src/strict.txt"),
    (
        "bools",
        "printf 'answer=yes\\nand more\\nand more\\n' >> src/bools.txt",
    ),
    ("bump", "echo two 2.0 >> Cargo.lock"),
    ("claim", "echo six >> src/claim.txt; true"),
    ("tidy", "git rm -q src/old.txt; true"),
];

/// Lets eight sub-agents work, and then the person.
fn eight() -> WorktreeStage {
    let stage = project();
    stage.answer_for("All 42 tests pass now.", EIGHT[6].1);
    stage.run(&EIGHT);
    make_dirty(&stage);
    stage
}

fn accept_all(stage: &WorktreeStage) -> (Option<i32>, Value) {
    let arguments = ["review", "--accept-all", "--gate", "sh check.sh", "--json"];
    let output = stage.ours(&arguments).run();
    (output.code, output.json())
}

/// Returns the files of the checkout by their names.
fn files(stage: &WorktreeStage, names: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let read = |name: &&str| {
        let content = std::fs::read(stage.project().join(name)).unwrap();
        ((*name).to_owned(), content)
    };
    names.iter().map(read).collect()
}

/// Returns all files of the checkout but the records of runs.
pub(super) fn checkout(stage: &WorktreeStage) -> BTreeMap<String, Vec<u8>> {
    let tracked = stage.git(&["ls-files", "--cached", "--others", "--", ".", ":!.pi"]);
    let there = |name: &&str| stage.project().join(name).exists();
    files(stage, &tracked.lines().filter(there).collect::<Vec<_>>())
}

pub(super) fn fates(report: &Value) -> BTreeMap<&str, &str> {
    let results = report["results"].as_array().unwrap().iter();
    results
        .map(|one| (one["name"].as_str().unwrap(), one["fate"].as_str().unwrap()))
        .collect()
}

#[test]
fn the_right_ones_of_eight_results_are_taken_and_taken_back() {
    let stage = eight();
    let (before, mine) = (checkout(&stage), files(&stage, &DIRTY));
    let reasons = reasons(&stage);
    let has = |name: &str, words: &str| {
        let found = reasons[name].iter().any(|reason| reason == words);
        assert!(found, "{words}: {reasons:#?}");
    };
    has("tidy", "deletes src/old.txt");
    has("bump", "changes a lock file: Cargo.lock");
    has("api", "conflicts with ui at src/app.txt:3");
    has("claim", "no test was seen");
    let (code, report) = accept_all(&stage);
    assert_eq!(code, Some(4));
    let expected = BTreeMap::from([
        ("api", "taken"),
        ("bools", "red"),
        ("bump", "taken"),
        ("claim", "taken"),
        ("docs", "taken"),
        ("strict", "taken"),
        ("tidy", "taken"),
        ("ui", "conflict"),
    ]);
    assert_eq!(fates(&report), expected, "{report:#}");
    let of = |name: &str| {
        let mut results = report["results"].as_array().unwrap().iter();
        results.find(|one| one["name"] == name).unwrap().clone()
    };
    let red = of("bools");
    assert_eq!(red["exitCode"], 101);
    assert_eq!(red["greenAlone"], true);
    assert!(
        red["output"].as_str().unwrap().contains("strict rules"),
        "{red}"
    );
    assert_eq!(of("ui")["with"], json!(["api"]));
    assert!(report["gateRuns"].as_u64().unwrap() < 8, "{report:#}");
    // The files of the person have the same bytes, and the taken results are there.
    assert_eq!(files(&stage, &DIRTY), mine);
    assert!(stage.read("src/app.txt").contains("TWO"));
    assert!(!stage.project().join("src/old.txt").exists());
    let mut check = Command::new("sh");
    let checked = check.arg("check.sh").current_dir(stage.project()).output();
    assert!(checked.unwrap().status.success());

    // The two that are left wait, and one of them conflicts with the checkout now.
    let left = stage.ours(&["review", "--json"]).run().json();
    let left: Vec<&str> = left["waiting"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(left, ["bools", "ui"]);

    let undone = stage.ours(&["undo"]).run().expect_success();
    assert!(undone.stdout.contains("taken back, 6 files"), "{undone}");
    assert_eq!(checkout(&stage), before);
    assert_eq!(files(&stage, &DIRTY), mine);
    let all = stage.ours(&["review", "--json"]).run().json();
    assert_eq!(all["waiting"].as_array().unwrap().len(), 8);
    let nothing = stage.ours(&["undo"]).run();
    assert_eq!(nothing.code, Some(5));
    // Nothing is left of the scratch copy.
    assert_eq!(
        stage
            .git(&["worktree", "list"])
            .lines()
            .filter(|line| line.contains(".review"))
            .count(),
        0
    );
}

/// Returns the reasons for which each result is listed where it is.
fn reasons(stage: &WorktreeStage) -> BTreeMap<String, Vec<String>> {
    let listed = stage.ours(&["review", "--json"]).run().json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let waiting = listed["waiting"].as_array().unwrap().iter();
    let of_each = waiting.map(|one| {
        let reasons = one["reasons"].as_array().unwrap().iter();
        (
            text(&one["name"]),
            reasons.map(|reason| text(&reason["words"])).collect(),
        )
    });
    of_each.collect()
}

#[test]
fn a_checkout_that_fails_already_and_a_gate_that_proves_nothing_take_nothing_and_blame_nobody() {
    let stage = project();
    stage.run(&EIGHT[..2]);
    make_dirty(&stage);
    let before = checkout(&stage);
    let with_gate = |gate: &str| {
        let output = stage
            .ours(&["review", "--accept-all", "--gate", gate])
            .run();
        assert_eq!(checkout(&stage), before);
        let said: Vec<&str> = output
            .stderr
            .lines()
            .filter(|line| !line.ends_with('…'))
            .collect();
        (output.code, stage.normalise(&said.join("\n")))
    };
    let no_gate = stage.ours(&["review", "--accept-all"]).run();
    insta::assert_snapshot!(no_gate.stderr, @r#"
    error: no gate says whether docs, api may be taken
    hint: pi-subagents review --accept-all --gate "cargo test" names one; subagents.reviewGate in settings.json names one for good.
    hint: pi-subagents review --accept-all --no-gate takes them unseen.
    "#);
    assert_eq!(no_gate.code, Some(2));
    let (code, said) = with_gate("no-such-command");
    assert_eq!(code, Some(1));
    let proved = "error: the gate `no-such-command` proved nothing: exit 127: ";
    assert!(said.starts_with(proved), "{said}");
    insta::assert_snapshot!(with_gate("kill -9 $$").1, @"error: the gate `kill -9 $$` proved nothing: it was killed by signal 9; nothing was taken");
    stage.write("broken.txt", "mine\n");
    let before = checkout(&stage);
    let red = stage
        .ours(&["review", "--accept-all", "--gate", "sh check.sh"])
        .run();
    assert_eq!(red.code, Some(1));
    assert_eq!(checkout(&stage), before);
    assert!(
        red.stderr
            .contains("your checkout fails the gate already: sh check.sh → 1"),
        "{red}"
    );
}

#[test]
fn the_setting_names_the_gate_and_what_a_gate_writes_is_named_and_not_taken() {
    let stage = project();
    stage.settings(&json!({"reviewGate": "echo three 3.0 >> Cargo.lock; sh check.sh"}));
    stage.run(&EIGHT[..1]);
    let output = stage
        .ours(&["review", "--accept-all"])
        .run()
        .expect_success();
    assert_eq!(output.stdout.lines().next(), Some("✓ docs  taken"));
    assert!(
        output
            .stderr
            .contains("! the gate changed Cargo.lock; that was not taken"),
        "{output}"
    );
    assert_eq!(stage.read("Cargo.lock"), "one 1.0\n");
    let nothing = stage.ours(&["review", "--accept-all"]).run();
    assert_eq!(nothing.code, Some(5));
}

#[test]
fn edits_that_a_person_makes_while_gates_run_are_kept_and_the_rest_is_tried_again() {
    let stage = project();
    stage.run(&[EIGHT[0], EIGHT[1]]);
    // The first gate lets the person edit the same line as api, and another file.
    let project = stage.project().display().to_string();
    let gate = format!(
        "if [ ! -e {project}/once.log ]; then : > {project}/once.log; \
         sed -i s/two/mine/ {project}/src/app.txt; echo mine >> {project}/src/claim.txt; fi; sh check.sh"
    );
    let output = stage
        .ours(&["review", "--accept-all", "--json", "--gate", &gate])
        .run();
    let report = output.json();
    assert_eq!(
        fates(&report),
        BTreeMap::from([("api", "changedMeanwhile"), ("docs", "taken")])
    );
    assert_eq!(output.code, Some(4));
    assert!(stage.read("src/app.txt").contains("mine\n"));
    assert!(stage.read("src/claim.txt").ends_with("mine\n"));
    assert_eq!(stage.read("docs/guide.txt"), "guide\n");
}

#[test]
fn undo_refuses_what_was_edited_staged_or_committed_since_and_says_what_helps() {
    let stage = project();
    stage.run(&[EIGHT[0], EIGHT[1]]);
    let take = ["review", "--accept-all", "--gate", "sh check.sh"];
    stage.ours(&take).run().expect_success();
    let refused = || {
        let output = stage.ours(&["undo"]).run();
        assert_eq!(output.code, Some(1));
        let said = stage.normalise(&output.stderr);
        // The order of equal results depends on their ids.
        said.replace("docs, api", "api, docs")
    };
    stage.write(
        "src/app.txt",
        &stage.read("src/app.txt").replace("five", "fünf"),
    );
    let edited = refused();
    stage.git(&["add", "docs"]);
    let staged = refused();
    stage.git(&["commit", "--quiet", "-m", "mine"]);
    let committed = refused();
    let commit = stage.git(&["rev-parse", "--short", "HEAD"]);
    let committed = committed.replace(&commit, "COMMIT");
    insta::assert_snapshot!([edited, staged, committed].concat(), @"
    error: api, docs: not taken back; src/app.txt was edited since
    hint: pi-subagents undo --keep-edits takes back the rest and keeps the edits.
    error: api, docs: not taken back; docs/guide.txt was staged since
    hint: git restore --staged docs/guide.txt
    error: api, docs: not taken back; docs/guide.txt was committed in COMMIT
    hint: git revert COMMIT
    ");
}

#[test]
fn a_review_that_is_killed_leaves_the_checkout_as_before_or_as_after_and_the_next_one_ends_it() {
    let stage = project();
    stage.run(&[EIGHT[0], EIGHT[1], EIGHT[3], EIGHT[7]]);
    make_dirty(&stage);
    std::fs::create_dir(stage.home_path("seen")).unwrap();
    let before = checkout(&stage);
    let (code, _) = accept_all(&stage);
    assert_eq!(code, Some(0));
    let after = checkout(&stage);
    stage.ours(&["undo"]).run().expect_success();
    assert_eq!(checkout(&stage), before);
    let mut after_commands = 0;
    let mut landed = 0;
    loop {
        let take = ["review", "--accept-all", "--gate", "sh check.sh", "--json"];
        let killed = killed_after(&stage, after_commands, &take);
        if killed {
            // The next command that takes the lock of the repository recovers.
            let looked = stage.ours(&["merge", "--check", "docs"]).run();
            assert!(looked.code.is_some(), "{looked}");
            let found = checkout(&stage);
            assert!(
                found == before || found == after,
                "{after_commands}: neither before nor after"
            );
            landed += usize::from(found == after);
        }
        let (code, report) = accept_all(&stage);
        assert!(
            code == Some(0) || code == Some(5),
            "{after_commands}: {report:#}"
        );
        assert_eq!(checkout(&stage), after, "{after_commands}");
        stage.ours(&["undo"]).run().expect_success();
        assert_eq!(checkout(&stage), before, "{after_commands}");
        let waiting = stage.ours(&["review", "--json"]).run().json();
        assert_eq!(waiting["waiting"].as_array().unwrap().len(), 4);
        if !killed {
            break;
        }
        after_commands += step();
    }
    assert!(landed > 0, "no kill came after the landing");
}

/// Returns how many commands of git lie between two kills: few are tried unless a variable wants all.
pub(super) fn step() -> usize {
    let wanted = std::env::var("REVIEW_KILL_STEP").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(17)
}

/// Runs a command with a git that kills it with -9 before it runs one of its commands. Returns whether
/// it came so far.
pub(super) fn killed_after(stage: &WorktreeStage, after: usize, arguments: &[&str]) -> bool {
    let real = Command::new("sh")
        .args(["-c", "command -v git"])
        .output()
        .unwrap();
    let real = String::from_utf8_lossy(&real.stdout).trim().to_owned();
    let script = format!(
        "#!/bin/sh\nread _ _ _ owner _ < /proc/$PPID/stat\nnumber=$(ls \"$HOME/seen\" | wc -l)\n\
         : > \"$HOME/seen/$number\"\n[ \"$number\" -eq {after} ] && {{ kill -9 $owner; exit 137; }}\n\
         exec {real} \"$@\"\n"
    );
    let bin = stage.stand_in("git", &script);
    let output = stage.ours(arguments).env("PATH", bin).run();
    for entry in std::fs::read_dir(stage.home_path("seen")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    output.code.is_none()
}
