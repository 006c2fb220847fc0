//! Shows a text that is longer than the screen in the person's own pager.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::places::Places;

/// Leaves colours as they are, and ends at once if everything fits.
const USUAL: &str = "less -FR";

/// The exit code of a shell that found no pager.
const NOT_FOUND: i32 = 127;

/// Shows a painted text in the pager of the user. Returns whether there was a pager.
pub(crate) fn show(text: &str, places: &Places) -> bool {
    let pager = places
        .variable("PAGER")
        .map(|pager| pager.to_string_lossy());
    let pager = pager.as_deref().unwrap_or(USUAL);
    // The variable may hold arguments, as in `less -S`; a shell takes it apart as git does.
    #[expect(
        clippy::disallowed_methods,
        reason = "the person's own pager is no sub-agent"
    )]
    let started = Command::new("sh")
        .args(["-c", pager])
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut running) = started else {
        return false;
    };
    if let Some(mut stdin) = running.stdin.take() {
        // A person who has read enough leaves the pager before the end.
        _ = stdin.write_all(text.as_bytes());
    }
    running
        .wait()
        .is_ok_and(|status| status.code() != Some(NOT_FOUND))
}
