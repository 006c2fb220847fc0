//! Remarks about a run: their kinds, and their words, which are the same at every door.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    CheckedReport, FellBack, GateStep, Gated, Happening, Question, RungStep, Timestamp,
};

use crate::Role;

/// Something about a run that is no message of its model and no answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark<'a> {
    /// The kind of the remark.
    pub kind: RemarkKind<'a>,
    /// The words without the word for its kind.
    pub text: Cow<'a, str>,
}

/// The kinds of remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkKind<'a> {
    /// A child started.
    Started,
    /// Something that a person should know and that ends nothing.
    Warning,
    /// An extension of the child failed.
    ExtensionFailed,
    /// Somebody sent the running child a message.
    Steered,
    /// The child owed a report and was asked for it.
    Corrected,
    /// A report was checked against the schema of the run.
    Report {
        /// True if the report meets the schema.
        is_met: bool,
    },
    /// The run goes on with another model.
    FellBack,
    /// The run is stuck, and a person should know.
    Stuck,
    /// The run is stuck, or has to come to its end, and its model was told.
    Told,
    /// The run waits until somebody raises its budget.
    Paused,
    /// It waits until the machine has room for it.
    Queued,
    /// It goes on after that.
    WentOn,
    /// A gate began.
    GateBegan,
    /// A gate passed.
    GatePassed,
    /// A gate failed.
    GateFailed,
    /// The run asks something, and waits.
    Asked,
    /// A question is no longer open.
    Answered,
    /// The conversation is being shortened.
    Compacting,
    /// The conversation was shortened.
    Compacted,
    /// The child printed a line that is no record.
    Printed,
    /// The child wrote to stderr, perhaps many lines at once.
    Complained,
    /// A message of a role that we do not know.
    Other(&'a str),
}

/// A model that is asked again after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry<'a> {
    /// The number of this attempt.
    pub attempt: u64,
    /// The number of all attempts.
    pub max_attempts: u64,
    /// The pause before it.
    pub delay: Duration,
    /// The reason for the retry.
    pub error: &'a str,
    /// True if the answer that failed has named the reason already.
    pub is_explained: bool,
}

impl Retry<'_> {
    /// Names the attempt without the reason, for a reader who has just read it.
    pub fn brief(&self) -> String {
        let (attempt, all) = (self.attempt, self.max_attempts);
        match self.delay.as_secs() {
            0 => format!("retry {attempt} of {all}"),
            seconds => format!("retry {attempt} of {all} in {seconds} s"),
        }
    }

    /// Names the attempt and the reason.
    pub fn words(&self) -> String {
        format!("{}: {}", self.brief(), self.error)
    }
}

impl Remark<'_> {
    /// Returns one word for its kind, as a log has it.
    pub fn label(&self) -> &str {
        match self.kind {
            RemarkKind::Started => "started",
            RemarkKind::Warning | RemarkKind::ExtensionFailed => "warning",
            RemarkKind::Steered => "steered",
            RemarkKind::Corrected => "corrected",
            RemarkKind::Report { .. } => "report",
            RemarkKind::FellBack => "⇄",
            RemarkKind::Stuck => "⚠",
            RemarkKind::Told => "told",
            RemarkKind::Paused => "paused",
            RemarkKind::Queued => "waits for",
            RemarkKind::WentOn => "continues",
            RemarkKind::GateBegan | RemarkKind::GatePassed | RemarkKind::GateFailed => "gate",
            RemarkKind::Asked => "?",
            RemarkKind::Answered => "answer",
            RemarkKind::Compacting => "compacting",
            RemarkKind::Compacted => "compacted",
            RemarkKind::Printed => "stdout",
            RemarkKind::Complained => "stderr",
            RemarkKind::Other(role) => role,
        }
    }

    /// Returns the words with the word for their kind, for a place without labels.
    pub fn line(&self) -> String {
        let text = &self.text;
        match self.kind {
            RemarkKind::FellBack
            | RemarkKind::Stuck
            | RemarkKind::GatePassed
            | RemarkKind::GateFailed
            | RemarkKind::Asked
            | RemarkKind::Report { .. } => {
                format!("{} {text}", self.label())
            }
            RemarkKind::Warning
            | RemarkKind::Steered
            | RemarkKind::Told
            | RemarkKind::Paused
            | RemarkKind::Queued
            | RemarkKind::WentOn
            | RemarkKind::Corrected
            | RemarkKind::GateBegan
            | RemarkKind::Started
            | RemarkKind::Answered
            | RemarkKind::Other(_) => format!("{}: {text}", self.label()),
            RemarkKind::ExtensionFailed
            | RemarkKind::Compacting
            | RemarkKind::Compacted
            | RemarkKind::Printed
            | RemarkKind::Complained => text.clone().into_owned(),
        }
    }

    /// Returns how much it matters.
    pub fn role(&self) -> Role {
        match self.kind {
            RemarkKind::Warning
            | RemarkKind::ExtensionFailed
            | RemarkKind::FellBack
            | RemarkKind::Stuck
            | RemarkKind::Asked
            | RemarkKind::Paused
            | RemarkKind::Queued
            | RemarkKind::Told => Role::Warning,
            RemarkKind::Steered
            | RemarkKind::WentOn
            | RemarkKind::Corrected
            | RemarkKind::GateBegan
            | RemarkKind::Answered
            | RemarkKind::Other(_) => Role::Accent,
            RemarkKind::Report { is_met: true } | RemarkKind::GatePassed => Role::Success,
            RemarkKind::Report { is_met: false } | RemarkKind::GateFailed => Role::Failed,
            RemarkKind::Printed => Role::Plain,
            RemarkKind::Started
            | RemarkKind::Compacting
            | RemarkKind::Compacted
            | RemarkKind::Complained => Role::Muted,
        }
    }
}

