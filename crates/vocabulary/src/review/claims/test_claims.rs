//! Claims that tests passed.

use super::AnswerRecord;
use super::sentence::Sentence;
use crate::receipt::{CommandEnd, SeenTest, TestState};
use crate::text::one_line;

/// A claim that tests passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TestClaim {
    /// The number of tests, if the sentence has one.
    number: Option<u64>,
    /// True if it speaks of all tests.
    is_whole: bool,
}

const PASSED: [&str; 5] = ["pass", "passes", "passed", "passing", "green"];
const WHOLE: [&str; 5] = ["all", "full", "whole", "entire", "every"];

/// A verb may be so many words behind its noun.
const REACH: usize = 4;

/// Returns what the record shows instead, if a sentence claims that tests passed.
pub(super) fn unseen(sentence: &Sentence, record: &AnswerRecord<'_>) -> Option<String> {
    let claim = TestClaim::find(&sentence.words())?;
    let tests = &record.receipt.tests;
    match (&tests.last, tests.state) {
        (None, _) | (_, TestState::NotSeen) => not_run(claim, record),
        (Some(test), TestState::Failed) => Some(match test.end {
            CommandEnd {
                exit: Some(code), ..
            } => format!("seen: the last test ended with {code}"),
            CommandEnd { exit: None, .. } => "not seen: how the last test ended".to_owned(),
        }),
        (Some(_), TestState::Unclear) => Some("not seen: how the last test ended".to_owned()),
        (Some(_), TestState::Stale) => Some("the tests are older than the last change".to_owned()),
        (Some(test), TestState::Passed | TestState::PassedBeforeCommands) => {
            other_number(claim, record).or_else(|| a_part(claim, test))
        }
    }
}

impl TestClaim {
    fn find(words: &[&str]) -> Option<Self> {
        let is_noun = |word: &str| matches!(word, "test" | "tests" | "suite" | "testsuite");
        let passes = |from: usize| {
            let reach = words.iter().skip(from + 1).take(REACH);
            reach.clone().any(|word| PASSED.contains(word))
        };
        let number = |place: usize| words.get(place).and_then(|word| word.parse().ok());
        let noun = (0..words.len()).find(|&at| is_noun(words[at]) && passes(at));
        let Some(noun) = noun else {
            // `42 passed`
            let bare =
                (1..words.len()).find(|&at| words[at] == "passed" && number(at - 1).is_some());
            return bare.map(|at| Self {
                number: number(at - 1),
                is_whole: false,
            });
        };
        let before = noun.saturating_sub(REACH)..noun;
        Some(Self {
            number: (noun.saturating_sub(2)..noun).rev().find_map(number),
            is_whole: before.into_iter().any(|at| WHOLE.contains(&words[at])),
        })
    }
}

/// Says that no test was seen, unless a script ran that may have started one.
fn not_run(claim: TestClaim, record: &AnswerRecord<'_>) -> Option<String> {
    let starts_others = |command: &str| {
        command.split(['\n', ';', '&', '|']).any(|part| {
            let program = part.split_whitespace().next().unwrap_or_default();
            program.contains('/')
                || ["make", "just", "sh", "bash", "npm", "task"].contains(&program)
                || part.contains(".sh")
        })
    };
    let mut commands = record.receipt.commands.iter();
    if !record.has_all_commands() || commands.any(|seen| starts_others(&seen.command)) {
        return None;
    }
    Some(match claim.number {
        Some(1) => "not seen: 1 test".to_owned(),
        Some(number) => format!("not seen: {number} tests"),
        None => "not seen: a test run".to_owned(),
    })
}

fn other_number(claim: TestClaim, record: &AnswerRecord<'_>) -> Option<String> {
    let (number, seen) = (claim.number?, record.passed.last()?);
    let is_seen = record.passed.contains(&number);
    (!is_seen).then(|| format!("not seen: {number} tests (seen: {seen})"))
}

/// Names the last test if the claim is about all tests and the command asks for some of them.
fn a_part(claim: TestClaim, test: &SeenTest) -> Option<String> {
    let is_part = claim.is_whole && claim.number.is_none() && names_a_part(&test.command);
    is_part.then(|| format!("seen: {}, which names a part", one_line(&test.command)))
}

/// Returns whether a command line asks a test program for some tests only.
fn names_a_part(command: &str) -> bool {
    const OPTIONS: [&str; 12] = [
        "-p",
        "--package",
        "-k",
        "-m",
        "--test",
        "--lib",
        "--bin",
        "-t",
        "--testNamePattern",
        "-run",
        "--filter",
        "--lf",
    ];
    let words = command.split_whitespace();
    let is_part = |word: &str| {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        OPTIONS.contains(&name) || word.contains("::")
    };
    // `python -m pytest` names a program, not a part.
    let mut words = words.filter(|word| *word != "-m" || !command.contains("python"));
    words.any(is_part)
}
