//! Breaks a line into rows of a terminal.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::{Line, Role};

/// The sign for a character that is wider than the whole terminal.
const TOO_WIDE: &str = "?";

/// A character as a person sees it.
struct Cell<'a> {
    text: &'a str,
    width: usize,
    role: Role,
}

/// Breaks a line into rows: between words where there are any, else between characters.
pub fn wrap(line: &Line, columns: usize) -> Vec<Line> {
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let columns = columns.max(1);
    let cells = cells(line, columns);
    let mut rows = Vec::new();
    let mut rest = cells.as_slice();
    while !rest.is_empty() {
        let (row, behind) = rest.split_at(row_length(rest, columns));
        rows.push(joined(row));
        let spaces = behind.iter().take_while(|cell| cell.text == " ").count();
        rest = &behind[spaces..];
    }
    rows
}

/// Breaks a line into rows that begin below its first word: behind its margin and, in a list,
/// behind the mark of its item.
pub(crate) fn wrap_under(line: &Line, columns: usize) -> Vec<Line> {
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let margin = margin_of(&line.text());
    if margin == 0 || margin > columns / 2 {
        return wrap(line, columns);
    }
    let (mark, words) = line.split_at(margin);
    let rows = wrap(&words, columns - margin);
    let space = Line::new(Role::Plain, &" ".repeat(margin));
    let margins = std::iter::once(&mark).chain(std::iter::repeat(&space));
    rows.iter()
        .zip(margins)
        .map(|(row, margin)| margin.joined(row))
        .collect()
}

/// Returns the number of columns before the first word of a line; they are all ASCII.
fn margin_of(line: &str) -> usize {
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    let digits = words.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match &words[digits..] {
        rest if digits > 0 && rest.starts_with(". ") => digits + 2,
        rest if digits == 0 && rest.starts_with("- ") => 2,
        _ => 0,
    };
    indent + mark
}

fn cells(line: &Line, columns: usize) -> Vec<Cell<'_>> {
    let cells = line.spans().iter().flat_map(|span| {
        let graphemes = span.text().graphemes(true);
        graphemes.map(|text| (text, text.width(), span.role()))
    });
    cells
        .map(|(text, width, role)| {
            if width <= columns {
                return Cell { text, width, role };
            }
            Cell {
                text: TOO_WIDE,
                width: 1,
                role,
            }
        })
        .collect()
}

/// Returns how many characters the next row takes.
fn row_length(cells: &[Cell<'_>], columns: usize) -> usize {
    let mut used = 0;
    let fitting = cells
        .iter()
        .take_while(|cell| {
            used += cell.width;
            used <= columns
        })
        .count();
    if fitting == cells.len() {
        return fitting;
    }
    let margin = cells.iter().take_while(|cell| cell.text == " ").count();
    // A space right behind the row is a good place to break it too.
    let break_at = cells[..=fitting].iter().rposition(|cell| cell.text == " ");
    match break_at {
        Some(place) if place > margin && begins_a_row(cells, place, fitting, columns) => place,
        Some(_) | None => fitting.max(1),
    }
}

/// Returns whether the word behind a space begins the next row. A word that is wider than a row
/// has to be broken anyway, so behind a mark such as `>` it begins beside the mark.
fn begins_a_row(cells: &[Cell<'_>], space: usize, fitting: usize, columns: usize) -> bool {
    let word = cells[space + 1..]
        .iter()
        .take_while(|cell| cell.text != " ");
    let width: usize = word.map(|cell| cell.width).sum();
    width <= columns || space * 8 >= fitting
}

fn joined(cells: &[Cell<'_>]) -> Line {
    cells
        .chunk_by(|one, next| one.role == next.role)
        .fold(Line::default(), |line, run| {
            let text: String = run.iter().map(|cell| cell.text).collect();
            line.with(run[0].role, &text)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(line: &Line, columns: usize) -> Vec<String> {
        let rows = wrap(line, columns);
        for row in &rows {
            assert!(row.width() <= columns.max(1), "{columns}: {row:?}");
        }
        rows.iter().map(Line::text).collect()
    }

    #[test]
    fn a_line_breaks_between_words_and_else_between_characters() {
        let line = Line::new(Role::Plain, "  The cache of ")
            .with(Role::Accent, "日本語の設定")
            .with(Role::Plain, " is never-emptied-by-anybody.");
        assert_eq!(
            rows(&line, 14),
            [
                "  The cache of",
                "日本語の設定",
                "is",
                "never-emptied-",
                "by-anybody."
            ]
        );
        assert_eq!(rows(&line, 80), [line.text()]);
        let quoted = Line::new(Role::Accent, "> ").with(Role::Plain, &"x".repeat(30));
        assert_eq!(rows(&quoted, 20), ["> xxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxx"]);
        let path = Line::new(Role::Plain, "in /a/path/of/20/signs");
        assert_eq!(rows(&path, 20), ["in", "/a/path/of/20/signs"]);
        assert_eq!(rows(&Line::new(Role::Plain, "日本"), 1), ["?", "?"]);
        assert_eq!(rows(&Line::default(), 0), [""]);
    }

    #[test]
    fn rows_of_an_item_stand_under_its_words() {
        let rows = |text: &str| -> Vec<String> {
            let rows = wrap_under(&Line::new(Role::Plain, text), 12);
            rows.iter().map(Line::text).collect()
        };
        assert_eq!(rows("  - one two three"), ["  - one two", "    three"]);
        assert_eq!(rows("10. one two three"), ["10. one two", "    three"]);
        assert_eq!(rows("one two three"), ["one two", "three"]);
        assert_eq!(rows("        one two"), ["        one", "two"]);
    }

    #[test]
    fn a_row_keeps_the_roles_of_its_words() {
        let line = Line::new(Role::Muted, "edit ").with(Role::Added, "+12 lines");
        let roles: Vec<Vec<Role>> = wrap(&line, 9)
            .iter()
            .map(|row| row.spans().iter().map(crate::Span::role).collect())
            .collect();
        assert_eq!(roles, [vec![Role::Muted, Role::Added], vec![Role::Added]]);
    }

    #[test]
    fn ten_thousand_characters_are_all_there() {
        let line = Line::new(Role::Plain, &"x".repeat(10_000));
        let rows = rows(&line, 79);
        assert_eq!(rows.len(), 127);
        assert_eq!(rows.concat().len(), 10_000);
    }
}
