//! The places of conflicts in a merged file, as line numbers of the two files that were merged. Nobody
//! can open the merged file, but everybody can open those two.

use crate::line_map::lines_before;
use crate::object_id::ObjectId;

/// The number of places in one file that are looked for.
const MOST: usize = 20;

/// The first and the last line of a place, counted from 1.
pub(crate) type Lines = (usize, usize);

/// The contents of a file with conflicts.
pub(crate) struct Versions<'a> {
    /// The merged file, with conflict markers.
    pub(crate) merged: &'a [u8],
    pub(crate) ours: &'a [u8],
    pub(crate) theirs: &'a [u8],
}

/// The part of a merged file that a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Both,
    Ours,
    Theirs,
}

/// One side of a merged file.
#[derive(Default)]
struct Side<'a> {
    /// The merged file without markers and without what only the other side has between them.
    lines: Vec<&'a [u8]>,
    /// The first line of each place among them, counted from 0, and the line after it.
    places: Vec<(usize, usize)>,
}

/// The conflicts of a merged file.
pub(crate) struct Places {
    /// The places in the file of each side. There are none if the two sides cannot be compared.
    pub(crate) ours: Vec<Lines>,
    pub(crate) theirs: Vec<Lines>,
    /// The number of places.
    pub(crate) count: usize,
}

/// Finds the places between the markers that git wrote. Where a side has nothing left, its line
/// before the place stands for it.
pub(crate) fn places(versions: &Versions<'_>, ours: &ObjectId, theirs: &ObjectId) -> Places {
    let (begin, end) = (format!("<<<<<<< {ours}"), format!(">>>>>>> {theirs}"));
    let (mut our_side, mut their_side) = (Side::default(), Side::default());
    let mut part = Part::Both;
    for line in lines(versions.merged) {
        match part {
            Part::Both if line.starts_with(begin.as_bytes()) => {
                part = Part::Ours;
                our_side.begin();
                their_side.begin();
            }
            Part::Both => {
                our_side.lines.push(line);
                their_side.lines.push(line);
            }
            Part::Ours if is_separator(line) => part = Part::Theirs,
            Part::Ours => our_side.lines.push(line),
            Part::Theirs if line.starts_with(end.as_bytes()) => {
                part = Part::Both;
                our_side.end();
                their_side.end();
            }
            Part::Theirs => their_side.lines.push(line),
        }
    }
    Places {
        count: our_side.places.len(),
        ours: our_side.in_file(versions.ours),
        theirs: their_side.in_file(versions.theirs),
    }
}

impl Side<'_> {
    fn begin(&mut self) {
        self.places.push((self.lines.len(), self.lines.len()));
    }

    fn end(&mut self) {
        let after = self.lines.len();
        if let Some(last) = self.places.last_mut() {
            last.1 = after;
        }
    }

    /// Returns the places as lines of the file itself, which lacks what the other side has added
    /// elsewhere.
    fn in_file(&self, file: &[u8]) -> Vec<Lines> {
        let file: Vec<&[u8]> = lines(file).collect();
        let Some(before) = lines_before(&file, &self.lines) else {
            return Vec::new();
        };
        let before = |line: usize| before.get(line).copied().unwrap_or(file.len());
        let places = self.places.iter().take(MOST);
        places
            .map(|(first, after)| {
                if first == after {
                    let line = before(*first).max(1);
                    return (line, line);
                }
                (before(*first) + 1, before(after - 1) + 1)
            })
            .collect()
    }
}

/// Splits a text into lines; what follows the last line break counts if it is not empty.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let is_empty = text.is_empty();
    let lines = text.split(|byte| *byte == b'\n');
    lines.filter(move |_| !is_empty)
}

/// Returns whether a line stands between the two versions of a place.
fn is_separator(line: &[u8]) -> bool {
    line.strip_suffix(b"\r").unwrap_or(line) == b"======="
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(merged: &str, ours: &str, theirs: &str) -> (Vec<Lines>, Vec<Lines>) {
        let id = |digit: &str| ObjectId::parse(&digit.repeat(40)).unwrap();
        let (one, other) = (id("a"), id("b"));
        let merged = merged.replace("<<<", &format!("<<<<<<< {one}"));
        let merged = merged.replace("===", "=======");
        let merged = merged.replace(">>>", &format!(">>>>>>> {other}"));
        let versions = Versions {
            merged: merged.as_bytes(),
            ours: ours.as_bytes(),
            theirs: theirs.as_bytes(),
        };
        let found = places(&versions, &one, &other);
        (found.ours, found.theirs)
    }

    #[test]
    fn places_are_lines_of_the_files_that_were_merged() {
        let merged = "1\n<<<\nA\nB\n===\nC\n>>>\n2\n<<<:old name\r\n===\r\nD\n>>>:new name\n3\n";
        let expected = (vec![(2, 3), (4, 4)], vec![(2, 2), (4, 4)]);
        assert_eq!(
            found(merged, "1\nA\nB\n2\n3\n", "1\nC\n2\nD\n3\n"),
            expected
        );
        // Their side has added two lines above, and removed one below the first place.
        let merged = "x\ny\n1\n<<<\nA\n===\nC\n>>>\n3\n<<<\nE\n===\nF\n>>>\n";
        let expected = (vec![(2, 2), (5, 5)], vec![(4, 4), (6, 6)]);
        assert_eq!(
            found(merged, "1\nA\n2\n3\nE\n", "x\ny\n1\nC\n3\nF\n"),
            expected
        );
        let at_the_top = found("<<<\n===\nA\n>>>\n", "", "A\n");
        assert_eq!(at_the_top, (vec![(1, 1)], vec![(1, 1)]));
    }

    #[test]
    fn markers_of_somebody_else_are_text() {
        let text = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n";
        let id = ObjectId::parse(&"a".repeat(40)).unwrap();
        let text = text.as_bytes();
        let versions = Versions {
            merged: text,
            ours: text,
            theirs: text,
        };
        assert_eq!(places(&versions, &id, &id).count, 0);
    }
}
