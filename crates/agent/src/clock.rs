//! The time of day, in the two spellings of pi's records.

use jiff::Timestamp;

/// Milliseconds since 1970, as messages carry them.
pub(crate) fn milliseconds() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default()
}

/// Returns the time in UTC with milliseconds, as session entries carry it.
pub(crate) fn iso() -> String {
    format!("{:.3}", Timestamp::now())
}
