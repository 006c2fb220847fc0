//! No function takes an anonymous tuple: a reader of the call cannot see what its parts are. A list
//! of pairs may be one, and so may what a closure gets from an iterator.

use xtask::source::{SourceFile, Tree};

use crate::finding::Finding;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree
        .files
        .iter()
        .filter(|file| file.path.starts_with("crates/") && file.has_extension(&["rs"]));
    sources.flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut at = 0;
    while let Some(found) = file.text[at..].find("fn ") {
        let begin = at + found;
        at = begin + "fn ".len();
        let Some(signature) = signature_at(&file.text, begin) else {
            continue;
        };
        let takes_one = parts(signature.parameters).into_iter().any(is_tuple);
        if takes_one {
            let line = file.text[..begin].matches('\n').count() + 1;
            let message = format!(
                "{} takes an anonymous tuple; take its parts, or a struct with a name",
                signature.name
            );
            findings.push(Finding::at(&file.path, line, message));
        }
    }
    findings
}

struct Signature<'a> {
    name: &'a str,
    parameters: &'a str,
}

/// Reads the signature of a function from its `fn` on. A type of functions and the word in a text
/// have no name before their parenthesis, or stand in a comment.
fn signature_at(text: &str, begin: usize) -> Option<Signature<'_>> {
    let line = text[..begin].rsplit('\n').next().unwrap_or_default();
    if line.contains("//") || line.contains('"') {
        return None;
    }
    let rest = &text[begin + "fn ".len()..];
    let is_of_a_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let name = &rest[..rest.find(|letter| !is_of_a_name(letter))?];
    if name.is_empty() {
        return None;
    }
    let behind = &rest[name.len()..];
    let behind = if behind.starts_with('<') {
        &behind[closing(behind)?..]
    } else {
        behind
    };
    let parameters = behind.strip_prefix('(')?;
    Some(Signature {
        name,
        parameters: &parameters[..closing(behind)? - 2],
    })
}

/// Returns the position behind the bracket that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (position, letter) in text.char_indices() {
        depth = depth_after(depth, before, letter);
        if depth == 0 {
            return Some(position + letter.len_utf8());
        }
        before = letter;
    }
    None
}

/// Counts open brackets. The arrow of a return type closes none.
fn depth_after(depth: usize, before: char, letter: char) -> usize {
    match letter {
        '(' | '[' | '{' | '<' => depth + 1,
        '>' if matches!(before, '-' | '=') => depth,
        ')' | ']' | '}' | '>' => depth.saturating_sub(1),
        _ => depth,
    }
}

/// Splits at the commas that are in no bracket.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut before) = (0_usize, 0, ' ');
    let mut parts = Vec::new();
    for (position, letter) in text.char_indices() {
        depth = depth_after(depth, before, letter);
        if letter == ',' && depth == 0 {
            parts.push(&text[begin..position]);
            begin = position + 1;
        }
        before = letter;
    }
    parts.push(&text[begin..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Returns whether the type of a parameter is a tuple, or a reference to one.
fn is_tuple(parameter: &str) -> bool {
    let Some((_, kind)) = parameter.split_once(": ") else {
        return false;
    };
    let kind = kind.trim().trim_start_matches('&');
    let kind = match kind.strip_prefix('\'') {
        Some(lifetime) => lifetime.split_once(' ').map_or("", |(_, kind)| kind),
        None => kind,
    };
    let kind = kind.trim_start_matches("mut ");
    let inside = kind
        .strip_prefix('(')
        .and_then(|kind| kind.strip_suffix(')'));
    inside.is_some_and(|inside| parts(inside).len() > 1)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn a_tuple_is_found_and_a_list_of_pairs_is_not() {
        let planted = "\
fn draw(&self, size: (usize, usize)) {}
fn named<T: Fn(u8) -> (u8, u8)>(
    all: &[(u8, u8)],
    (run, n): &'a (RunId, u64),
) -> (u8, u8) {}
fn fine(list: &[(u8, u8)], map: HashMap<(u8, u8), u8>, done: (), act: impl Fn((u8, u8)) -> u8) {}
let sum = pairs.map(|(a, b): (u8, u8)| a + b);
// fn described(pair: (u8, u8))
type Act = fn((u8, u8));
";
        assert_eq!(
            found(check, &[("crates/view/src/a.rs", planted)]),
            [
                "crates/view/src/a.rs:1: draw takes an anonymous tuple; take its parts, or a struct with a name",
                "crates/view/src/a.rs:2: named takes an anonymous tuple; take its parts, or a struct with a name",
            ]
        );
    }
}
