//! The numbers of tests that passed, as programs that run tests count them in their output.

/// At most so many numbers are kept, the last ones.
const MOST: usize = 20;

/// A longer output is not read.
const LONGEST: usize = 1 << 20;

/// The words with which a child says that an output is not whole.
const CUT: [&str; 3] = ["[Showing ", "Full output:", "truncated"];

/// Words before a number of tests that passed.
const BEFORE: [&str; 4] = ["Passed:", "Ran", "OK (", "# pass"];

/// Words behind such a number.
const BEHIND: [&str; 5] = [
    "passed",
    "passing",
    "tests passed",
    "test passed",
    "examples, 0 failures",
];

/// Adds the numbers of tests that an output counts as passed: each number, and last their sum. An
/// output that is not whole counts nothing.
pub(super) fn count_passed(output: &str, passed: &mut Vec<u64>) {
    if output.len() > LONGEST || CUT.iter().any(|words| output.contains(words)) {
        return;
    }
    let mut counted = Vec::new();
    for line in output.lines() {
        counted.extend(passed_in(line));
    }
    let sum = counted
        .iter()
        .fold(0_u64, |sum, one| sum.saturating_add(*one));
    if counted.is_empty() {
        return;
    }
    for number in counted.into_iter().chain([sum]) {
        // The last one is the newest.
        passed.retain(|known| *known != number);
        passed.push(number);
    }
    let surplus = passed.len().saturating_sub(MOST);
    passed.drain(..surplus);
}

/// Finds the first number of tests that passed in a line.
fn passed_in(line: &str) -> Option<u64> {
    let behind = line.char_indices().find_map(|(at, character)| {
        let before = line[..at].chars().next_back();
        let begins = character.is_ascii_digit() && !before.is_some_and(is_of_a_word);
        let (number, rest) = number_at(&line[at..]).filter(|_| begins)?;
        let rest = rest.strip_prefix(' ')?;
        let is_passed = |words: &str| {
            let after = rest.strip_prefix(words);
            after.is_some_and(|after| !after.starts_with(char::is_alphanumeric))
        };
        BEHIND.into_iter().any(is_passed).then_some(number)
    });
    behind.or_else(|| {
        BEFORE.iter().find_map(|words| {
            let at = line.find(words)?;
            let (number, rest) = number_at(line[at + words.len()..].trim_start())?;
            // `Ran all` and `Ran 3 migrations` are no tests.
            let is_test = *words == "Passed:" || *words == "# pass" || rest.starts_with(" test");
            is_test.then_some(number)
        })
    })
}

/// Returns whether a number behind this character is a part of a word or of another number.
fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | ',' | '_' | '-' | '/' | ':')
}

fn number_at(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(outputs: &[&str]) -> Vec<u64> {
        let mut passed = Vec::new();
        for output in outputs {
            count_passed(output, &mut passed);
        }
        passed
    }

    #[test]
    fn the_usual_programs_are_understood() {
        for (output, expected) in [
            ("test result: ok. 41 passed; 0 failed; 2 ignored", 41),
            ("=== 12 passed, 1 skipped in 0.05s ===", 12),
            ("Tests:       3 failed, 55 passed, 58 total", 55),
            ("  7 passing (31ms)", 7),
            ("Ran 9 tests in 0.001s\n\nOK", 9),
            ("OK (12 tests, 30 assertions)", 12),
            ("Passed!  - Failed: 0, Passed: 6, Skipped: 0", 6),
            ("# tests 5\n# pass 4", 4),
            ("8 examples, 0 failures", 8),
            ("1 test passed", 1),
        ] {
            assert_eq!(counted(&[output]), [expected], "{output}");
        }
        for output in [
            "nothing",
            "v1.2 passed",
            "Ran 3 migrations",
            "x passed",
            "3 passwords",
        ] {
            assert_eq!(counted(&[output]), Vec::<u64>::new(), "{output}");
        }
    }

    #[test]
    fn the_sum_is_last_and_an_output_that_is_cut_counts_nothing() {
        let two = "ok. 10 passed; 0 failed\nok. 3 passed; 0 failed";
        assert_eq!(counted(&[two]), [10, 3, 13]);
        assert_eq!(counted(&[two, "10 passed"]), [3, 13, 10]);
        let cut = "5 passed\n[Showing lines 1-2 of 900. Full output: /tmp/x]";
        assert_eq!(counted(&[two, cut]), [10, 3, 13]);
        let many: Vec<String> = (0..50).map(|number| format!("{number} passed")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(counted(&many).len(), MOST);
    }
}
