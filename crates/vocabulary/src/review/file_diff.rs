//! The difference of one file, read from a patch of git, with the numbers of its lines.

use std::ops::Range;

use super::path_kind::PathKind;
use crate::text::clean;

/// At most so many lines of a file are kept.
const MOST_LINES: usize = 20_000;

/// Longer lines are not compared letter by letter.
const LONGEST_LINE: usize = 2000;

/// The difference of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// Its lines.
    pub lines: Vec<DiffLine>,
    /// The places in `lines` where hunks begin.
    pub hunks: Vec<usize>,
    /// True if lines were left out, because there are too many.
    pub is_cut: bool,
}

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What the line is.
    pub side: DiffSide,
    /// Its number in the file before, if it is there.
    pub old: Option<u64>,
    /// Its number in the file after, if it is there.
    pub new: Option<u64>,
    /// Its text, without anything that could move a cursor.
    pub text: String,
    /// The part of the text that has changed, in bytes, if the line stands for another one that has
    /// much in common with it.
    pub changed: Option<Range<usize>>,
}

/// What a line of a difference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffSide {
    /// The head of a hunk.
    Head,
    /// A line that both files have.
    Both,
    /// A line that was added.
    Added,
    /// A line that was taken out.
    Removed,
    /// A word of git about the file: its mode, a rename, or that it is binary.
    About,
}

impl FileDiff {
    /// Reads the patch of one file.
    pub fn read(patch: &str) -> Self {
        let mut diff = Self::default();
        let (mut old, mut new) = (0, 0);
        let mut is_in_hunk = false;
        for line in patch.lines() {
            if diff.lines.len() == MOST_LINES {
                diff.is_cut = true;
                break;
            }
            if let Some(head) = line.strip_prefix("@@ ") {
                is_in_hunk = true;
                (old, new) = begins(head).unwrap_or((0, 0));
                diff.hunks.push(diff.lines.len());
                diff.add(DiffSide::Head, [None, None], line);
            } else if is_in_hunk {
                let (first, text) = line.split_at_checked(1).unwrap_or((" ", ""));
                match first {
                    "+" => diff.add(DiffSide::Added, [None, Some(new)], text),
                    "-" => diff.add(DiffSide::Removed, [Some(old), None], text),
                    "\\" => diff.add(DiffSide::About, [None, None], text.trim_start()),
                    _ => diff.add(DiffSide::Both, [Some(old), Some(new)], text),
                }
                old += u64::from(matches!(first, "-" | " "));
                new += u64::from(matches!(first, "+" | " "));
            } else if is_about(line) {
                diff.add(DiffSide::About, [None, None], line);
            }
        }
        mark_changed(&mut diff.lines);
        diff
    }

    fn add(&mut self, side: DiffSide, [old, new]: [Option<u64>; 2], text: &str) {
        let text = clean(text);
        self.lines.push(DiffLine {
            side,
            old,
            new,
            text,
            changed: None,
        });
    }
}

/// Marks what has changed inside of lines: as many lines that went as lines that came, one for one.
fn mark_changed(lines: &mut [DiffLine]) {
    let end_of = |lines: &[DiffLine], from: usize, side: DiffSide| {
        let rest = lines[from..].iter();
        from + rest.take_while(|line| line.side == side).count()
    };
    let mut begin = 0;
    while begin < lines.len() {
        let middle = end_of(lines, begin, DiffSide::Removed);
        let end = end_of(lines, middle, DiffSide::Added);
        if middle - begin == end - middle {
            for place in begin..middle {
                let other = place + middle - begin;
                let parts = changed_parts(&lines[place].text, &lines[other].text);
                if let Some([old, new]) = parts {
                    lines[place].changed = Some(old);
                    lines[other].changed = Some(new);
                }
            }
        }
        begin = end.max(begin + 1);
    }
}

