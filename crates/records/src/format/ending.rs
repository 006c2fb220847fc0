//! An ending as it is written down.

use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_vocabulary::{Dollars, Ending, Excess, Interruption};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum EndingRecord {
    Completed,
    ReportedError {
        error: String,
    },
    NeverFinalized {
        corrections: u32,
    },
    SchemaNotMet {
        attempts: u32,
        errors: Vec<String>,
    },
    GateFailed {
        command: String,
        reason: String,
        attempts: u32,
    },
    ModelError {
        message: String,
    },
    Refused {
        message: String,
    },
    SessionInUse {
        session: String,
        file: PathBuf,
        holder: Option<String>,
    },
    CouldNotStart {
        reason: String,
    },
    Exited {
        code: i32,
        stderr: String,
    },
    Signalled {
        signal: i32,
        stderr: String,
    },
    TimedOut {
        seconds: f64,
    },
    Looped {
        times: u32,
    },
    OutOfTokens {
        spent: u64,
        allowed: u64,
    },
    OutOfMoney {
        spent: f64,
        allowed: f64,
    },
    Stopped,
    Interrupted {
        signal: Option<i32>,
    },
    Lost {
        reason: String,
    },
}

impl From<&Ending> for EndingRecord {
    fn from(ending: &Ending) -> Self {
        match ending.clone() {
            Ending::Completed => Self::Completed,
            Ending::ReportedError { error } => Self::ReportedError { error },
            Ending::NeverFinalized { corrections } => Self::NeverFinalized { corrections },
            Ending::SchemaNotMet { attempts, errors } => Self::SchemaNotMet { attempts, errors },
            Ending::GateFailed {
                command,
                reason,
                attempts,
            } => Self::GateFailed {
                command,
                reason,
                attempts,
            },
            Ending::ModelError { message } => Self::ModelError { message },
            Ending::Refused { message } => Self::Refused { message },
            Ending::SessionInUse {
                session,
                file,
                holder,
            } => Self::SessionInUse {
                session,
                file,
                holder,
            },
            Ending::CouldNotStart { reason } => Self::CouldNotStart { reason },
            Ending::Exited { code, stderr } => Self::Exited { code, stderr },
            Ending::Signalled { signal, stderr } => Self::Signalled { signal, stderr },
            Ending::TimedOut { limit } => Self::TimedOut {
                seconds: limit.as_secs_f64(),
            },
            Ending::Looped { times } => Self::Looped { times },
            Ending::Overspent(Excess::Tokens { spent, allowed }) => {
                Self::OutOfTokens { spent, allowed }
            }
            Ending::Overspent(Excess::Cost { spent, allowed }) => Self::OutOfMoney {
                spent: spent.amount(),
                allowed: allowed.amount(),
            },
            Ending::Stopped => Self::Stopped,
            Ending::Interrupted(interruption) => Self::Interrupted {
                signal: match interruption {
                    Interruption::Signal(signal) => Some(signal),
                    Interruption::OwnerGone => None,
                },
            },
            Ending::Lost { reason } => Self::Lost { reason },
        }
    }
}

impl From<EndingRecord> for Ending {
    fn from(record: EndingRecord) -> Self {
        match record {
            EndingRecord::Completed => Self::Completed,
            EndingRecord::ReportedError { error } => Self::ReportedError { error },
            EndingRecord::NeverFinalized { corrections } => Self::NeverFinalized { corrections },
            EndingRecord::SchemaNotMet { attempts, errors } => {
                Self::SchemaNotMet { attempts, errors }
            }
            EndingRecord::GateFailed {
                command,
                reason,
                attempts,
            } => Self::GateFailed {
                command,
                reason,
                attempts,
            },
            EndingRecord::ModelError { message } => Self::ModelError { message },
            EndingRecord::Refused { message } => Self::Refused { message },
            EndingRecord::SessionInUse {
                session,
                file,
                holder,
            } => Self::SessionInUse {
                session,
                file,
                holder,
            },
            EndingRecord::CouldNotStart { reason } => Self::CouldNotStart { reason },
            EndingRecord::Exited { code, stderr } => Self::Exited { code, stderr },
            EndingRecord::Signalled { signal, stderr } => Self::Signalled { signal, stderr },
            EndingRecord::TimedOut { seconds } => Self::TimedOut {
                limit: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
            },
            EndingRecord::Looped { times } => Self::Looped { times },
            EndingRecord::OutOfTokens { spent, allowed } => {
                Self::Overspent(Excess::Tokens { spent, allowed })
            }
            EndingRecord::OutOfMoney { spent, allowed } => Self::Overspent(Excess::Cost {
                spent: Dollars::new(spent),
                allowed: Dollars::new(allowed),
            }),
            EndingRecord::Stopped => Self::Stopped,
            EndingRecord::Interrupted { signal } => Self::Interrupted(match signal {
                Some(signal) => Interruption::Signal(signal),
                None => Interruption::OwnerGone,
            }),
            EndingRecord::Lost { reason } => Self::Lost { reason },
        }
    }
}

/// Returns an ending as other machines read it.
pub fn ending_value(ending: &Ending) -> Value {
    serde_json::to_value(EndingRecord::from(ending)).unwrap_or_default()
}

/// Reads an ending that another machine has written; `None` if we do not know it.
pub fn read_ending(value: Value) -> Option<Ending> {
    let record: EndingRecord = serde_json::from_value(value).ok()?;
    Some(record.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_survives_being_written_down() {
        let text = |text: &str| text.to_owned();
        for ending in [
            Ending::Completed,
            Ending::ReportedError { error: text("e") },
            Ending::NeverFinalized { corrections: 3 },
            Ending::SchemaNotMet {
                attempts: 5,
                errors: vec![text("/a: e")],
            },
            Ending::GateFailed {
                command: text("c"),
                reason: text("r"),
                attempts: 3,
            },
            Ending::ModelError { message: text("m") },
            Ending::Refused { message: text("r") },
            Ending::SessionInUse {
                session: text("s"),
                file: "/s.jsonl".into(),
                holder: Some(text("r")),
            },
            Ending::CouldNotStart { reason: text("c") },
            Ending::Exited {
                code: 3,
                stderr: text("s"),
            },
            Ending::Signalled {
                signal: 9,
                stderr: text("s"),
            },
            Ending::TimedOut {
                limit: Duration::from_millis(1500),
            },
            Ending::Looped { times: 5 },
            Ending::Overspent(Excess::Tokens {
                spent: 7,
                allowed: 5,
            }),
            Ending::Overspent(Excess::Cost {
                spent: Dollars::new(0.000_001),
                allowed: Dollars::new(123.456_789),
            }),
            Ending::Stopped,
            Ending::Interrupted(Interruption::Signal(15)),
            Ending::Interrupted(Interruption::OwnerGone),
            Ending::Lost { reason: text("l") },
        ] {
            let written = serde_json::to_string(&EndingRecord::from(&ending)).unwrap();
            let read: EndingRecord = serde_json::from_str(&written).unwrap();
            assert_eq!(Ending::from(read), ending, "{written}");
            assert_eq!(read_ending(ending_value(&ending)), Some(ending));
        }
    }
}
