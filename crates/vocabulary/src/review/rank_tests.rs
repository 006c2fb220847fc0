//! The twelve results of the specification, and what the order must keep.

use pretty_assertions::assert_eq;

use super::*;
use crate::SandboxLevel;
use crate::receipt::{CommandEnd, GateState, Receipt, SeenGate, SeenTest, SeenTests, TestState};
use crate::review::facts::{RunClash, TouchedPath};

fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

/// Returns a result with a green gate and nothing to look at.
fn result(name: &str, files: &[(&str, u64)]) -> ResultFacts {
    let file = |(path, added): &(&str, u64)| TouchedPath {
        path: (*path).to_owned(),
        added: *added,
        ..TouchedPath::default()
    };
    ResultFacts {
        run: run(name),
        name: name.to_owned(),
        task: "Do it.".to_owned(),
        files: files.iter().map(file).collect(),
        receipt: Receipt {
            command_count: 2,
            gate: Some(SeenGate {
                command: "cargo test".to_owned(),
                state: GateState::Passed,
                attempts: 1,
                log: String::new(),
            }),
            ..Receipt::default()
        },
        is_completed: true,
        failed_gate: None,
        unseen: Vec::new(),
        checkout_conflicts: Vec::new(),
        in_the_way: Vec::new(),
        marked: Vec::new(),
        copies: Vec::new(),
        clashes: Vec::new(),
        needs: Vec::new(),
        checkout_changed: false,
        sandbox: Some(SandboxLevel::WorkspaceWrite),
        sent_back: 0,
    }
}

fn clash(with: &str, place: &str) -> RunClash {
    RunClash {
        with: run(with),
        name: with.to_owned(),
        places: vec![place.to_owned()],
    }
}

