//! Finds the lines of a text in an earlier version of it.

use std::hash::Hash;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Texts that differ in more lines are not compared.
const MOST_DIFFERENCES: usize = 1000;

/// The time after which the rest of two texts counts as different.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns for each line of a text how many lines of an earlier version come before it; `None` if
/// the two differ in too many lines.
pub(crate) fn lines_before<T: Eq + Hash>(earlier: &[T], text: &[T]) -> Option<Vec<usize>> {
    let deadline = Some(Instant::now() + PATIENCE);
    let steps = capture_diff_slices_deadline(Algorithm::Myers, earlier, text, deadline);
    let differences: usize = steps.iter().map(differences).sum();
    if differences > MOST_DIFFERENCES {
        return None;
    }
    let before = steps.iter().flat_map(|step| {
        let (lines, of_text) = (step.old_range(), step.new_range());
        let is_equal = matches!(step, DiffOp::Equal { .. });
        // A line that only the text has comes behind those that it replaces.
        of_text.enumerate().map(move |(at, _)| {
            if is_equal {
                lines.start + at
            } else {
                lines.end
            }
        })
    });
    Some(before.collect())
}

/// Returns the number of lines that only one of the texts has.
fn differences(step: &DiffOp) -> usize {
    match step {
        DiffOp::Equal { .. } => 0,
        DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
            step.old_range().len() + step.new_range().len()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(earlier: &str, text: &str) -> Vec<usize> {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        lines_before(&letters(earlier), &letters(text)).unwrap()
    }

    #[test]
    fn lines_are_found_where_they_were() {
        assert_eq!(before("abc", "abc"), [0, 1, 2]);
        assert_eq!(before("abc", "xabyc"), [0, 0, 1, 2, 2]);
        assert_eq!(before("abcd", "ad"), [0, 3]);
        assert_eq!(before("", "ab"), [0, 0]);
        assert_eq!(before("ab", ""), [0; 0]);
        assert_eq!(before("abcde", "abXde!"), [0, 1, 3, 3, 4, 5]);
    }

    #[test]
    fn texts_that_have_little_in_common_are_not_compared() {
        let one: Vec<usize> = (0..800).collect();
        let other: Vec<usize> = (1000..1800).collect();
        assert_eq!(lines_before(&one, &other), None);
    }
}
