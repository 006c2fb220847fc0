//! The times in `events.jsonl`. A child's records carry no time of ours, so a line with the time is
//! written before each record that came in another millisecond than the line before it.

use pi_subagents_vocabulary::Timestamp;

use crate::format::LifeRecord;

/// The last time in the events of a run, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecordedTime(Option<i64>);

impl RecordedTime {
    /// Notes that the next line has this time itself.
    pub(crate) fn stands(&mut self, at: Timestamp) {
        self.0 = Some(at.as_millisecond());
    }

    /// Returns the line that must come before a record of this time, if one is needed.
    pub(crate) fn line_before(&mut self, at: Timestamp) -> Option<Vec<u8>> {
        if self.0 == Some(at.as_millisecond()) {
            return None;
        }
        self.stands(at);
        serde_json::to_vec(&LifeRecord::time(at)).ok()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_time_is_written_once_for_all_records_of_its_millisecond() {
        let mut time = RecordedTime::default();
        let mut line = |at: &str| {
            let line = time.line_before(at.parse().unwrap());
            line.map(|line| String::from_utf8(line).unwrap())
        };
        assert_eq!(
            line("2026-11-16T12:00:00Z").as_deref(),
            Some(r#"{"type":"run_at","at":"2026-11-16T12:00:00.000Z"}"#)
        );
        assert_eq!(line("2026-11-16T12:00:00.0009Z"), None);
        assert_eq!(
            line("2026-11-16T12:00:00.0010Z").as_deref(),
            Some(r#"{"type":"run_at","at":"2026-11-16T12:00:00.001Z"}"#)
        );
        // The clock was set back: the record has the time of the clock.
        assert_eq!(
            line("2026-11-15T12:00:00Z").as_deref(),
            Some(r#"{"type":"run_at","at":"2026-11-15T12:00:00.000Z"}"#)
        );
    }
}
