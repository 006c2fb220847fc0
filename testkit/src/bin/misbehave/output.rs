//! Writing to stdout and stderr.
//!
//! A reader that left ends the process as it ends pi: `write EPIPE` on stderr and exit code 1.

use std::fmt::Display;
use std::io::{self, Write};
use std::process;

use serde::Serialize;

/// Prints a record as one line.
pub(crate) fn record(record: &impl Serialize) {
    line(json(record));
}

/// Prints a line.
pub(crate) fn line(text: impl Display) {
    raw(format!("{text}\n").as_bytes());
}

/// Writes bytes and flushes them.
pub(crate) fn raw(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        stderr(&format!("Error: write EPIPE ({error})\n"));
        give_up(1);
    }
}

/// Writes text to stderr; a reader that left is no matter.
pub(crate) fn stderr(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Serialises a value of ours.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        stderr(&format!("misbehave: cannot write a record: {error}\n"));
        give_up(70)
    })
}

#[expect(
    clippy::exit,
    reason = "nothing above could do anything but exit as well"
)]
fn give_up(code: i32) -> ! {
    process::exit(code)
}
