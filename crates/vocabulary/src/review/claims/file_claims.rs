//! Claims that a file was changed. They are compared only with what git found.

use std::path::Path;

use super::AnswerRecord;
use super::sentence::{Sentence, Token};
use crate::receipt::FileSource;

const VERBS: [&str; 16] = [
    "added",
    "changed",
    "created",
    "deleted",
    "edited",
    "extended",
    "fixed",
    "implemented",
    "introduced",
    "modified",
    "refactored",
    "removed",
    "replaced",
    "rewrote",
    "updated",
    "wrote",
];

/// Words before a verb that make somebody else its subject.
const PASSIVE: [&str; 6] = ["was", "were", "been", "is", "are", "be"];

/// Words that make a path in the sentence something else than the file that was changed.
const OTHER_SENSE: [&str; 5] = ["from", "like", "see", "following", "calls"];

/// Words behind which a sentence speaks of a purpose or a place.
const PURPOSE: [&str; 14] = [
    "for", "to", "so", "which", "that", "covering", "cover", "using", "with", "via", "because",
    "when", "as", "by",
];

const ENDS: [&str; 43] = [
    "bash", "c", "cc", "cfg", "cpp", "cs", "css", "dart", "ex", "exs", "go", "h", "hpp", "html",
    "ini", "java", "js", "json", "jsx", "kt", "lock", "lua", "md", "mjs", "php", "proto", "py",
    "rb", "rs", "rst", "scala", "scss", "sh", "sql", "svelte", "swift", "toml", "ts", "tsx", "txt",
    "vue", "yaml", "yml",
];

/// Returns the files that a sentence claims to have changed and git did not find.
pub(super) fn unseen(sentence: &Sentence, record: &AnswerRecord<'_>) -> Vec<String> {
    let files = &record.receipt.files;
    let is_known = files.source == FileSource::Worktree && files.unlisted == 0;
    let words = sentence.words();
    if !is_known || words.iter().any(|word| OTHER_SENSE.contains(word)) {
        return Vec::new();
    }
    let Some(verb) = verb_of(sentence) else {
        return Vec::new();
    };
    let is_changed = |path: &str| files.changed.iter().any(|one| is_same(path, one));
    let claimed = claimed_paths(&sentence.tokens, verb).into_iter();
    let missing = claimed.filter(|path| !is_changed(path));
    missing
        .map(|path| format!("not seen: a change of {path}"))
        .collect()
}

/// Returns the place of the first verb that says what the sub-agent did.
fn verb_of(sentence: &Sentence) -> Option<usize> {
    let tokens = &sentence.tokens;
    let word = |place: usize| match tokens.get(place) {
        Some(Token::Word(word)) => word.as_str(),
        Some(Token::Code(_) | Token::Border) | None => "",
    };
    (0..tokens.len()).find(|&place| {
        let before = place.checked_sub(1).map_or("", word);
        VERBS.contains(&word(place)) && !PASSIVE.contains(&before)
    })
}

/// Returns the paths that a verb is about: those behind it, up to a purpose, or that of a row or an
/// item which begins with it.
fn claimed_paths(tokens: &[Token], verb: usize) -> Vec<&str> {
    let first = tokens.iter().position(|token| *token != Token::Border);
    let begins = first.and_then(|first| path_of(&tokens[first]));
    let is_row = tokens[..verb].contains(&Token::Border);
    if let Some(path) = begins.filter(|_| is_row) {
        return vec![path];
    }
    let behind = tokens[verb + 1..].iter();
    let is_purpose = |token: &&Token| {
        !matches!(token, Token::Word(word) if PURPOSE.contains(&word.as_str()))
            && **token != Token::Border
    };
    behind.take_while(is_purpose).filter_map(path_of).collect()
}

/// Returns the path of a token, if it names a file with a known ending.
fn path_of(token: &Token) -> Option<&str> {
    let (Token::Word(text) | Token::Code(text)) = token else {
        return None;
    };
    let text = text.split_once(':').map_or(text.as_str(), |(path, _)| path);
    let (stem, end) = text.rsplit_once('.')?;
    let is_path = !text.contains(char::is_whitespace)
        && !text.contains(['*', '(', '<', '{'])
        && stem.chars().any(char::is_alphanumeric);
    (is_path && ENDS.contains(&end)).then_some(text)
}

/// Returns whether two paths can mean one file: one is the end of the other.
fn is_same(claimed: &str, changed: &str) -> bool {
    let claimed = Path::new(claimed.trim_start_matches("./"));
    let changed = Path::new(changed);
    changed.ends_with(claimed) || claimed.ends_with(changed)
}
