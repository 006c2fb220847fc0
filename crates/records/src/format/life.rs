//! Our own lines in `events.jsonl`, between the lines of the child.

use std::borrow::Cow;

use pi_subagents_vocabulary::{
    Allowance, AnsweredQuestion, CheckedReport, DecisionKind, Ending, FellBack, GateStep, Gated,
    Happening, Misfit, Question, RunEvent, Rung, Runner, Started, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FORMAT;

/// Our own lines about the life of a run. Their types begin with `run_`; no record of a child's
/// protocol has such a type.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub(crate) enum LifeRecord {
    /// The time of the child's records that follow, because they carry no time of ours.
    #[serde(rename = "run_at")]
    At { at: String },
    #[serde(rename = "run_accepted")]
    Accepted { at: String, format: u32 },
    #[serde(rename = "run_placed")]
    Placed { at: String, worker: String },
    /// A line with another runner is not understood, and skipped like every line of a newer
    /// format.
    #[serde(rename = "run_started")]
    Started {
        at: String,
        runner: Runner,
        child: u32,
        keeper: u32,
    },
    #[serde(rename = "run_granted")]
    Granted { at: String, grant: Allowance },
    #[serde(rename = "run_warned")]
    Warned { at: String, warning: String },
    #[serde(rename = "run_steered")]
    Steered { at: String, message: String },
    #[serde(rename = "run_corrected")]
    Corrected { at: String, message: String },
    #[serde(rename = "run_reported")]
    Reported {
        at: String,
        attempt: u32,
        result: Value,
        /// The mistakes, line by line; empty for a report that meets the schema.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<String>,
        #[serde(default)]
        error_count: usize,
    },
    #[serde(rename = "run_fell_back")]
    FellBack {
        at: String,
        #[serde(flatten)]
        change: FellBack,
    },
    #[serde(rename = "run_rung")]
    Rung {
        at: String,
        #[serde(flatten)]
        rung: Rung,
    },
    #[serde(rename = "run_gated")]
    Gated {
        at: String,
        command: String,
        attempt: u32,
        #[serde(default)]
        log: u32,
        /// It is `began`, `passed` or `failed`.
        step: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    #[serde(rename = "run_asked")]
    Asked {
        at: String,
        #[serde(flatten)]
        question: Question,
    },
    #[serde(rename = "run_answered")]
    Answered {
        at: String,
        #[serde(flatten)]
        answered: AnsweredQuestion,
    },
    #[serde(rename = "run_stopping")]
    Stopping { at: String, decision: DecisionKind },
    #[serde(rename = "run_ended")]
    Ended { at: String, ending: Ending },
}

impl LifeRecord {
    /// Returns our line about an event; `None` for an event that the child's own line or a log
    /// holds already.
    pub(crate) fn of(event: &RunEvent) -> Option<Self> {
        let at = format!("{:.3}", event.at);
        Some(match &event.happening {
            Happening::Accepted(_) => Self::Accepted { at, format: FORMAT },
            Happening::Placed(worker) => Self::Placed {
                at,
                worker: worker.clone(),
            },
            Happening::Started(started) => Self::Started {
                at,
                runner: started.runner,
                child: started.child,
                keeper: started.keeper,
            },
            Happening::Granted(grant) => Self::Granted { at, grant: *grant },
            Happening::Warned(warning) => Self::Warned {
                at,
                warning: warning.clone(),
            },
            Happening::Steered(message) => Self::Steered {
                at,
                message: message.clone(),
            },
            Happening::Corrected(message) => Self::Corrected {
                at,
                message: message.clone(),
            },
            Happening::Reported(report) => Self::reported(at, report),
            Happening::FellBack(change) => Self::FellBack {
                at,
                change: change.clone(),
            },
            Happening::Rung(rung) => Self::Rung {
                at,
                rung: rung.clone(),
            },
            Happening::Gated(gated) => Self::gated(at, gated),
            Happening::Asked(question) => Self::Asked {
                at,
                question: question.clone(),
            },
            Happening::Answered(answered) => Self::Answered {
                at,
                answered: answered.clone(),
            },
            Happening::Stopping(decision) => Self::Stopping {
                at,
                decision: *decision,
            },
            Happening::Ended(ending) => Self::Ended {
                at,
                ending: ending.clone(),
            },
            Happening::Said { .. } | Happening::Printed(_) | Happening::Complained(_) => {
                return None;
            }
        })
    }

    fn reported(at: String, report: &CheckedReport) -> Self {
        let misfit = report.misfit.clone();
        let (errors, error_count) = misfit
            .map(|misfit| (misfit.lines, misfit.count))
            .unwrap_or_default();
        Self::Reported {
            at,
            attempt: report.attempt,
            result: report.result.clone(),
            errors,
            error_count,
        }
    }

    fn gated(at: String, gated: &Gated) -> Self {
        let (step, reason) = match &gated.step {
            GateStep::Began => ("began", None),
            GateStep::Passed => ("passed", None),
            GateStep::Failed { reason } => ("failed", Some(reason.clone())),
        };
        Self::Gated {
            at,
            command: gated.command.clone(),
            attempt: gated.attempt,
            log: gated.log,
            step: step.to_owned(),
            reason,
        }
    }

    /// Returns the line with the time at which the records behind it were seen.
    pub(crate) fn time(at: Timestamp) -> Self {
        Self::At {
            at: format!("{at:.3}"),
        }
    }

    /// Returns the time of this line, unless somebody spoiled it.
    pub(crate) fn at(&self) -> Option<Timestamp> {
        let (Self::At { at }
        | Self::Accepted { at, .. }
        | Self::Placed { at, .. }
        | Self::Started { at, .. }
        | Self::Granted { at, .. }
        | Self::Warned { at, .. }
        | Self::Steered { at, .. }
        | Self::Corrected { at, .. }
        | Self::Reported { at, .. }
        | Self::FellBack { at, .. }
        | Self::Rung { at, .. }
        | Self::Gated { at, .. }
        | Self::Asked { at, .. }
        | Self::Answered { at, .. }
        | Self::Stopping { at, .. }
        | Self::Ended { at, .. }) = self;
        at.parse().ok()
    }

    /// Returns the event of this line. The line about acceptance has none: the accepted task is in
    /// `meta.json`.
    pub(crate) fn into_happening(self) -> Option<Happening> {
        Some(match self {
            Self::At { .. } | Self::Accepted { .. } => return None,
            Self::Stopping { decision, .. } => Happening::Stopping(decision),
            Self::Started {
                runner,
                child,
                keeper,
                ..
            } => {
                let started = Started {
                    runner,
                    child,
                    keeper,
                };
                Happening::Started(started)
            }
            Self::Placed { worker, .. } => Happening::Placed(worker),
            Self::Granted { grant, .. } => Happening::Granted(grant),
            Self::Warned { warning, .. } => Happening::Warned(warning),
            Self::Steered { message, .. } => Happening::Steered(message),
            Self::Corrected { message, .. } => Happening::Corrected(message),
            Self::Reported {
                attempt,
                result,
                errors,
                error_count,
                ..
            } => Happening::Reported(CheckedReport {
                attempt,
                result,
                misfit: (error_count > 0).then_some(Misfit {
                    lines: errors,
                    count: error_count,
                }),
            }),
            Self::FellBack { change, .. } => Happening::FellBack(change),
            Self::Rung { rung, .. } => Happening::Rung(rung),
            Self::Gated {
                command,
                attempt,
                log,
                step,
                reason,
                ..
            } => Happening::Gated(Gated {
                command,
                attempt,
                log,
                step: match step.as_str() {
                    "began" => GateStep::Began,
                    "passed" => GateStep::Passed,
                    _ => GateStep::Failed {
                        reason: reason.unwrap_or_default(),
                    },
                },
            }),
            Self::Asked { question, .. } => Happening::Asked(question),
            Self::Answered { answered, .. } => Happening::Answered(answered),
            Self::Ended { ending, .. } => Happening::Ended(ending),
        })
    }
}

/// Returns the line of `events.jsonl` for an event; `None` for an event that goes to a log.
pub fn recorded_line(event: &RunEvent) -> Option<Cow<'_, [u8]>> {
    if let Happening::Said { line, .. } = &event.happening {
        return Some(Cow::Borrowed(line));
    }
    let record = LifeRecord::of(event)?;
    serde_json::to_vec(&record).ok().map(Cow::Owned)
}
