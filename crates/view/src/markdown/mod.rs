//! Markdown as lines for a person: models write it, and a terminal has no other way to show it.
//!
//! Marks that carry meaning without colour stay (`#` of headings, backticks of code, `>` as a bar);
//! the marks of emphasis go. Every line break of the author stays, because models mean theirs.

mod blocks;
mod inert;
mod inline;
mod margin;
mod pieces;
mod table;

use pi_subagents_vocabulary::text;
use pulldown_cmark::{Event, Options, Parser};

use crate::Line;
use blocks::Blocks;
pub use inert::inert;
use pieces::pieces;

/// Renders a text as lines, none wider than `columns`.
pub fn render(text: &str, columns: usize) -> Vec<Line> {
    let columns = columns.max(1);
    lines_of(
        text,
        Widths {
            lines: columns,
            tables: columns,
        },
    )
}

/// Renders a text as lines of any width, for callers that wrap them later; only tables are no wider
/// than `columns`.
pub(crate) fn unwrapped(text: &str, columns: usize) -> Vec<Line> {
    let widths = Widths {
        lines: usize::MAX,
        tables: columns.max(1),
    };
    lines_of(text, widths)
}

/// The widths that lines may have.
#[derive(Clone, Copy)]
struct Widths {
    lines: usize,
    tables: usize,
}

fn lines_of(text: &str, widths: Widths) -> Vec<Line> {
    let text = text::clean(text);
    let pieces = pieces(text.trim_matches('\n'));
    pieces.flat_map(|piece| rendered(piece, widths)).collect()
}

fn rendered(text: &str, widths: Widths) -> Vec<Line> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut blocks = Blocks::new(text, widths);
    for (event, place) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(tag) => blocks.start(tag, place),
            Event::End(tag) => blocks.end(tag),
            Event::Text(words) | Event::Html(words) | Event::InlineHtml(words) => {
                blocks.words(&words);
            }
            Event::Code(words) => blocks.code(&words),
            Event::SoftBreak | Event::HardBreak => blocks.end_line(),
            Event::Rule => blocks.rule(place),
            Event::TaskListMarker(is_done) => blocks.words(if is_done { "[x] " } else { "[ ] " }),
            // These are not enabled.
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => {}
        }
    }
    blocks.finish()
}

#[cfg(test)]
mod tests;
