//! The reports a run waits for: what counts as one, and what its child is told otherwise.

use std::collections::VecDeque;

use pi_subagents_vocabulary::child_protocol::Dialog;
use pi_subagents_vocabulary::{
    CheckedReport, Completion, Ending, FINALIZE_TOOL, Finalized, MOST_MISFITS, Misfit,
    OutputSchema, REPORT_FITS, REPORT_QUESTION,
};
use serde_json::Value;

use crate::completion::{LastAnswer, Verdict};

/// The number of calls of the report tool that are remembered as under way.
const MOST_CALLS: usize = 16;

/// The reports a run waits for, over all its children.
#[derive(Debug, Clone)]
pub(crate) struct Reports {
    /// The number of corrections that the child may get; `None` if no report is needed.
    corrections: Option<u32>,
    sent: u32,
    typed: Option<TypedReports>,
}

/// Reports whose results must meet a schema.
#[derive(Debug, Clone)]
struct TypedReports {
    schema: OutputSchema,
    /// The calls that have begun, by their ids.
    begun: VecDeque<(String, Value)>,
    attempts: u32,
    misfits: u32,
    /// The fewest mistakes so far.
    best: Option<Misfit>,
    /// The mistakes that the child took for a report and was not told.
    untold: Option<Misfit>,
}

/// The consequence of the end of a tool call for the reports of its run.
#[derive(Debug, Default)]
pub(crate) struct ReportSeen {
    /// The report, where it was checked against a schema.
    pub(crate) checked: Option<CheckedReport>,
    /// The ending of the run, if this report is it.
    pub(crate) ending: Option<Ending>,
}

/// The end of a tool call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedCall<'a> {
    pub(crate) id: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) is_error: bool,
    pub(crate) details: Option<&'a Value>,
}

impl Reports {
    pub(crate) fn new(completion: &Completion) -> Self {
        match completion {
            Completion::LastMessage => Self {
                corrections: None,
                sent: 0,
                typed: None,
            },
            Completion::Finalized {
                corrections,
                schema,
            } => Self {
                corrections: Some(*corrections),
                sent: 0,
                typed: schema.clone().map(TypedReports::new),
            },
        }
    }

    /// Returns whether the run waits for a report.
    pub(crate) fn are_needed(&self) -> bool {
        self.corrections.is_some()
    }

    /// Returns whether calls of this tool are bounded here, so that nobody else counts them.
    pub(crate) fn bound(&self, tool: &str) -> bool {
        self.typed.is_some() && tool == FINALIZE_TOOL
    }

    /// Notes that a call begins.
    pub(crate) fn begun(&mut self, id: &str, tool: &str, arguments: &Value) {
        if tool == FINALIZE_TOOL
            && let Some(typed) = &mut self.typed
        {
            if typed.begun.len() >= MOST_CALLS {
                typed.begun.pop_front();
            }
            typed.begun.push_back((id.to_owned(), arguments.clone()));
        }
    }

    /// Returns the answer to a child that asks whether a report fits; `None` for other questions.
    pub(crate) fn answer(&self, dialog: &Dialog) -> Option<String> {
        let typed = self.typed.as_ref()?;
        let call = dialog.title.as_deref()?.strip_prefix(REPORT_QUESTION)?;
        let (_, report) = typed.begun.iter().find(|(id, _)| id == call)?;
        Some(match typed.judge(report) {
            Judged::Fits(_) | Judged::Error(_) => REPORT_FITS.to_owned(),
            Judged::Misfit(_, misfit) => misfit.correction(),
        })
    }

    /// Judges a call that has ended: it may be the report.
    pub(crate) fn ended(&mut self, call: EndedCall<'_>) -> ReportSeen {
        if self.corrections.is_none() || call.tool != FINALIZE_TOOL {
            return ReportSeen::default();
        }
        match &mut self.typed {
            Some(typed) => typed.ended(call),
            None if call.is_error => ReportSeen::default(),
            None => ReportSeen {
                checked: None,
                ending: call.details.and_then(Finalized::read).map(ending),
            },
        }
    }

    /// Judges a child that has settled without a report. A child whose model failed is not
    /// corrected; a child whose words were cut off can still report.
    pub(crate) fn judge(&self, last: &LastAnswer) -> Verdict {
        match last.judge() {
            Ending::Completed | Ending::CutOff if self.are_needed() => Verdict::Unreported,
            ending => Verdict::Over(ending),
        }
    }

