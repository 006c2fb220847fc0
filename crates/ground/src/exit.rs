//! Exit codes. A command that had runs exits with 0 only if all of them completed.

use std::process::ExitCode;

/// Some runs completed and some did not.
const MIXED: u8 = 4;

/// A run has no answer, or none that is finished.
pub const NO_ANSWER: u8 = 5;

/// The exit codes of a run that a command passes on: completed, timed out, hung up, interrupted,
/// terminated. A run with any other code has failed.
const KNOWN: [i32; 5] = [0, 124, 129, 130, 143];

/// Returns one code for several runs: theirs if they agree.
pub fn of_runs(codes: impl IntoIterator<Item = i32>) -> ExitCode {
    ExitCode::from(u8::try_from(merged(codes)).unwrap_or(1))
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
}