fn lines_of(results: &[ResultFacts]) -> String {
    let lines = ranked(results).into_iter().map(|one| {
        let reasons: Vec<String> = one.reasons.into_iter().map(|it| it.words).collect();
        let line = format!(
            "{} {}: {}",
            results[one.given].name,
            one.tier.word(),
            reasons.join("; ")
        );
        line.trim_end_matches(": ").to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn twelve() -> Vec<ResultFacts> {
    let mut client = result("client", &[("src/client.rs", 30)]);
    client.needs = vec![run("api")];
    let bump = result("bump", &[("Cargo.lock", 10), ("Cargo.toml", 1)]);
    let mut claim = result("claim", &[("src/claim.rs", 20)]);
    claim.receipt.gate = None;
    claim.unseen = vec!["not seen: 42 tests".to_owned()];
    let mut parse = result("parse", &[("src/parse.rs", 40)]);
    parse.receipt.gate = None;
    parse.receipt.tests = SeenTests {
        state: TestState::Stale,
        last: Some(SeenTest {
            command: "cargo test".to_owned(),
            end: CommandEnd::exited(0),
            after_last_change: Some(false),
            commands_since: 3,
        }),
        passed: Vec::new(),
    };
    let names: Vec<String> = (0..29).map(|number| format!("src/h{number}.rs")).collect();
    let mut many: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 80)).collect();
    many.push(("src/api.rs", 80));
    let huge = result("huge", &many);
    let mut tidy = result("tidy", &[("src/old.rs", 0)]);
    tidy.files[0].is_deleted = true;
    tidy.files[0].removed = 5;
    let mut ci = result("ci", &[(".github/workflows/t.yml", 2)]);
    ci.receipt.gate = None;
    ci.sandbox = None;
    let mut theme = result("theme", &[("src/app.rs", 9)]);
    theme.clashes = vec![clash("ui", "src/app.rs:38-50")];
    let mut ui = result("ui", &[("src/app.rs", 21)]);
    ui.clashes = vec![clash("theme", "src/app.rs:40-61")];
    let mut late = result("late", &[("README.md", 4)]);
    late.checkout_conflicts = vec!["README.md:1-4".to_owned()];
    let docs = result("docs", &[("docs/a.md", 60)]);
    let api = result("api", &[("src/api.rs", 50)]);
    vec![
        late, ui, huge, ci, client, theme, parse, tidy, claim, bump, api, docs,
    ]
}

#[test]
fn the_twelve_results_are_proposed_in_this_order_for_these_reasons() {
    insta::assert_snapshot!(lines_of(&twelve()), @r"
    docs fits
    api fits
    client fits
    bump look: changes a lock file: Cargo.lock; changes configuration: Cargo.toml
    claim look: no test was seen; not seen: 42 tests
    parse look: the tests are older than the last change; 3 commands since the last test
    huge look: changes a file that api changes too; large: 30 files, 2400 lines
    tidy careful: deletes src/old.rs
    ci careful: touches CI: .github/workflows/t.yml; ran shell commands without a sandbox; no test was seen
    theme careful: conflicts with ui at src/app.rs:38-50
    ui careful: conflicts with theme at src/app.rs:40-61
    late decide: conflicts with your checkout: README.md:1-4
    ");
}

#[test]
fn the_order_does_not_depend_on_the_order_in_which_results_are_given() {
    let expected = lines_of(&twelve());
    let mut results = twelve();
    for _ in 0..results.len() {
        results.rotate_left(1);
        assert_eq!(lines_of(&results), expected);
    }
}

#[test]
fn a_result_comes_after_what_it_was_built_on_whatever_that_asks() {
    let mut ground = result("ground", &[("src/a.rs", 1)]);
    ground.checkout_changed = true;
    let mut top = result("top", &[("src/b.rs", 1)]);
    top.needs = vec![run("ground"), run("somebody-who-was-merged")];
    insta::assert_snapshot!(lines_of(&[top.clone(), ground.clone()]), @r"
    ground careful: your checkout changed while it ran
    top fits
    ");
    // A circle cannot be, and must not hang.
    ground.needs = vec![run("top")];
    assert_eq!(ranked(&[top, ground]).len(), 2);
}

#[test]
fn conflicts_stand_side_by_side() {
    let with = |name: &str, other: &str, lines: u64| {
        let mut one = result(name, &[("src/x.rs", lines)]);
        one.clashes = vec![clash(other, "src/x.rs:1")];
        one
    };
    let results = [
        with("a", "b", 1),
        with("c", "d", 2),
        with("b", "a", 3),
        with("d", "c", 4),
    ];
    let names = ranked(&results);
    let names: Vec<&str> = names.iter().map(|one| &*results[one.given].name).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
}

#[test]
fn every_other_reason_has_its_words() {
    let mut one = result(
        "one",
        &[("tests/a.rs", 2), ("AGENTS.md", 1), ("vendor/x", 9000)],
    );
    one.files[0].removed = 14;
    one.files.push(TouchedPath {
        path: "libs/z".to_owned(),
        is_submodule: true,
        ..TouchedPath::default()
    });
    one.in_the_way = vec!["a.log".to_owned()];
    one.marked = vec!["src/m.rs".to_owned()];
    one.copies = vec![".env".to_owned()];
    one.failed_gate = Some("cargo test → exit 101".to_owned());
    one.receipt.gate = None;
    one.receipt.tests = SeenTests {
        state: TestState::Failed,
        last: Some(SeenTest {
            command: "cargo test".to_owned(),
            end: CommandEnd::exited(101),
            after_last_change: Some(true),
            commands_since: 0,
        }),
        passed: Vec::new(),
    };
    one.sent_back = 2;
    let mut two = result("two", &[("src/app.rs", 1), ("src/other.rs", 1)]);
    two.task = "Fix src/app.rs.".to_owned();
    two.is_completed = false;
    two.receipt.gate = None;
    two.receipt.tests.state = TestState::Unclear;
    two.receipt.tests.last.clone_from(&one.receipt.tests.last);
    insta::assert_snapshot!(lines_of(&[one, two]), @r"
    two decide: the run did not complete; the exit code of the last test is hidden; outside the task's words: src/other.rs
    one decide: a file is in the way: a.log; conflict markers are left in src/m.rs; holds a copy of an ignored file: .env; its gate failed: cargo test → exit 101; moves a submodule: libs/z; the last test seen failed: cargo test → 101; touches a guard file: AGENTS.md; takes out 12 lines of tests; was sent back 2 times
    ");
}
