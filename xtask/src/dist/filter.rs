//! Sends bytes through a program, so that this crate needs no other for what every Linux has.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;

use crate::Outcome;
use crate::machine::program;

/// Returns what a program prints for this input.
pub(super) fn filter(name: &str, arguments: &[&str], input: &[u8]) -> Outcome<Vec<u8>> {
    let mut process = program(name)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{name}: {error}"))?;
    let mut stdin = process.stdin.take().ok_or("the program has no stdin")?;
    let input = input.to_vec();
    // Both pipes are short: one thread writes while this one reads.
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = process.wait_with_output()?;
    writer
        .join()
        .map_err(|_| format!("the writer of {name} has panicked"))??;
    if !output.status.success() {
        return Err(format!("{name} ({})", output.status).into());
    }
    Ok(output.stdout)
}
