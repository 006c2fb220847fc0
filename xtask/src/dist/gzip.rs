//! Compresses with the program gzip, so that this crate needs no other.

use super::filter::filter;
use crate::Outcome;

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
    filter("gzip", &["-9", "--no-name", "--stdout"], data)
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
