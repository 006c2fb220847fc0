//! Markdown as lines for a person: models write it, and a terminal has no other way to show it.
//!
//! Marks that carry meaning without colour stay (`#` of headings, backticks of code, `>` as a bar);
//! those of emphasis go. Every line break of the author stays, because models mean theirs.

mod blocks;
mod inline;
mod margin;
mod pieces;
mod table;

use pi_subagents_delegation::text;
use pulldown_cmark::{Event, Options, Parser};

use crate::Line;
use blocks::Blocks;
use pieces::pieces;

/// Renders a text as lines, none wider than `columns`.
pub fn render(text: &str, columns: usize) -> Vec<Line> {
    let text = text::clean(text);
    let text = text.trim_matches('\n');
    let mut lines: Vec<Line> = Vec::new();
    for piece in pieces(text) {
        lines.extend(rendered(piece, columns.max(1)));
    }
    lines
}

fn rendered(text: &str, columns: usize) -> Vec<Line> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut blocks = Blocks::new(text, columns);
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
