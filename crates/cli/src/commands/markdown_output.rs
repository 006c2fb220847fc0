//! Renders the text of a model for a person at a terminal.

use std::io;

use pi_subagents_view::markdown;

use pi_subagents_ground::colour;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::terminal::size;

/// Prints Markdown: rendered to a terminal, and to anything else as it is.
pub(super) fn print_markdown(text: &str, places: &Places, printer: Printer) {
    let is_dumb = places.variable("TERM").is_none_or(|term| term == "dumb");
    if is_dumb || !printer.is_screen() {
        return printer.exact(text);
    }
    let paint = colour::paint(places, true);
    let (columns, _) = size(io::stdout());
    printer.lines(&markdown::render(text, columns), paint);
}
