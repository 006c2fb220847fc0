//! When a run began, as short as it can be said.

use pi_subagents_delegation::{TimeZone, Timestamp};

/// Writes the time of day for a run of today, and the day too for an older one.
pub(super) fn started(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (at, now) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    if at.date() == now.date() {
        return at.strftime("%H:%M").to_string();
    }
    if at.year() == now.year() {
        return at.strftime("%m-%d %H:%M").to_string();
    }
    at.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_named_where_it_is_another_one() {
        let moment = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = moment("2026-11-16T19:00:00Z");
        let words = |at: &str| started(moment(at), now, &TimeZone::UTC);
        assert_eq!(words("2026-11-16T07:05:59Z"), "07:05");
        assert_eq!(words("2026-11-15T23:05:00Z"), "11-15 23:05");
        assert_eq!(words("2025-11-16T19:00:00Z"), "2025-11-16");
    }
}
