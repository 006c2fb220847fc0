//! The summary of a run, small enough to be held for as long as anybody asks for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::child_protocol::ChildRecord;
use crate::text;
use crate::{
    Allowance, AssistantMessage, CheckedReport, Ending, FINALIZE_TOOL, FellBack, Finalized,
    GateStep, Happening, Message, QuestionLog, Receipt, Rejected, RunEvent, RungStep, Runner,
    Status, StopReason, Task, ToolChange, Usage, Witness,
};

/// The number of bytes of the last text that are held in memory; the record on disk has all of it.
pub const LAST_TEXT_LIMIT: usize = 256 << 10;

/// The number of warnings of one run that are held.
const MAX_WARNINGS: usize = 20;

/// The number of bytes of one warning or of a model's error that are held. A child or a server
/// decides how long they are.
const MAX_COMPLAINT_BYTES: usize = 16 << 10;

/// A fold over the events of one run; nothing in it is ever set from outside.
#[derive(Debug, Clone, Default)]
pub struct RunSummary {
    /// The task, once it was accepted.
    pub task: Option<Arc<Task>>,
    /// The time at which the task was accepted.
    pub accepted_at: Option<Timestamp>,
    /// The worker of a fleet that has it, if one has.
    pub worker: Option<String>,
    /// The time at which its child started.
    pub started_at: Option<Timestamp>,
    /// The time at which it ended.
    pub ended_at: Option<Timestamp>,
    /// The ending of the run.
    pub ending: Option<Ending>,
    /// The kind of child that did the run.
    pub runner: Option<Runner>,
    /// The provider that really answered.
    pub provider: Option<String>,
    /// The model that really answered.
    pub model: Option<String>,
    /// The reason why the model stopped last.
    pub stop_reason: Option<StopReason>,
    /// The error of the model's last answer.
    pub model_error: Option<String>,
    /// The tokens and the cost of the run.
    pub usage: Usage,
    /// The part of its budgets that it may consume, if it has any.
    pub granted: Option<Allowance>,
    /// What the run waits for, while it does: a person, other runs, or the machine.
    pub waits_for: Option<String>,
    /// True if it is no person for whom it waits.
    pub lacks_room: bool,
    /// The tools of the child, if all of them are known: a child that continues an old session
    /// lists only the changes.
    pub tools: Option<BTreeSet<String>>,
    /// The number of tool calls.
    pub tool_calls: usize,
    /// The number of messages.
    pub messages: usize,
    /// The text of the last answer that has any, up to [`LAST_TEXT_LIMIT`].
    pub last_text: Option<String>,
    /// The number of corrections that the child got because its report was missing.
    pub corrections: u32,
    /// The last text before the child was first corrected, or before its first report that did not
    /// meet the schema, up to [`LAST_TEXT_LIMIT`].
    pub text_before_correction: Option<String>,
    /// The child's own report, if there is one.
    pub finalized: Option<Finalized>,
    /// The result that meets the schema of the run.
    pub structured: Option<Value>,
    /// The best of the results that do not, while none does.
    pub rejected: Option<Rejected>,
    /// The questions of the run.
    pub questions: QuestionLog,
    /// The warnings for people.
    pub warnings: Vec<String>,
    /// The witness that writes the run's receipt.
    pub witness: Witness,
    /// True if the last text is left out.
    is_without_text: bool,
}

impl RunSummary {
    /// Makes a summary that never holds the last text, for callers that have no use for it.
    pub fn without_text() -> Self {
        Self {
            is_without_text: true,
            ..Self::default()
        }
    }

