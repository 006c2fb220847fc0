//! The size of a terminal.

use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// The size of a terminal that does not report its size.
pub const USUAL_SIZE: (usize, usize) = (80, 24);

/// Returns the columns and rows of the terminal that a stream leads to.
pub fn size(stream: impl AsFd) -> (usize, usize) {
    match tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        Ok(_) | Err(_) => USUAL_SIZE,
    }
}
