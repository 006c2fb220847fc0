//! Claims that a command was run, or that it passed. They are compared only if all commands are kept.

use super::AnswerRecord;
use super::sentence::Sentence;
use crate::receipt::SeenCommand;
use crate::text::one_line;

const PROGRAMS: [&str; 36] = [
    "bun",
    "bundle",
    "cargo",
    "clippy-driver",
    "cmake",
    "composer",
    "ctest",
    "deno",
    "docker",
    "dotnet",
    "eslint",
    "go",
    "gradle",
    "just",
    "make",
    "mix",
    "mvn",
    "mypy",
    "npm",
    "npx",
    "phpunit",
    "pnpm",
    "poetry",
    "pre-commit",
    "prettier",
    "pytest",
    "python",
    "python3",
    "rake",
    "ruff",
    "rustfmt",
    "swift",
    "tox",
    "tsc",
    "uv",
    "yarn",
];

/// Returns the commands that a sentence claims and the record does not show so.
pub(super) fn unseen(sentence: &Sentence, record: &AnswerRecord<'_>) -> Vec<String> {
    let words = sentence.words();
    let claims_success = words
        .iter()
        .any(|word| matches!(*word, "pass" | "passes" | "passed" | "clean" | "green"));
    let claims_run = words.iter().any(|word| matches!(*word, "ran" | "executed"));
    if !(claims_success || claims_run) || !record.has_all_commands() {
        return Vec::new();
    }
    let commands = sentence.codes().filter(|code| is_command(code));
    let found = commands.filter_map(|code| {
        let code = one_line(code);
        let seen = &record.receipt.commands;
        if !seen
            .iter()
            .any(|seen| one_line(&seen.command).contains(&code))
        {
            return Some(format!("not seen: {code}"));
        }
        let code_ended = last_end(&code, seen).filter(|_| claims_success)?;
        (code_ended != 0).then(|| format!("seen: {code} ended with {code_ended}"))
    });
    found.collect()
}

fn is_command(code: &str) -> bool {
    let mut words = code.split_whitespace();
    let program = words.next().unwrap_or_default();
    PROGRAMS.contains(&program) && words.next().is_some()
}

/// Returns the exit code of the last command line with this command, if that is all of the line.
fn last_end(code: &str, seen: &[SeenCommand]) -> Option<i32> {
    let mut lines = seen.iter().rev();
    let last = lines.find(|seen| one_line(&seen.command).contains(code))?;
    last.end.exit.filter(|_| one_line(&last.command) == code)
}
