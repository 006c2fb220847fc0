//! Words for people, on stderr; stdout belongs to the protocol.

use std::fmt::Display;
use std::io::Write;

/// Tells about something that did not stop us.
pub(crate) fn warn(message: &dyn Display) {
    // Nobody can be told when stderr is closed.
    let _ = writeln!(std::io::stderr(), "Warning: {message}");
}

/// Tells why we stop.
pub(crate) fn error(message: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "Error: {message}");
}
