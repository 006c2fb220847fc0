//! The reasons to look at one result.

use super::facts::{ResultFacts, TouchedPath};
use super::path_kind::PathKind;
use super::reason::{RiskReason, RiskRule};
use super::task_words::outside;
use crate::SandboxLevel;
use crate::receipt::{CommandEnd, Flag, GateState, SeenTest, TestState};
use crate::text::{count, cut_characters, first_of, one_line};

/// At most so many files are named in a reason.
const MOST_NAMED: usize = 3;

/// At most so many characters of a command are in a reason.
const MOST_COMMAND: usize = 60;

/// A result with more files or more lines, without generated ones, is large.
const MANY_FILES: usize = 20;
const MANY_LINES: u64 = 400;

/// Finds the reasons that one result gives by itself, in the order of the rules.
pub(super) fn reasons(facts: &ResultFacts) -> Vec<RiskReason> {
    let mut found = Found::default();
    of_fit(facts, &mut found);
    of_end(facts, &mut found);
    of_files(facts, &mut found);
    of_tests(facts, &mut found);
    of_run(facts, &mut found);
    let mut reasons = found.reasons;
    reasons.sort_by_key(|reason| reason.rule);
    // A claim may say in the same words what a rule has found already.
    let mut seen = std::collections::HashSet::new();
    reasons.retain(|reason| seen.insert(reason.words.clone()));
    reasons
}

#[derive(Default)]
struct Found {
    reasons: Vec<RiskReason>,
}

impl Found {
    fn add(&mut self, rule: RiskRule, words: impl Into<String>) {
        let (words, paths) = (words.into(), Vec::new());
        self.reasons.push(RiskReason { rule, words, paths });
    }

    /// Adds a reason about files, if there are any.
    fn add_paths(&mut self, rule: RiskRule, words: &str, paths: Vec<String>) {
        if !paths.is_empty() {
            let words = format!("{words} {}", first_of(paths.clone(), MOST_NAMED, ", "));
            self.reasons.push(RiskReason { rule, words, paths });
        }
    }
}

/// Adds what stands between the result, the checkout and other results.
fn of_fit(facts: &ResultFacts, found: &mut Found) {
    let places = facts.checkout_conflicts.clone();
    let rule = RiskRule::CheckoutConflict;
    found.add_paths(rule, "conflicts with your checkout:", places);
    let blocking = facts.in_the_way.clone();
    let words = match blocking.len() {
        1 => "a file is in the way:",
        _ => "files are in the way:",
    };
    found.add_paths(RiskRule::InTheWay, words, blocking);
    let marked = facts.marked.clone();
    found.add_paths(RiskRule::Markers, "conflict markers are left in", marked);
    let copies = facts.copies.clone();
    let words = match copies.len() {
        1 => "holds a copy of an ignored file:",
        _ => "holds copies of ignored files:",
    };
    found.add_paths(RiskRule::IgnoredCopy, words, copies);
    for clash in &facts.clashes {
        let words = format!("conflicts with {} at", one_line(&clash.name));
        found.add_paths(RiskRule::RunConflict, &words, clash.places.clone());
    }
}

fn of_end(facts: &ResultFacts, found: &mut Found) {
    match &facts.failed_gate {
        Some(gate) => found.add(RiskRule::GateFailed, format!("its gate failed: {gate}")),
        None if !facts.is_completed => {
            found.add(RiskRule::NotCompleted, "the run did not complete");
        }
        None => {}
    }
}

fn of_files(facts: &ResultFacts, found: &mut Found) {
    let moved = named(facts, |file| file.is_submodule);
    found.add_paths(RiskRule::Submodule, "moves a submodule:", moved);
    found.add_paths(RiskRule::Ci, "touches CI:", of_kind(facts, PathKind::Ci));
    let mut guards = of_kind(facts, PathKind::Guard);
    if facts.receipt.flags.contains(&Flag::GateChanged) {
        guards.push("a file of its gate".to_owned());
    }
    found.add_paths(RiskRule::GuardFile, "touches a guard file:", guards);
    let deleted = named(facts, |file| file.is_deleted && !file.is_submodule);
    found.add_paths(RiskRule::Deletion, "deletes", deleted);
    of_lost_tests(facts, found);
    let locks = of_kind(facts, PathKind::Lock);
    found.add_paths(RiskRule::LockFile, "changes a lock file:", locks);
    let configured = of_kind(facts, PathKind::Configuration);
    let rule = RiskRule::Configuration;
    found.add_paths(rule, "changes configuration:", configured);
    let outside = outside(&facts.task, &facts.files);
    found.add_paths(RiskRule::OutsideTask, "outside the task's words:", outside);
    of_size(facts, found);
}