    /// Returns the next correction, or the ending of the run if its child was corrected often
    /// enough. A child that believes that it has reported is told what does not fit; that is
    /// bounded by the number of its reports.
    pub(crate) fn correct(&mut self) -> Result<String, Ending> {
        let untold = self.typed.as_mut().and_then(|typed| typed.untold.take());
        if let Some(misfit) = untold {
            return Ok(misfit.correction());
        }
        if self.sent >= self.corrections.unwrap_or_default() {
            let corrections = self.sent;
            return Err(Ending::NeverFinalized { corrections });
        }
        self.sent += 1;
        Ok(match self.typed {
            None => CORRECTION.to_owned(),
            Some(_) => TYPED_CORRECTION.to_owned(),
        })
    }
}

/// The message for a child that settled without a report.
const CORRECTION: &str = "You have not reported yet. Call subagent_finalize as your last action: \
with status \"SUCCESS\" and a non-empty result, or with status \"ERROR\" and a non-empty error \
(a partial result may go with it). Text that is not in that call is not seen by anybody.";

/// The same for a child whose result must meet a schema.
const TYPED_CORRECTION: &str = "You have not reported yet. Call subagent_finalize as your last \
action: with status \"SUCCESS\" and a result that meets the schema of that tool, or with status \
\"ERROR\" and a non-empty error. Text that is not in that call is not seen by anybody.";

fn ending(report: Finalized) -> Ending {
    match report {
        Finalized::Success { .. } => Ending::Completed,
        Finalized::Error { error, .. } => Ending::ReportedError { error },
    }
}

/// The judgement of a report with a schema.
enum Judged {
    /// Its result fits; this is it.
    Fits(Value),
    /// The child could not do it.
    Error(String),
    /// Its result does not fit.
    Misfit(Value, Misfit),
}

impl TypedReports {
    fn new(schema: OutputSchema) -> Self {
        Self {
            schema,
            begun: VecDeque::new(),
            attempts: 0,
            misfits: 0,
            best: None,
            untold: None,
        }
    }

    fn judge(&self, report: &Value) -> Judged {
        let result = report.get("result").cloned().unwrap_or_default();
        let misfit = |line: &str| Judged::Misfit(result.clone(), Misfit::one(line));
        match report.get("status").and_then(Value::as_str) {
            Some("ERROR") => match Finalized::read(report) {
                Some(Finalized::Error { error, .. }) => Judged::Error(error),
                Some(Finalized::Success { .. }) | None => misfit("ERROR needs a non-empty error"),
            },
            Some("SUCCESS") if report.get("result").is_none() => misfit("SUCCESS needs a result"),
            Some("SUCCESS") => match self.schema.check(&result) {
                Ok(fitting) => Judged::Fits(fitting),
                Err(misfit) => Judged::Misfit(result, misfit),
            },
            _ => misfit("status must be \"SUCCESS\" or \"ERROR\""),
        }
    }

    /// Judges a call that has ended. A call that failed was a report all the same if it is its
    /// result that does not fit; its arguments tell.
    fn ended(&mut self, call: EndedCall<'_>) -> ReportSeen {
        let begun = self.begun.iter().position(|(id, _)| id == call.id);
        let begun = begun.and_then(|place| self.begun.remove(place));
        let report = match (call.is_error, call.details, begun) {
            (false, Some(details), _) if details.is_object() => details.clone(),
            (_, _, Some((_, arguments))) => arguments,
            _ => return ReportSeen::default(),
        };
        match self.judge(&report) {
            // It failed for another reason; an aborted call is no report.
            Judged::Fits(_) | Judged::Error(_) if call.is_error => ReportSeen::default(),
            Judged::Error(error) => ReportSeen {
                checked: None,
                ending: Some(Ending::ReportedError { error }),
            },
            Judged::Fits(result) => ReportSeen {
                checked: Some(self.checked(result, None)),
                ending: Some(Ending::Completed),
            },
            Judged::Misfit(result, misfit) => {
                self.untold = (!call.is_error).then(|| misfit.clone());
                let checked = self.checked(result, Some(misfit.clone()));
                ReportSeen {
                    checked: Some(checked),
                    ending: self.missed(misfit),
                }
            }
        }
    }

    fn checked(&mut self, result: Value, misfit: Option<Misfit>) -> CheckedReport {
        self.attempts += 1;
        CheckedReport {
            attempt: self.attempts,
            result,
            misfit,
        }
    }

    /// Counts a report that does not fit. Returns the ending of the run if it is one too many.
    fn missed(&mut self, misfit: Misfit) -> Option<Ending> {
        self.misfits += 1;
        if self
            .best
            .as_ref()
            .is_none_or(|best| misfit.count < best.count)
        {
            self.best = Some(misfit);
        }
        (self.misfits >= MOST_MISFITS).then(|| Ending::SchemaNotMet {
            attempts: self.attempts,
            errors: self.best.take().map(|best| best.lines).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests;
