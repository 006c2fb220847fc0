//! A run in one line, and its duration.

use std::time::Duration;

use pi_subagents_view::figures::usage_words;
use pi_subagents_vocabulary::{Status, Timestamp, text};

use super::RunRow;

/// The number of bytes of an answer that are shown in one line.
const LONGEST_OUTCOME: usize = 400;

impl RunRow {
    /// Returns how long the run took, or how long it has been under way. Counts from the start of
    /// its child, or from its acceptance as long as that start is not known. Returns `None` for a
    /// run that is over at an unknown time.
    pub fn lasted(&self, now: Timestamp) -> Option<Duration> {
        let begin = self.report.started_at.unwrap_or(self.report.accepted_at);
        let end = match self.report.ended_at {
            Some(end) => end,
            None if self.is_over() => return None,
            None => now,
        };
        Some(Duration::try_from(end.duration_since(begin)).unwrap_or_default())
    }

    /// Returns the word of people for the run: its agent, or else its name.
    pub fn known_as(&self) -> &str {
        self.report.agent.as_deref().unwrap_or(&self.report.name)
    }

    /// Writes the run's calls, tokens, cost and time, as far as they are known.
    pub fn used_words(&self, now: Timestamp) -> String {
        let usage = self.report.usage.unwrap_or_default();
        let lasted = self.lasted(now);
        usage_words(self.report.tool_calls, usage.total(), usage.cost(), lasted)
    }

    /// Returns what a person should know beside the state of the run: its record cannot be read, the
    /// servers of its fleet are away, or somebody has stopped its owner.
    pub fn notice(&self) -> Option<String> {
        if let Some(problem) = &self.record_problem {
            return Some(text::one_line(&text::clean(problem)));
        }
        if let Some(away) = &self.away {
            return Some(away.sentence(&self.report.run_id));
        }
        if let Some(owner) = self.owner.as_ref().filter(|owner| owner.owner_stopped) {
            let pid = owner.owner_pid;
            return Some(format!(
                "its owner (pid {pid}) is stopped (suspended); kill -CONT {pid} continues it"
            ));
        }
        let wait = self.report.waits_for.as_ref()?;
        let is_queued = self.report.status == Status::Queued;
        is_queued.then(|| format!("waits: {}", text::one_line(&text::clean(wait))))
    }

    /// Writes name, state and session: the end of a run, in few words.
    pub fn brief(&self) -> String {
        let name = text::one_line(&self.report.name);
        let (status, session) = (self.report.status.as_str(), &self.report.session_id);
        format!("{name}: {status} (session: {session})")
    }

    /// Writes agent, state, time and ids, and the error, for models.
    pub fn sentence(&self, now: Timestamp) -> String {
        self.sentence_in(self.report.status.as_str(), now)
    }

    /// Writes the same with this word for the state.
    pub fn sentence_in(&self, status: &str, now: Timestamp) -> String {
        let name = self.known_as();
        let word = if self.is_over() { "after" } else { "for" };
        let lasted = self.lasted(now).map_or(String::new(), |lasted| {
            format!(" {word} {}", text::duration(lasted))
        });
        let error = self
            .report
            .error_message
            .as_ref()
            .map_or(String::new(), |error| {
                format!(" — {}", text::one_line(error))
            });
        let (run, session) = (&self.report.run_id, &self.report.session_id);
        format!("{name}: {status}{lasted}{error} (run: {run}, session: {session})")
    }

    /// Returns the error, or else the beginning of the answer, in one line.
    pub fn outcome_line(&self) -> String {
        let said = self
            .report
            .error_message
            .as_deref()
            .or(self.report.output.as_deref());
        let said = said.unwrap_or_default();
        let beginning = &said[..said.floor_char_boundary(LONGEST_OUTCOME)];
        text::one_line(&text::clean(beginning))
    }
}
