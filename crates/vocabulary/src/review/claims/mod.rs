//! Claims of an answer against what was seen. A claim is found by plain words and compared with the
//! record; the outcome is `not seen` or `seen`, never a judgement, because the record has gaps. What
//! is not understood is passed over in silence.

mod command_claims;
mod file_claims;
mod publication_claims;
mod sentence;
mod test_claims;

use std::collections::BTreeSet;

use self::sentence::Sentence;
use crate::Receipt;
use crate::text::{clean, cut_characters, one_line};

/// At most so many claims are named.
const MOST_CLAIMS: usize = 8;

/// The number of characters of a claim that are kept.
const LONGEST_CLAIM: usize = 100;

/// The number of bytes of an answer that are read.
const LONGEST_ANSWER: usize = 256 << 10;

/// An answer, and the record of the run that gave it.
#[derive(Debug, Clone, Copy)]
pub struct AnswerRecord<'a> {
    /// The answer.
    pub answer: &'a str,
    /// What was seen of the run.
    pub receipt: &'a Receipt,
    /// The numbers of tests that its tests counted as passed, as far as their output was seen.
    pub passed: &'a [u64],
    /// The commits that the run left; `None` if they are not known.
    pub commits: Option<&'a [String]>,
    /// True if the record lacks a part. Then nothing is compared.
    pub is_cut: bool,
}

/// Returns the claims of an answer that were not seen, in words that stand for themselves.
pub fn unseen_claims(record: &AnswerRecord<'_>) -> Vec<String> {
    if record.is_cut {
        return Vec::new();
    }
    let end = record.answer.floor_char_boundary(LONGEST_ANSWER);
    let sentences = Sentence::all(&record.answer[..end]);
    let claiming = sentences.iter().filter(|sentence| !sentence.is_doubtful());
    let found = claiming.flat_map(|sentence| {
        let mut found = file_claims::unseen(sentence, record);
        found.extend(test_claims::unseen(sentence, record));
        found.extend(command_claims::unseen(sentence, record));
        found.extend(publication_claims::unseen(sentence, record));
        found
    });
    let mut known = BTreeSet::new();
    let shown = found.map(|words| cut_characters(&one_line(&clean(&words)), LONGEST_CLAIM));
    let new = shown.filter(|words| known.insert(words.clone()));
    new.take(MOST_CLAIMS).collect()
}

impl AnswerRecord<'_> {
    /// Returns whether the receipt lists all commands of the run.
    fn has_all_commands(&self) -> bool {
        self.receipt.commands.len() == self.receipt.command_count
    }

    /// Returns whether a command line of the run contains a text.
    fn has_command_with(&self, text: &str) -> bool {
        let mut commands = self.receipt.commands.iter();
        commands.any(|seen| one_line(&seen.command).contains(text))
    }
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