/// Returns the remark of an event that is no record of the child's protocol.
pub(super) fn of(happening: &Happening) -> Option<super::What<'_>> {
    let (kind, text) = match happening {
        Happening::Started(started) => {
            let words = started.runner.title();
            (RemarkKind::Started, Cow::Borrowed(words))
        }
        Happening::Printed(line) => (RemarkKind::Printed, String::from_utf8_lossy(line)),
        Happening::Complained(words) => (RemarkKind::Complained, words.into()),
        Happening::Warned(words) => (RemarkKind::Warning, words.into()),
        Happening::Steered(words) => (RemarkKind::Steered, words.into()),
        Happening::Corrected(words) => (RemarkKind::Corrected, words.into()),
        Happening::Reported(report) => of_report(report),
        Happening::Rung(rung) => match rung.step {
            RungStep::Paused => (RemarkKind::Paused, rung.words.as_str().into()),
            RungStep::Queued => (RemarkKind::Queued, rung.words.as_str().into()),
            RungStep::WentOn => (RemarkKind::WentOn, rung.words.as_str().into()),
            RungStep::Warned => (RemarkKind::Stuck, rung.words.as_str().into()),
            RungStep::Steered | RungStep::WrappedUp => {
                (RemarkKind::Told, rung.words.as_str().into())
            }
        },
        Happening::Gated(gated) => of_gate(gated),
        Happening::Asked(question) => (RemarkKind::Asked, asked_words(question).into()),
        Happening::Answered(answered) => (
            RemarkKind::Answered,
            format!("({}) {}", answered.id, answered.outcome.sentence()).into(),
        ),
        Happening::Accepted(_)
        | Happening::Placed(_)
        | Happening::Granted(_)
        | Happening::Said { .. }
        | Happening::FellBack(_)
        | Happening::Stopping(_)
        | Happening::Ended(_) => return None,
    };
    Some(super::What::Remark(Remark { kind, text }))
}

/// Returns the remark about a model that took over at this time.
pub(super) fn of_change(change: &FellBack, at: Timestamp) -> super::What<'_> {
    super::What::Remark(Remark {
        kind: RemarkKind::FellBack,
        text: Cow::Owned(change.line(at)),
    })
}

/// Returns the remark of a record that is neither a message nor about a tool.
pub(super) fn of_record(record: &ChildRecord) -> Option<super::What<'_>> {
    let (kind, text) = match record {
        ChildRecord::Compacting { reason } => {
            let words = format!("the conversation is being shortened: {reason}");
            (RemarkKind::Compacting, words)
        }
        ChildRecord::Compacted { .. } => {
            let words = "the conversation was shortened".to_owned();
            (RemarkKind::Compacted, words)
        }
        ChildRecord::ExtensionFailed { error } => {
            // A server of the embedded agent says by itself what it is.
            let words = if error.starts_with("MCP server ") {
                error.clone()
            } else {
                format!("extension failed: {error}")
            };
            (RemarkKind::ExtensionFailed, words)
        }
        _ => return None,
    };
    let text = Cow::Owned(text);
    Some(super::What::Remark(Remark { kind, text }))
}

/// Words a question with everything that somebody who answers needs.
fn asked_words(question: &Question) -> String {
    let mut words = format!("({}) {}", question.id, question.text);
    if let Some(context) = &question.context {
        words.push('\n');
        words.push_str(context);
    }
    for (number, option) in question.options.iter().enumerate() {
        // Writing to a string cannot fail.
        _ = write!(words, "\n{} {option}", number + 1);
    }
    words
}

fn of_report(report: &CheckedReport) -> (RemarkKind<'_>, Cow<'_, str>) {
    let attempt = report.attempt;
    let words = match &report.misfit {
        None => format!("{attempt} meets the output schema"),
        Some(misfit) => {
            let first = misfit.lines.first().map_or("", String::as_str);
            let more = match misfit.count.saturating_sub(1) {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!("{attempt} does not meet the output schema: {first}{more}")
        }
    };
    let is_met = report.misfit.is_none();
    (RemarkKind::Report { is_met }, words.into())
}

fn of_gate(gated: &Gated) -> (RemarkKind<'_>, Cow<'_, str>) {
    let command = &gated.command;
    match &gated.step {
        GateStep::Began if gated.attempt > 1 => {
            let words = format!("{command} (attempt {})", gated.attempt);
            (RemarkKind::GateBegan, words.into())
        }
        GateStep::Began => (RemarkKind::GateBegan, command.into()),
        GateStep::Passed => (RemarkKind::GatePassed, format!("passed: {command}").into()),
        GateStep::Failed { reason } => {
            let words = format!("failed ({reason}): {command}");
            (RemarkKind::GateFailed, words.into())
        }
    }
}
