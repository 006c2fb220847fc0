//! Exit codes. A command that had runs exits with 0 only if all of them completed.

use std::process::ExitCode;

/// The arguments or a definition are invalid, and nothing was started.
pub const INVALID: u8 = 2;

/// Some runs completed and some did not.
const MIXED: u8 = 4;

/// A run has no answer, or none that is finished.
pub const NO_ANSWER: u8 = 5;

/// The exit codes of a run that a command passes on: completed, parked, timed out, hung up, interrupted,
/// terminated. A run with any other code has failed.
const KNOWN: [i32; 6] = [0, 75, 124, 129, 130, 143];

/// Returns one code for several runs: theirs if they agree.
pub fn of_runs(codes: impl IntoIterator<Item = i32>) -> ExitCode {
    ExitCode::from(u8::try_from(merged(codes)).unwrap_or(1))
}

/// Returns one code for several runs whose answers were asked for. A run that completed without an
/// answer has [`NO_ANSWER`] as its code, which counts if all runs completed.
pub fn of_answers(codes: impl IntoIterator<Item = i32>) -> ExitCode {
    ExitCode::from(u8::try_from(merged_answers(codes)).unwrap_or(1))
}

/// Returns the code of a command that did what it was asked for with some of several things: 0 if
/// with all, 1 if with none.
pub fn of_some(done: usize, all: usize) -> ExitCode {
    match done {
        done if done == all => ExitCode::SUCCESS,
        0 => ExitCode::FAILURE,
        _ => ExitCode::from(MIXED),
    }
}

/// Returns the code of a process that this signal ended, as shells count.
pub fn of_signal(number: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + number).unwrap_or(1))
}

fn merged_answers(codes: impl IntoIterator<Item = i32>) -> i32 {
    let no_answer = i32::from(NO_ANSWER);
    let codes: Vec<i32> = codes.into_iter().collect();
    let completed = codes
        .iter()
        .map(|code| if *code == no_answer { 0 } else { *code });
    match merged(completed) {
        0 if codes.contains(&no_answer) => no_answer,
        merged => merged,
    }
}

fn merged(codes: impl IntoIterator<Item = i32>) -> i32 {
    let codes: Vec<i32> = codes
        .into_iter()
        .map(|code| if KNOWN.contains(&code) { code } else { 1 })
        .collect();
    match codes.as_slice() {
        [] => 1,
        [first, rest @ ..] if rest.iter().all(|code| code == first) => *first,
        several if several.contains(&0) => i32::from(MIXED),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_zero_only_when_everything_completed() {
        for (codes, expected) in [
            (vec![0, 0], 0),
            (vec![124, 124], 124),
            (vec![0, 124], 4),
            (vec![130, 1], 1),
            (vec![3, 3], 1),
            (vec![3, 139], 1),
            (vec![], 1),
        ] {
            assert_eq!(merged(codes.clone()), expected, "{codes:?}");
        }
    }

    #[test]
    fn a_run_without_an_answer_counts_if_all_runs_completed() {
        for (codes, expected) in [
            (vec![5], 5),
            (vec![0, 5], 5),
            (vec![0, 0], 0),
            (vec![5, 1], 4),
            (vec![124, 124], 124),
        ] {
            assert_eq!(merged_answers(codes.clone()), expected, "{codes:?}");
        }
    }
}