    /// Folds all events of one run.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Self {
        let mut summary = Self::default();
        summary.apply_all(events);
        summary
    }

    /// Adds several events of the run, in order.
    pub fn apply_all<'a>(&mut self, events: impl IntoIterator<Item = &'a RunEvent>) {
        for event in events {
            self.apply(event);
        }
    }

    /// Adds one more event of the run.
    pub fn apply(&mut self, event: &RunEvent) {
        self.witness.apply(event);
        match &event.happening {
            Happening::Accepted(task) => {
                self.task = Some(Arc::clone(task));
                self.tools.clone_from(&task.known_tools);
                // The record of the run was written a moment before the engine took it.
                self.accepted_at = Some(task.accepted_at.unwrap_or(event.at));
            }
            Happening::Started(started) => {
                self.runner = Some(started.runner);
                self.started_at.get_or_insert(event.at);
            }
            Happening::Granted(grant) => self.granted = Some(*grant),
            Happening::Placed(worker) => self.worker = Some(worker.clone()),
            Happening::Said { record, .. } => self.add_record(record),
            Happening::Warned(warning) => self.warn(warning),
            Happening::Corrected(_) => {
                self.keep_text();
                self.corrections += 1;
            }
            Happening::Reported(report) => self.add_report(report),
            Happening::FellBack(change) => self.fall_back(change),
            Happening::Gated(gated) => {
                if matches!(gated.step, GateStep::Failed { .. }) {
                    // The gate failed in spite of the report, so the next report counts.
                    self.finalized = None;
                    self.structured = None;
                    self.text_before_correction = None;
                }
            }
            Happening::Asked(question) => self.questions.ask(question),
            Happening::Answered(answered) => {
                self.questions.answer(answered, event.at);
            }
            Happening::Rung(rung) => match rung.step {
                RungStep::Paused | RungStep::Queued => {
                    self.waits_for = Some(rung.words.clone());
                    self.lacks_room = rung.step == RungStep::Queued;
                }
                RungStep::Warned | RungStep::Steered | RungStep::WrappedUp | RungStep::WentOn => {
                    self.waits_for = None;
                    self.lacks_room = false;
                }
            },
            Happening::Ended(ending) => {
                self.waits_for = None;
                self.questions.end(ending.parked_for(), event.at);
                self.ended_at = Some(event.at);
                self.ending = Some(ending.clone());
            }
            Happening::Printed(_)
            | Happening::Complained(_)
            | Happening::Steered(_)
            | Happening::Stopping(_) => {}
        }
    }

    /// Takes the model that took over; it is the present one before it has answered.
    fn fall_back(&mut self, change: &FellBack) {
        if let Some((provider, model)) = change.to.split_once('/') {
            self.provider = Some(provider.to_owned());
            self.model = Some(model.to_owned());
        }
    }

    /// Keeps the last text: after a correction models tend to excuse themselves.
    fn keep_text(&mut self) {
        if self.corrections == 0 && self.rejected.is_none() {
            self.text_before_correction.clone_from(&self.last_text);
        }
    }

    fn add_report(&mut self, report: &CheckedReport) {
        if report.misfit.is_some() {
            self.keep_text();
            Rejected::keep(&mut self.rejected, report);
        } else if self.finalized.is_none() {
            self.finalized = Some(Finalized::structured(&report.result));
            self.structured = Some(report.result.clone());
            self.rejected = None;
        }
    }

    /// Returns the output of the run: its report, else its text before the first correction, else
    /// its last text.
    pub fn output(&self) -> Option<&str> {
        match &self.finalized {
            Some(finalized) => finalized.output(),
            None => self
                .text_before_correction
                .as_deref()
                .or(self.last_text.as_deref()),
        }
    }

    /// Returns whether the run completed and said nothing at all.
    pub fn has_no_text(&self) -> bool {
        let is_completed = self.ending == Some(Ending::Completed);
        is_completed && !self.is_without_text && self.output().is_none()
    }

    /// Returns the receipt of the run, or `None` if it is empty.
    pub fn receipt(&self) -> Option<Receipt> {
        Some(self.witness.receipt()).filter(|receipt| !receipt.is_empty())
    }

    /// Returns the reason why the end of the run was not seen, if it was not: the last warning says
    /// it.
    pub fn unseen(&self) -> Option<String> {
        if self.ending.is_some() {
            return None;
        }
        Some(match self.warnings.last() {
            Some(warning) => format!("Its end was not seen: {warning}."),
            None => "Its end was not seen.".to_owned(),
        })
    }

    /// Returns the message for people about a run that nobody follows any more; `None` if it
    /// completed.
    pub fn problem(&self) -> Option<String> {
        match &self.ending {
            Some(ending) => ending.message(),
            None => self.unseen(),
        }
    }

    /// Returns the state of the run.
    pub fn status(&self) -> Status {
        match &self.ending {
            Some(ending) => ending.status(),
            None if self.questions.is_waiting() => Status::Waiting,
            None if self.started_at.is_some() => Status::Running,
            None => Status::Queued,
        }
    }

    fn warn(&mut self, warning: &str) {
        if self.warnings.len() < MAX_WARNINGS {
            let warning = text::cut_bytes(warning.to_owned(), MAX_COMPLAINT_BYTES);
            self.warnings.push(warning);
        }
    }

    fn add_record(&mut self, record: &ChildRecord) {
        self.usage += record.usage();
        match record {
            ChildRecord::MessageEnded(message) => self.add_message(message),
            ChildRecord::ExtensionFailed { error } => self.warn(error),
            ChildRecord::ToolEnded {
                tool,
                is_error: false,
                details: Some(details),
                ..
            } if tool == FINALIZE_TOOL && self.finalized.is_none() => {
                let has_schema = self.task.as_ref().is_some_and(|task| task.has_schema);
                // A result counts once it was checked.
                self.finalized = Finalized::read(details)
                    .filter(|report| !has_schema || matches!(report, Finalized::Error { .. }));
            }
            _ => {}
        }
    }

    pub(crate) fn add_message(&mut self, message: &Message) {
        match message {
            Message::System(change) => return self.change_tools(change),
            Message::Assistant(answer) => self.add_answer(answer),
            Message::User(_) | Message::ToolResult(_) | Message::Other { .. } => {}
        }
        self.messages += 1;
    }

    fn change_tools(&mut self, change: &ToolChange) {
        if change.is_first {
            self.tools = Some(BTreeSet::new());
        }
        if let Some(tools) = &mut self.tools {
            tools.retain(|tool| !change.removed.contains(tool));
            tools.extend(change.added.iter().cloned());
        }
    }

    fn add_answer(&mut self, answer: &AssistantMessage) {
        self.tool_calls += answer.tool_calls().count();
        self.stop_reason.clone_from(&answer.stop_reason);
        let error = answer.error.clone();
        self.model_error = error.map(|error| text::cut_bytes(error, MAX_COMPLAINT_BYTES));
        if answer.provider.is_some() {
            self.provider.clone_from(&answer.provider);
        }
        if answer.model.is_some() {
            self.model.clone_from(&answer.model);
        }
        if !self.is_without_text {
            answer.keep_text_up_to(LAST_TEXT_LIMIT, &mut self.last_text);
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn tools(changes: &[(bool, &[&str], &[&str])]) -> Option<Vec<String>> {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let mut summary = RunSummary::default();
        for (is_first, added, removed) in changes {
            summary.add_message(&Message::System(ToolChange {
                is_first: *is_first,
                added: names(added),
                removed: names(removed),
            }));
        }
        summary.tools.map(|tools| tools.into_iter().collect())
    }

    #[test]
    fn tools_are_known_once_a_session_told_all_of_them() {
        let all: (bool, &[&str], &[&str]) = (true, &["bash", "read"], &[]);
        assert_eq!(
            tools(&[all]),
            Some(vec!["bash".to_owned(), "read".to_owned()])
        );
        // A tool in another form is removed and added.
        assert_eq!(
            tools(&[all, (false, &["ls", "read"], &["bash", "read"])]),
            Some(vec!["ls".to_owned(), "read".to_owned()])
        );
        assert_eq!(tools(&[(true, &[], &[])]), Some(vec![]));
        assert_eq!(tools(&[(false, &["ls"], &["bash"])]), None);
    }
}
