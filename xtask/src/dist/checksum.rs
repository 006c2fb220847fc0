//! Checksums, by the program that users check them with.

use std::path::Path;

use super::filter::filter;
use crate::Outcome;
use crate::machine::program;

/// Returns the lines of `SHA256SUMS` for files of a directory.
pub(super) fn checksums(directory: &Path, names: &[String]) -> Outcome<String> {
    let output = program("sha256sum")
        .args(names)
        .current_dir(directory)
        .output()
        .map_err(|error| format!("sha256sum: {error}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("sha256sum ({}): {why}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the checksum of one file.
pub(super) fn checksum(directory: &Path, name: &str) -> Outcome<String> {
    let line = checksums(directory, &[name.to_owned()])?;
    let sum = line.split(' ').next().unwrap_or_default();
    Ok(sum.to_owned())
}

/// Returns the checksum of bytes.
pub(super) fn digest(bytes: &[u8]) -> Outcome<String> {
    let line = String::from_utf8(filter("sha256sum", &[], bytes)?)?;
    let sum = line.split(' ').next().unwrap_or_default();
    Ok(sum.to_owned())
}