/// Finds the parts in which two lines differ. Lines that have little in common are other lines.
fn changed_parts(old: &str, new: &str) -> Option<[Range<usize>; 2]> {
    if old.len() > LONGEST_LINE || new.len() > LONGEST_LINE {
        return None;
    }
    let before = same_bytes(old.chars(), new.chars());
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = same_bytes(old_rest.chars().rev(), new_rest.chars().rev());
    let has_much = (before + after) * 3 >= old.len().min(new.len());
    let parts = [before..old.len() - after, before..new.len() - after];
    has_much.then_some(parts)
}

/// Counts the bytes of the first characters that are the same.
fn same_bytes(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    let same = one.zip(other).take_while(|(one, other)| one == other);
    same.map(|(one, _)| one.len_utf8()).sum()
}

/// Reads the first lines of `-10,7 +12,8 @@ …`.
fn begins(head: &str) -> Option<(u64, u64)> {
    let mut words = head.split(' ');
    let mut first = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?;
        word.split(',').next()?.parse().ok()
    };
    Some((first('-')?, first('+')?))
}

/// Returns whether a line before the first hunk says something that a person wants to know.
fn is_about(line: &str) -> bool {
    let known = [
        "old mode",
        "new mode",
        "new file mode",
        "deleted file mode",
        "rename from",
        "rename to",
        "Binary files",
        "Submodule",
    ];
    known.iter().any(|begin| line.starts_with(begin))
}

/// Returns whether the difference of a file is folded: a program writes it.
pub fn is_folded(path: &str) -> bool {
    matches!(PathKind::of(path), PathKind::Lock | PathKind::Generated)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/a.rs b/b.rs
similarity index 90%
rename from a.rs
rename to b.rs
index 1..2 100644
--- a/a.rs
+++ b/b.rs
@@ -10,3 +10,3 @@ fn a() {
 same
-old\u{1b}[31m
+new
@@ -40 +40,2 @@
--- a
+++ b
+++ c
\\ No newline at end of file
";

    #[test]
    fn a_patch_is_read_with_the_numbers_of_its_lines() {
        let diff = FileDiff::read(PATCH);
        let number = |number: Option<u64>| number.map_or("-".to_owned(), |it| it.to_string());
        let lines = diff.lines.iter().map(|line| {
            let (old, new) = (number(line.old), number(line.new));
            format!("{:?} {old} {new} {}", line.side, line.text)
        });
        let lines: Vec<String> = lines.collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        About - - rename from a.rs
        About - - rename to b.rs
        Head - - @@ -10,3 +10,3 @@ fn a() {
        Both 10 10 same
        Removed 11 - old
        Added - 11 new
        Head - - @@ -40 +40,2 @@
        Removed 40 - -- a
        Added - 40 ++ b
        Added - 41 ++ c
        About - - No newline at end of file
        ");
        assert_eq!(diff.hunks, [2, 6]);
        assert!(is_folded("Cargo.lock") && !is_folded("src/a.rs"));
    }

    #[test]
    fn the_changed_part_of_a_line_is_marked_if_the_rest_is_the_same() {
        let marked = |patch: &str| {
            let lines = FileDiff::read(&format!("@@ -1,2 +1,2 @@\n{patch}")).lines;
            let marked = lines.into_iter().skip(1).map(|line| {
                let changed = line.changed.map(|part| line.text[part].to_owned());
                changed.unwrap_or("-".to_owned())
            });
            marked.collect::<Vec<_>>()
        };
        assert_eq!(
            marked("-let x = old(1);\n+let x = new(1);\n"),
            ["old", "new"]
        );
        assert_eq!(marked("-für dich\n+für mich\n"), ["d", "m"]);
        assert_eq!(marked("-same();\n+same()?;\n"), ["", "?"]);
        // Other lines, and lines that have no partner.
        assert_eq!(marked("-abc\n+xyz\n"), ["-", "-"]);
        assert_eq!(marked("-a\n-b\n+a\n"), ["-", "-", "-"]);
        assert_eq!(
            marked("-one a\n-two a\n+one b\n+two b\n"),
            ["a", "a", "b", "b"]
        );
    }
}
