//! Finds the places that an edit names and puts the new text there.
//!
//! A place is found exactly, or else with typographic quotes, dashes, odd spaces and trailing
//! blanks evened out; the text outside the places keeps its bytes.

use std::ops::Range;

/// One replacement, with line ends already turned into `\n`.
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
}

/// The reason why the replacements cannot be made; the numbers are those of the edits.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Empty(usize),
    NotFound(usize),
    NotUnique(usize, usize),
    Overlap(usize, usize),
    NothingChanged,
}

/// Makes all replacements at once, each against the original `text`.
pub(super) fn apply(text: &str, replacements: &[Replacement]) -> Result<String, Fault> {
    let mut places = Vec::new();
    for (number, replacement) in replacements.iter().enumerate() {
        if replacement.old.is_empty() {
            return Err(Fault::Empty(number));
        }
        places.push((locate(text, &replacement.old, number)?, number));
    }
    places.sort_by_key(|(place, _)| place.start);
    for pair in places.windows(2) {
        if pair[0].0.end > pair[1].0.start {
            return Err(Fault::Overlap(pair[0].1, pair[1].1));
        }
    }
    let mut changed = String::with_capacity(text.len());
    let mut copied = 0;
    for (place, number) in places {
        changed.push_str(&text[copied..place.start]);
        changed.push_str(&replacements[number].new);
        copied = place.end;
    }
    changed.push_str(&text[copied..]);
    if changed == text {
        return Err(Fault::NothingChanged);
    }
    Ok(changed)
}

fn locate(text: &str, old: &str, number: usize) -> Result<Range<usize>, Fault> {
    if let Some(place) = only_place(text, old, number)? {
        return Ok(place);
    }
    let (text, old) = (Evened::new(text), Evened::new(old));
    match only_place(&text.text, &old.text, number)? {
        Some(place) => Ok(text.origin(place.start)..text.origin(place.end)),
        None => Err(Fault::NotFound(number)),
    }
}

fn only_place(text: &str, old: &str, number: usize) -> Result<Option<Range<usize>>, Fault> {
    if old.is_empty() {
        return Ok(None);
    }
    let mut places = text.match_indices(old);
    let Some((start, _)) = places.next() else {
        return Ok(None);
    };
    match places.count() {
        0 => Ok(Some(start..start + old.len())),
        more => Err(Fault::NotUnique(number, more + 1)),
    }
}

/// A text without its typographic niceties, and where each byte came from.
struct Evened {
    text: String,
    origins: Vec<usize>,
}

impl Evened {
    fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut origins = Vec::with_capacity(original.len() + 1);
        let mut offset = 0;
        for line in original.split_inclusive('\n') {
            let body = line.strip_suffix('\n').unwrap_or(line);
            for (at, character) in body.trim_end().char_indices() {
                push(&mut text, &mut origins, plain(character), offset + at);
            }
            if line.len() > body.len() {
                push(&mut text, &mut origins, '\n', offset + body.len());
            }
            offset += line.len();
        }
        origins.push(original.len());
        Self { text, origins }
    }

    fn origin(&self, at: usize) -> usize {
        self.origins[at]
    }
}

fn push(text: &mut String, origins: &mut Vec<usize>, character: char, origin: usize) {
    text.push(character);
    origins.resize(text.len(), origin);
}

fn plain(character: char) -> char {
    match character {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply_all(text: &str, edits: &[(&str, &str)]) -> Result<String, Fault> {
        let replacements: Vec<Replacement> = edits
            .iter()
            .map(|(old, new)| Replacement {
                old: (*old).to_owned(),
                new: (*new).to_owned(),
            })
            .collect();
        apply(text, &replacements)
    }

    #[test]
    fn every_edit_is_matched_against_the_original() {
        assert_eq!(
            apply_all("a b c", &[("c", "a"), ("a", "b")]),
            Ok("b b a".to_owned())
        );
    }

    #[test]
    fn a_place_is_found_although_quotes_and_blanks_differ() {
        let text = "keep \u{201c}this\u{201d}  \nsay \u{201c}hi\u{201d}  \nend\u{a0}\n";
        assert_eq!(
            apply_all(text, &[("say \"hi\"\nend", "said\nended")]),
            Ok("keep \u{201c}this\u{201d}  \nsaid\nended\n".to_owned())
        );
    }

    #[test]
    fn what_cannot_be_done_says_which_edit_is_at_fault() {
        assert_eq!(apply_all("a", &[("", "x")]), Err(Fault::Empty(0)));
        assert_eq!(apply_all("a", &[("b", "x")]), Err(Fault::NotFound(0)));
        assert_eq!(apply_all("aXa", &[("a", "x")]), Err(Fault::NotUnique(0, 2)));
        assert_eq!(
            apply_all("abc", &[("ab", "x"), ("bc", "y")]),
            Err(Fault::Overlap(0, 1))
        );
        assert_eq!(apply_all("a", &[("a", "a")]), Err(Fault::NothingChanged));
        assert_eq!(apply_all("a", &[("  ", "x")]), Err(Fault::NotFound(0)));
    }
}
