//! A run in one line, and its duration.

use std::time::Duration;

use pi_subagents_view::figures::usage_words;
use pi_subagents_vocabulary::{Timestamp, text};

use super::RunRow;

/// The number of bytes of an answer that are shown in one line.
const LONGEST_OUTCOME: usize = 400;

impl RunRow {
    /// Returns how long the run took, or how long it has been under way. Counts from the start of
    /// its child, or from its acceptance as long as that start is not known. Returns `None` for a
    /// run that is over at an unknown time.
    pub fn lasted(&self, now: Timestamp) -> Option<Duration> {
        let begin = self.end.started_at.unwrap_or(self.accepted_at);
        let end = match self.end.ended_at {
            Some(end) => end,
            None if self.is_over() => return None,
            None => now,
        };
        Some(Duration::try_from(end.duration_since(begin)).unwrap_or_default())
    }

    /// Returns the word of people for the run: its agent, or else its name.
    pub fn known_as(&self) -> &str {
        self.preset.as_deref().unwrap_or(&self.name)
    }

    /// Returns the model without its provider.
    pub fn model_id(&self) -> Option<&str> {
        let model = self.resolved_model.as_deref()?;
        // Records name a model with its provider; pi's session keeps the bare name.
        let is_recorded = self.artifacts.is_some();
        let id = model.split_once('/').filter(|_| is_recorded);
        Some(id.map_or(model, |(_, id)| id))
    }

    /// Writes the run's calls, tokens, cost and time, as far as they are known.
    pub fn used_words(&self, now: Timestamp) -> String {
        let usage = self.end.usage.unwrap_or_default();
        let lasted = self.lasted(now);
        usage_words(self.end.tool_calls, usage.total(), usage.cost(), lasted)
    }

    /// Returns what a person should know beside the state of the run: its record cannot be read, the
    /// servers of its fleet are away, or somebody has stopped its owner.
    pub fn notice(&self) -> Option<String> {
        if let Some(problem) = &self.record_problem {
            return Some(text::one_line(&text::clean(problem)));
        }
        if let Some(away) = &self.away {
            return Some(away.sentence(&self.run_id));
        }
        let owner = self.owner.as_ref().filter(|owner| owner.owner_stopped)?;
        let pid = owner.owner_pid;
        Some(format!(
            "its owner (pid {pid}) is stopped (suspended); kill -CONT {pid} continues it"
        ))
    }

    /// Writes name, state and session: the end of a run, in few words.
    pub fn brief(&self) -> String {
        let name = text::one_line(&self.name);
        let (status, session) = (self.status.as_str(), &self.session_id);
        format!("{name}: {status} (session: {session})")
    }

    /// Writes agent, state, time and ids, and the error, for models.
    pub fn sentence(&self, now: Timestamp) -> String {
        let (name, status) = (self.known_as(), self.status.as_str());
        let word = if self.is_over() { "after" } else { "for" };
        let lasted = self.lasted(now).map_or(String::new(), |lasted| {
            format!(" {word} {}", text::duration(lasted))
        });
        let error = self
            .end
            .error_message
            .as_ref()
            .map_or(String::new(), |error| {
                format!(" — {}", text::one_line(error))
            });
        let (run, session) = (&self.run_id, &self.session_id);
        format!("{name}: {status}{lasted}{error} (run: {run}, session: {session})")
    }

    /// Returns the error, or else the beginning of the answer, in one line.
    pub fn outcome_line(&self) -> String {
        let said = self
            .end
            .error_message
            .as_deref()
            .or(self.end.output.as_deref());
        let said = said.unwrap_or_default();
        let beginning = &said[..said.floor_char_boundary(LONGEST_OUTCOME)];
        text::one_line(&text::clean(beginning))
    }
}
