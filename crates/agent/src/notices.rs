//! Warnings and errors for people, on stderr; stdout belongs to the protocol.

use std::fmt::Display;
use std::io::Write;

/// Prints a warning.
pub(crate) fn warn(message: &dyn Display) {
    // If stderr is closed, nobody can read it.
    let _ = writeln!(std::io::stderr(), "Warning: {message}");
}

/// Prints the error that ends the agent.
pub(crate) fn error(message: &dyn Display) {
    let _ = writeln!(std::io::stderr(), "Error: {message}");
}
