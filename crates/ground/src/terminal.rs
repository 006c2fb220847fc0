//! The size of a terminal.

use std::os::fd::AsFd;

use pi_subagents_os::terminal_size;

/// The size of a terminal that does not report its size.
pub const USUAL_SIZE: (usize, usize) = (80, 24);

/// Returns the columns and rows of the terminal that a stream leads to.
pub fn size(stream: impl AsFd) -> (usize, usize) {
    match terminal_size(stream) {
        Some((columns @ 1.., rows @ 1..)) => (columns.into(), rows.into()),
        Some(_) | None => USUAL_SIZE,
    }
}
