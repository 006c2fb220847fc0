//! The place of a run among all runs of a user. It does not depend on the clock, because people set
//! clocks, and clocks set themselves.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use memchr::memmem;
use pi_subagents_files as files;
use pi_subagents_vocabulary::Timestamp;

/// The number of bytes at the end of the index that are looked at first. They hold more than a
/// hundred lines.
const LAST_LINES: u64 = 64 << 10;

/// The text before the number in a line. A text of a user cannot look like it, because its
/// quotation marks are escaped.
const FIELD: &[u8] = br#""sequence":"#;

/// Returns the number of a run that begins now: the time in milliseconds, or the number of the run
/// before it plus one if the clock is behind. So a lost index costs nothing while the clock is
/// right, and a clock that was set back costs nothing while the index is there.
pub(crate) fn next(index: &Path, now: Timestamp) -> u64 {
    let by_the_clock = u64::try_from(now.as_millisecond()).unwrap_or_default();
    // Nothing is known of an index that does not exist or cannot be read.
    let latest = latest(index).ok().flatten();
    latest.map_or(by_the_clock, |latest| {
        by_the_clock.max(latest.saturating_add(1))
    })
}

/// Returns the highest number near the end of the index, or in all of it if there is none near the
/// end.
fn latest(index: &Path) -> io::Result<Option<u64>> {
    let mut file = files::open_own(index)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_LINES)))?;
    file.read_to_end(&mut bytes)?;
    if let Some(latest) = highest(&bytes) {
        return Ok(Some(latest));
    }
    bytes.clear();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(highest(&bytes))
}

fn highest(lines: &[u8]) -> Option<u64> {
    let numbers = memmem::find_iter(lines, FIELD).filter_map(|at| {
        let rest = &lines[at + FIELD.len()..];
        let end = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        std::str::from_utf8(&rest[..end]).ok()?.parse().ok()
    });
    numbers.max()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    fn at(millisecond: i64) -> Timestamp {
        Timestamp::from_millisecond(millisecond).unwrap()
    }

    #[test]
    fn a_number_is_higher_than_those_before_it_whatever_the_clock_says() {
        let directory = tempfile::tempdir().unwrap();
        let index = directory.path().join("index");
        assert_eq!(next(&index, at(1000)), 1000);
        fs::write(&index, "{\"run\":\"a\",\"sequence\":1000,\"x\":1}\n").unwrap();
        assert_eq!(next(&index, at(2000)), 2000);
        assert_eq!(next(&index, at(1000)), 1001);
        assert_eq!(next(&index, at(10)), 1001);
        let disorder = "{\"sequence\":9000}\n{\"name\":\"\\\"sequence\\\":99999\"}\n{\"sequence\":8000}\n{\"sequence\":99";
        fs::write(&index, disorder).unwrap();
        assert_eq!(next(&index, at(10)), 9001);
    }

    #[test]
    fn a_number_far_from_the_end_is_found_too() {
        let directory = tempfile::tempdir().unwrap();
        let index = directory.path().join("index");
        let ends = "{\"run\":\"a\",\"status\":\"completed\"}\n".repeat(4000);
        fs::write(&index, format!("{{\"sequence\":7}}\n{ends}")).unwrap();
        assert_eq!(next(&index, at(1)), 8);
    }
}
