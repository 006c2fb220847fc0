//! The time that events carry.

use pi_subagents_vocabulary::Timestamp;

/// Returns the time to the millisecond. The record keeps no more than that, so that an event that
/// is read back has the time it had when it was seen.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
