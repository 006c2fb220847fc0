//! Scripts that a test makes and then runs.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a script that can be run.
///
/// Another process writes it, because tests run side by side in one process: a child that another
/// test starts while this process has the file open for writing has it open too, until it has
/// become its own program, and the system does not run a file that somebody writes ("text file
/// busy").
pub(crate) fn write(path: &Path, script: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut input = writer.stdin.take().expect("its input");
    input
        .write_all(script.as_bytes())
        .expect("the script is sent");
    drop(input);
    let status = writer.wait().expect("the shell ends");
    assert!(status.success(), "{} was not written", path.display());
}
