//! A command that a child runs as one of its tools would.

use std::io;
use std::process::{Command, Stdio};

/// Runs a command in a shell and waits for its end; it says nothing to whoever reads the child.
#[expect(
    clippy::disallowed_methods,
    reason = "the child under test starts it, as a tool would"
)]
pub(crate) fn run(command: &str) -> io::Result<()> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]);
    let shell = shell.stdin(Stdio::null()).stdout(Stdio::null());
    let status = shell.stderr(Stdio::null()).status()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{command}: {status}")))
}
