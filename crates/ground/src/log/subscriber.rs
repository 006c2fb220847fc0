//! The subscriber that writes our own events to the log.

use std::sync::Arc;

use pi_subagents_vocabulary::Timestamp;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::line::line_of;
use super::parts::Parts;

/// The beginning of the targets of our own crates. The events of other crates may hold headers and
/// bodies of requests, and with them keys and prompts.
pub(super) const OURS: &str = "pi_subagents";

/// Writes the events of our own crates, as far as their level is wanted. There are no spans.
pub(super) struct LogSubscriber {
    pub(super) level: LevelFilter,
    pub(super) log: Arc<Parts>,
    /// The run that this process belongs to, if it belongs to exactly one.
    pub(super) run: Option<String>,
}

impl Subscriber for LogSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        !metadata.is_span()
            && metadata.target().starts_with(OURS)
            && *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let line = line_of(event, Timestamp::now(), self.run.as_deref());
        self.log.write(&line);
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pi_subagents_files::Directory;
    use pretty_assertions::assert_eq;

    use super::*;

    /// Returns the log of some events at this level, without times.
    fn logged(level: LevelFilter, events: impl FnOnce()) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().to_owned();
        let open = move || Directory::open(&path);
        let log = Arc::new(Parts::new(Box::new(open), "1".into(), String::new(), 9999));
        log.open().unwrap();
        let subscriber = LogSubscriber {
            level,
            log,
            run: Some("r1".into()),
        };
        tracing::subscriber::with_default(subscriber, events);
        let text = fs::read_to_string(place.path().join("1.log")).unwrap();
        let lines = text.lines();
        lines
            .map(|line| line.split_once(' ').unwrap().1.to_owned())
            .collect()
    }

    #[test]
    fn events_of_others_are_left_out() {
        let lines = logged(LevelFilter::TRACE, || {
            tracing::error!(target: "h2::codec", "authorization: Bearer sk-secret");
            tracing::trace!(target: "pi_subagents_engine::keeper", pid = 7, "child started");
        });
        assert_eq!(
            lines,
            ["TRACE pi_subagents_engine::keeper child started pid=7 run=r1"]
        );
    }

    #[test]
    fn a_level_includes_those_before_it() {
        let lines = logged(LevelFilter::INFO, || {
            tracing::warn!(target: "pi_subagents", word = "a b", "one");
            tracing::info!(target: "pi_subagents", path = %"/x", "two");
            tracing::debug!(target: "pi_subagents", "three");
        });
        assert_eq!(
            lines,
            [
                "WARN  pi_subagents one word=\"a b\" run=r1",
                "INFO  pi_subagents two path=/x run=r1"
            ]
        );
    }
}