/// Adds the lines of tests that are gone and were not replaced. A test that is deleted whole is
/// named as deleted.
fn of_lost_tests(facts: &ResultFacts, found: &mut Found) {
    let is_test = |path: &str| PathKind::of(path) == PathKind::Test;
    let tests = facts.files.iter().filter(|file| is_test(&file.path));
    let kept = tests.filter(|file| !file.is_deleted);
    let lost: u64 = kept
        .map(|file| file.removed.saturating_sub(file.added))
        .sum();
    if lost > 0 {
        let lines = if lost == 1 { "line" } else { "lines" };
        let words = format!("takes out {lost} {lines} of tests");
        found.add(RiskRule::TestsTakenOut, words);
    }
}

fn of_size(facts: &ResultFacts, found: &mut Found) {
    let is_written = |file: &&TouchedPath| {
        !matches!(
            PathKind::of(&file.path),
            PathKind::Lock | PathKind::Generated
        )
    };
    let written = facts.files.iter().filter(is_written);
    let (files, lines) = written.fold((0, 0), |(files, lines), file| {
        (files + 1, lines + file.lines())
    });
    if files > MANY_FILES || lines > MANY_LINES {
        let files = count(files, "file");
        let words = format!("large: {files}, {lines} lines");
        found.add(RiskRule::Large, words);
    }
}

/// Adds what is known of tests. A green gate is a better proof than a test of the sub-agent.
fn of_tests(facts: &ResultFacts, found: &mut Found) {
    let tests = &facts.receipt.tests;
    let gate = facts.receipt.gate.as_ref();
    let has_green_gate = gate.is_some_and(|gate| gate.state == GateState::Passed);
    match (&tests.last, tests.state) {
        (Some(test), TestState::Failed) => {
            let words = format!("the last test seen failed: {}", ended(test));
            found.add(RiskRule::TestFailed, words);
        }
        _ if has_green_gate => {}
        (None, _) | (_, TestState::NotSeen) => found.add(RiskRule::NoTest, "no test was seen"),
        (Some(_), TestState::Unclear) => {
            let words = "the exit code of the last test is hidden";
            found.add(RiskRule::TestHidden, words);
        }
        (Some(test), _) => {
            if test.after_last_change == Some(false) {
                let words = "the tests are older than the last change";
                found.add(RiskRule::TestsOlder, words);
            }
            if test.commands_since > 0 {
                let commands = count(test.commands_since, "command");
                let words = format!("{commands} since the last test");
                found.add(RiskRule::CommandsSince, words);
            }
        }
    }
}

fn ended(test: &SeenTest) -> String {
    let command = cut_characters(&one_line(&test.command), MOST_COMMAND);
    match test.end {
        CommandEnd {
            exit: Some(code), ..
        } => format!("{command} → {code}"),
        CommandEnd { exit: None, .. } => format!("{command} was cut short"),
    }
}

fn of_run(facts: &ResultFacts, found: &mut Found) {
    if facts.checkout_changed {
        let words = "your checkout changed while it ran";
        found.add(RiskRule::CheckoutChanged, words);
    }
    let level = facts.sandbox.unwrap_or(SandboxLevel::Off);
    if level == SandboxLevel::Off && facts.receipt.command_count > 0 {
        let words = "ran shell commands without a sandbox";
        found.add(RiskRule::NoSandbox, words);
    }
    for claim in &facts.unseen {
        found.add(RiskRule::NotSeen, claim.clone());
    }
    if facts.sent_back > 0 {
        let words = format!("was sent back {}", count(facts.sent_back, "time"));
        found.add(RiskRule::SentBack, words);
    }
}

fn named(facts: &ResultFacts, is_meant: impl Fn(&TouchedPath) -> bool) -> Vec<String> {
    let files = facts.files.iter().filter(|file| is_meant(file));
    files.map(|file| file.path.clone()).collect()
}

/// Returns the files of a kind, also those that were it before they were renamed.
fn of_kind(facts: &ResultFacts, kind: PathKind) -> Vec<String> {
    named(facts, |file| {
        let from = file.from.as_deref();
        PathKind::of(&file.path) == kind || from.is_some_and(|from| PathKind::of(from) == kind)
    })
}
