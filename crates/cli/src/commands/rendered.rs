//! Renders the text of a model for a person at a terminal.

use std::io;

use pi_subagents_view::{Paint, markdown};
use rustix::termios::tcgetwinsize;

use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

/// The width of a terminal that does not report its width.
const USUAL_COLUMNS: usize = 80;

/// Prints Markdown: rendered to a terminal, and to anything else as it is.
pub(super) fn print_markdown(text: &str, places: &Places, printer: Printer) {
    let is_dumb = places.variable("TERM").is_none_or(|term| term == "dumb");
    if is_dumb || !printer.is_screen() {
        return printer.exact(text);
    }
    let paint = if places.variable("NO_COLOR").is_some() {
        Paint::Plain
    } else {
        Paint::Ansi
    };
    printer.lines(&markdown::render(text, columns()), paint);
}

fn columns() -> usize {
    let size = tcgetwinsize(io::stdout());
    let columns = size.map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { USUAL_COLUMNS } else { columns }
}
