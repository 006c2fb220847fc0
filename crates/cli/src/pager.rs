//! Shows a text that is longer than the screen in the person's own pager.

use std::io;
use std::process::{ExitStatus, Stdio};

use pi_subagents_os::start;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use pi_subagents_ground::places::Places;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::signals::survive_interrupts;

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
    let shown = block_on(async {
        // Ctrl-C is a key of the pager. Without us it would share the terminal with the shell.
        survive_interrupts();
        Ok(read_in(pager, text).await)
    });
    shown.is_ok_and(|ended| ended.is_ok_and(|status| status.code() != Some(NOT_FOUND)))
}

/// Starts a pager and waits until the person leaves it.
async fn read_in(pager: &str, text: &str) -> io::Result<ExitStatus> {
    // The variable may hold arguments, as in `less -S`; a shell takes it apart as git does.
    #[expect(
        clippy::disallowed_methods,
        reason = "the person's own pager is no sub-agent"
    )]
    let mut shell = Command::new("sh");
    shell.args(["-c", pager]).stdin(Stdio::piped());
    let mut running = start(&mut shell)?;
    if let Some(mut stdin) = running.stdin.take() {
        // A person who has read enough leaves the pager before the end.
        _ = stdin.write_all(text.as_bytes()).await;
    }
    running.wait().await
}
