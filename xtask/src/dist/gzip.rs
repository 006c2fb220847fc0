//! Compresses with the program gzip, so that this crate needs no other.

use std::io::Write as _;
use std::process::Stdio;
use std::thread;

use crate::Outcome;
use crate::machine::program;

/// The bytes before and after the deflated data: no name and no time are stored.
const HEADER: usize = 10;
const TRAILER: usize = 8;

/// Data as a gzip file holds it.
pub(super) struct Deflated {
    pub(super) bytes: Vec<u8>,
    /// The checksum of the data before compression.
    pub(super) crc: [u8; 4],
}

/// Returns the data as a gzip file without a name and a time.
pub(super) fn gzip(data: &[u8]) -> Outcome<Vec<u8>> {
    let mut process = program("gzip")
        .args(["-9", "--no-name", "--stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("gzip: {error}"))?;
    let mut stdin = process.stdin.take().ok_or("gzip has no stdin")?;
    let data = data.to_vec();
    // Both pipes are short: one thread writes while this one reads.
    let writer = thread::spawn(move || stdin.write_all(&data));
    let output = process.wait_with_output()?;
    writer
        .join()
        .map_err(|_| "the writer of gzip has panicked")??;
    if !output.status.success() {
        return Err(format!("gzip ({})", output.status).into());
    }
    Ok(output.stdout)
}

/// Returns the data as zip archives hold it.
pub(super) fn deflate(data: &[u8]) -> Outcome<Deflated> {
    let file = gzip(data)?;
    let end = file.len().saturating_sub(TRAILER);
    let bytes = file.get(HEADER..end).ok_or("gzip wrote too little")?;
    let crc = file.get(end..end + 4).ok_or("gzip wrote too little")?;
    Ok(Deflated {
        bytes: bytes.to_vec(),
        crc: crc.try_into()?,
    })
}
