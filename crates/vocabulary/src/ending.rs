//! Every way a run can end. Status, exit code and message derive from it and from nothing else.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Excess, QuestionId, seconds, text};

/// The ending of a run. In JSON `kind` names it, beside the fields that it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Ending {
    /// The child settled and its answer counts.
    Completed,
    /// The child finalized with an error of its own.
    ReportedError {
        /// The error that it reported.
        error: String,
    },
    /// The child had to finalize and never did.
    NeverFinalized {
        /// The number of corrections that it got.
        corrections: u32,
    },
    /// None of the child's reports met the schema of the run.
    SchemaNotMet {
        /// The number of reports that it gave.
        attempts: u32,
        /// The faults of the best of them, line by line.
        errors: Vec<String>,
    },
    /// The child was done, and a gate did not pass.
    GateFailed {
        /// The gate's command.
        command: String,
        /// The way in which it ended, in a few words.
        reason: String,
        /// The number of times that it was run.
        attempts: u32,
    },
    /// The model could not be asked or failed for good.
    ModelError {
        /// The message of the provider or of the child.
        message: String,
    },
    /// The model's last answer was cut off at the number of tokens that it may write.
    CutOff,
    /// The task was refused before a child was started.
    Refused {
        /// The reason for the refusal.
        message: String,
    },
    /// It never began, because of other runs of its call.
    NotStarted {
        /// The reason, as a sentence.
        reason: String,
    },
    /// Another run holds the session it was to continue.
    SessionInUse {
        /// The session's id.
        session: String,
        /// The session's file.
        file: PathBuf,
        /// The run that holds it, if it left its name.
        holder: Option<String>,
    },
    /// The child could not be started.
    CouldNotStart {
        /// The reason why it could not be started.
        reason: String,
    },
    /// The sandbox of the run could not be made, so nothing was started.
    NotConfined {
        /// The reason why, as a sentence.
        reason: String,
    },
    /// The child exited before it settled.
    Exited {
        /// Its exit code.
        code: i32,
        /// The last lines it wrote to stderr.
        stderr: String,
    },
    /// The child died of a signal before it settled.
    Signalled {
        /// The signal's number.
        signal: i32,
        /// The last lines it wrote to stderr.
        stderr: String,
    },
    /// Its time was over.
    TimedOut {
        /// The time the task was given, in seconds.
        #[serde(rename = "seconds", with = "seconds")]
        #[schemars(with = "f64")]
        limit: Duration,
    },
    /// It repeated the same tool call, or the same few calls.
    Looped {
        /// The number of times.
        times: u32,
        /// The calls that it repeated, in a few words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<String>,
    },
    /// Its model had given as many answers as it might, and was not done.
    OutOfTurns {
        /// The number of answers that it might give.
        turns: u32,
    },
    /// Nobody answered its question in time. The session stays, and an answer continues it.
    Parked {
        /// The question.
        question: QuestionId,
        /// The words of the question, on one line.
        text: String,
    },
    /// Somebody asked for it to be stopped.
    Stopped,
    /// Its owner ended before the run did.
    Interrupted(Interruption),
    /// We lost contact with it: its output closed, or its keeper died.
    Lost {
        /// The sign by which it was noticed.
        reason: String,
    },
    /// It reached a limit of its allowance and was not done. Each limit is a kind of its own.
    #[serde(untagged)]
    Overspent(Excess),
}

/// The reason why an owner left its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "SignalField", into = "SignalField")]
pub enum Interruption {
    /// It got this signal and ended its runs.
    Signal(i32),
    /// It, or the pi it worked for, was killed.
    OwnerGone,
}

/// An interruption in JSON: the signal, or null if the owner was gone.
#[derive(Serialize, Deserialize, JsonSchema)]
struct SignalField {
    signal: Option<i32>,
}

impl From<SignalField> for Interruption {
    fn from(field: SignalField) -> Self {
        field.signal.map_or(Self::OwnerGone, Self::Signal)
    }
}

impl From<Interruption> for SignalField {
    fn from(interruption: Interruption) -> Self {
        let signal = match interruption {
            Interruption::Signal(signal) => Some(signal),
            Interruption::OwnerGone => None,
        };
        Self { signal }
    }
}

/// A run's state in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// It waits for a free place.
    #[default]
    Queued,
    /// It runs.
    Running,
    /// It has asked a question and waits for the answer.
    Waiting,
    /// It ended because nobody answered its question, and an answer continues it.
    Parked,
    /// It ended as it should.
    Completed,
    /// It ended in an error.
    Failed,
    /// Somebody stopped it. Records of earlier versions have the word `aborted`.
    #[serde(alias = "aborted")]
    Stopped,
}

impl Status {
    /// Returns the place of this state in a list that is sorted by states: runs that wait for an
    /// answer first, then runs in progress, then those that somebody has to look at.
    pub fn list_rank(self) -> u8 {
        match self {
            Self::Waiting => 0,
            Self::Parked => 1,
            Self::Running => 2,
            Self::Queued => 3,
            Self::Failed => 4,
            Self::Stopped => 5,
            Self::Completed => 6,
        }
    }
}

/// Our own decision to end a run that is still going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The deadline passed.
    TimedOut {
        /// The time the task was given.
        limit: Duration,
    },
    /// The model repeated the same tool call.
    Looped {
        /// The number of times that the call was repeated.
        times: u32,
    },
    /// The run reached a limit of its allowance.
    Overspent(Excess),
    /// The model had given as many answers as it might.
    OutOfTurns {
        /// The number of answers that it might give.
        turns: u32,
    },
    /// Somebody asked for it.
    Stop,
    /// The owner must end.
    Shutdown(Interruption),
}

/// The kind of a [`Decision`], which is all that a record keeps of it: the numbers are in the ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DecisionKind {
    /// The deadline passed.
    TimedOut,
    /// The model repeated the same tool call.
    Looped,
    /// The run reached a limit of its allowance.
    Overspent,
    /// The model had given as many answers as it might.
    OutOfTurns,
    /// Nobody answered its question in time.
    Park,
    /// Somebody asked for it.
    Stop,
    /// The owner must end.
    Shutdown,
}

impl Decision {
    /// Returns the kind of this decision.
    pub fn kind(self) -> DecisionKind {
        match self {
            Self::TimedOut { .. } => DecisionKind::TimedOut,
            Self::Looped { .. } => DecisionKind::Looped,
            Self::Overspent(_) => DecisionKind::Overspent,
            Self::OutOfTurns { .. } => DecisionKind::OutOfTurns,
            Self::Stop => DecisionKind::Stop,
            Self::Shutdown(_) => DecisionKind::Shutdown,
        }
    }

    /// Returns the ending of a run that was ended by this decision.
    pub fn ending(self) -> Ending {
        match self {
            Self::TimedOut { limit } => Ending::TimedOut { limit },
            Self::Looped { times } => Ending::Looped {
                times,
                evidence: None,
            },
            Self::Overspent(excess) => Ending::Overspent(excess),
            Self::OutOfTurns { turns } => Ending::OutOfTurns { turns },
            Self::Stop => Ending::Stopped,
            Self::Shutdown(why) => Ending::Interrupted(why),
        }
    }
}

impl Ending {
    /// Returns the state of a run with this ending.
    pub fn status(&self) -> Status {
        match self {
            Self::Completed => Status::Completed,
            Self::Parked { .. } => Status::Parked,
            Self::Stopped | Self::NotStarted { .. } | Self::Interrupted(_) => Status::Stopped,
            Self::ReportedError { .. }
            | Self::NeverFinalized { .. }
            | Self::SchemaNotMet { .. }
            | Self::GateFailed { .. }
            | Self::ModelError { .. }
            | Self::CutOff
            | Self::Refused { .. }
            | Self::SessionInUse { .. }
            | Self::CouldNotStart { .. }
            | Self::NotConfined { .. }
            | Self::Exited { .. }
            | Self::Signalled { .. }
            | Self::TimedOut { .. }
            | Self::Looped { .. }
            | Self::OutOfTurns { .. }
            | Self::Overspent(_)
            | Self::Lost { .. } => Status::Failed,
        }
    }

    /// Returns the question for which the run was parked, if it was.
    pub fn parked_for(&self) -> Option<&QuestionId> {
        match self {
            Self::Parked { question, .. } => Some(question),
            _ => None,
        }
    }

    /// Returns the exit code that a shell would expect of this ending; 0 only for a completed run.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Completed => 0,
            Self::Exited { code: 0, .. }
            | Self::ReportedError { .. }
            | Self::NeverFinalized { .. }
            | Self::SchemaNotMet { .. }
            | Self::GateFailed { .. }
            | Self::ModelError { .. }
            | Self::CutOff
            | Self::Refused { .. }
            | Self::NotStarted { .. }
            | Self::SessionInUse { .. }
            | Self::CouldNotStart { .. }
            | Self::NotConfined { .. }
            | Self::Looped { .. }
            | Self::OutOfTurns { .. }
            | Self::Overspent(_)
            | Self::Interrupted(Interruption::OwnerGone)
            | Self::Lost { .. } => 1,
            Self::Exited { code, .. } => *code,
            Self::Signalled { signal, .. } | Self::Interrupted(Interruption::Signal(signal)) => {
                128_i32.saturating_add(*signal)
            }
            Self::Parked { .. } => 75,
            Self::TimedOut { .. } => 124,
            Self::Stopped => 143,
        }
    }

    /// Returns the message for people; `None` for a run that completed.
    pub fn message(&self) -> Option<String> {
        let message = match self {
            Self::Completed => return None,
            Self::ReportedError { error: message }
            | Self::ModelError { message }
            | Self::Refused { message }
            | Self::NotConfined { reason: message } => message.clone(),
            Self::NotStarted { reason } => format!("Not started. {reason}"),
            Self::CutOff => {
                "Its answer was cut off at the number of tokens that its model may write."
                    .to_owned()
            }
            Self::NeverFinalized { corrections } => format!(
                "The sub-agent never called subagent_finalize, although it was told {corrections} times."
            ),
            Self::SchemaNotMet { attempts, errors } => format!(
                "None of its {attempts} reports met the output schema. Wrong in the best one: {}",
                errors.join("; ")
            ),
            Self::GateFailed {
                command,
                reason,
                attempts: 0 | 1,
            } => format!("The gate `{command}` failed: {reason}."),
            Self::GateFailed {
                command,
                reason,
                attempts,
            } => format!("The gate `{command}` still fails after {attempts} attempts: {reason}."),
            Self::SessionInUse {
                session,
                file,
                holder,
            } => {
                let file = file.display();
                match holder {
                    Some(run) => format!(
                        "Session {session} ({file}) is in use by run {run}. Wait until it has finished, or stop it."
                    ),
                    None => format!(
                        "Session {session} ({file}) is in use by another run. Wait until it has finished, or stop it."
                    ),
                }
            }
            Self::CouldNotStart { reason } => {
                format!("Failed to spawn sub-agent process: {reason}")
            }
            Self::Exited { code: 0, stderr } => with_stderr(
                "The sub-agent exited before its answer was complete",
                stderr,
            ),
            Self::Exited { code, stderr } => {
                with_stderr(&format!("The sub-agent exited with code {code}"), stderr)
            }
            Self::Signalled { signal, stderr } => with_stderr(
                &format!("The sub-agent was killed by {}", signal_name(*signal)),
                stderr,
            ),
            Self::TimedOut { limit } => format!(
                "Timed out after {}s. Consider resuming with a longer timeout.",
                limit.as_secs_f64()
            ),
            Self::Looped { evidence, .. } => {
                let words = "Loop detected: sub-agent is repeating the same tool calls";
                match evidence {
                    Some(evidence) => format!("{words}\n{evidence}"),
                    None => words.to_owned(),
                }
            }
            Self::OutOfTurns { turns } => format!(
                "Used up the {} that it might take. Consider resuming with a higher limit.",
                text::count(usize::try_from(*turns).unwrap_or(usize::MAX), "turn")
            ),
            Self::Overspent(excess @ Excess::Window { .. }) => format!(
                "Used up {excess}. Consider resuming when the window has more, or raise subagents.budget.window."
            ),
            Self::Overspent(excess) => {
                format!("Used up {excess}. Consider resuming with a higher limit.")
            }
            Self::Parked { question, text } => {
                format!("It waits for an answer (question {question}): {text}")
            }
            Self::Stopped => "Stopped on request.".to_owned(),
            Self::Interrupted(Interruption::Signal(signal)) => {
                format!("Interrupted by {}.", signal_name(*signal))
            }
            Self::Interrupted(Interruption::OwnerGone) => {
                "Session was interrupted (main agent session ended unexpectedly)".to_owned()
            }
            Self::Lost { reason } => format!("Lost the sub-agent: {reason}."),
        };
        Some(message)
    }
}

impl Status {
    /// Returns whether the run is over.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }

    /// Returns the word for this state.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Parked => "parked",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// Returns the sign for this state. The signs differ also without colour.
    pub fn icon(self) -> &'static str {
        match self {
            Self::Queued | Self::Running => "⏳",
            Self::Waiting | Self::Parked => "?",
            Self::Completed => "✓",
            Self::Failed | Self::Stopped => "✗",
        }
    }

    /// Returns the word for this state in the delegation family, which has three words.
    pub fn as_delegation_word(self) -> &'static str {
        match self {
            Self::Queued | Self::Running | Self::Waiting => "running",
            Self::Completed => "completed",
            Self::Parked | Self::Failed | Self::Stopped => "error",
        }
    }
}

impl Status {
    /// Returns the word for this state in the background family and in the entries of pi's session.
    pub fn as_background_word(self) -> &'static str {
        match self {
            Self::Queued | Self::Running | Self::Waiting => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Parked | Self::Stopped => "aborted",
        }
    }
}

fn with_stderr(what: &str, stderr: &str) -> String {
    if stderr.is_empty() {
        format!("{what}.")
    } else {
        format!("{what}: {stderr}")
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dollars;

    fn every_ending() -> Vec<Ending> {
        let text = |text: &str| text.to_owned();
        vec![
            Ending::Completed,
            Ending::ReportedError {
                error: text("no such table"),
            },
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
            Ending::ModelError {
                message: text("401 Unauthorized"),
            },
            Ending::CutOff,
            Ending::NotStarted {
                reason: "It needs plan, which did not complete.".to_owned(),
            },
            Ending::Refused {
                message: text("cwd must be an absolute path"),
            },
            Ending::SessionInUse {
                session: text("s1"),
                file: "/sticky/scout_s1.jsonl".into(),
                holder: Some(text("r1")),
            },
            Ending::SessionInUse {
                session: text("s1"),
                file: "/sticky/scout_s1.jsonl".into(),
                holder: None,
            },
            Ending::CouldNotStart {
                reason: text("pi: not found"),
            },
            Ending::NotConfined {
                reason: text("The sandbox could not be made."),
            },
            Ending::Exited {
                code: 0,
                stderr: text(""),
            },
            Ending::Exited {
                code: 3,
                stderr: text("boom"),
            },
            Ending::Signalled {
                signal: 11,
                stderr: text(""),
            },
            Ending::TimedOut {
                limit: Duration::from_mins(5),
            },
            Ending::TimedOut {
                limit: Duration::from_millis(1500),
            },
            Ending::Looped {
                times: 5,
                evidence: None,
            },
            Ending::Looped {
                times: 5,
                evidence: Some(text("bash ls ×5 with the same result; it was told once.")),
            },
            Ending::OutOfTurns { turns: 20 },
            Ending::Overspent(Excess::Tokens {
                spent: 520_311,
                allowed: 500_000,
            }),
            Ending::Overspent(Excess::Cost {
                spent: Dollars::new(2.134),
                allowed: Dollars::new(2.0),
            }),
            Ending::Parked {
                question: QuestionId::new(0x7f_3a91),
                text: text("Which schema? [1 v2, 2 v3]"),
            },
            Ending::Stopped,
            Ending::Interrupted(Interruption::Signal(2)),
            Ending::Interrupted(Interruption::OwnerGone),
            Ending::Lost {
                reason: text("it closed its output and lived on"),
            },
        ]
    }

    #[test]
    fn every_ending_has_a_status_an_exit_code_and_words() {
        let table: Vec<String> = every_ending()
            .iter()
            .map(|ending| {
                format!(
                    "{:9} {:3} {}",
                    ending.status().as_str(),
                    ending.exit_code(),
                    ending.message().unwrap_or_default()
                )
                .trim_end()
                .to_owned()
            })
            .collect();
        insta::assert_snapshot!(table.join("\n"), @"
        completed   0
        failed      1 no such table
        failed      1 The sub-agent never called subagent_finalize, although it was told 3 times.
        failed      1 None of its 5 reports met the output schema. Wrong in the best one: /a: e
        failed      1 The gate `c` still fails after 3 attempts: r.
        failed      1 401 Unauthorized
        failed      1 Its answer was cut off at the number of tokens that its model may write.
        stopped     1 Not started. It needs plan, which did not complete.
        failed      1 cwd must be an absolute path
        failed      1 Session s1 (/sticky/scout_s1.jsonl) is in use by run r1. Wait until it has finished, or stop it.
        failed      1 Session s1 (/sticky/scout_s1.jsonl) is in use by another run. Wait until it has finished, or stop it.
        failed      1 Failed to spawn sub-agent process: pi: not found
        failed      1 The sandbox could not be made.
        failed      1 The sub-agent exited before its answer was complete.
        failed      3 The sub-agent exited with code 3: boom
        failed    139 The sub-agent was killed by SIGSEGV.
        failed    124 Timed out after 300s. Consider resuming with a longer timeout.
        failed    124 Timed out after 1.5s. Consider resuming with a longer timeout.
        failed      1 Loop detected: sub-agent is repeating the same tool calls
        failed      1 Loop detected: sub-agent is repeating the same tool calls
        bash ls ×5 with the same result; it was told once.
        failed      1 Used up the 20 turns that it might take. Consider resuming with a higher limit.
        failed      1 Used up 520311 of at most 500000 tokens. Consider resuming with a higher limit.
        failed      1 Used up $2.13 of at most $2.00. Consider resuming with a higher limit.
        parked     75 It waits for an answer (question q7f3a91): Which schema? [1 v2, 2 v3]
        stopped   143 Stopped on request.
        stopped   130 Interrupted by SIGINT.
        stopped     1 Session was interrupted (main agent session ended unexpectedly)
        failed      1 Lost the sub-agent: it closed its output and lived on.
        ");
    }

    #[test]
    fn every_ending_survives_being_written_down() {
        for ending in every_ending() {
            let written = serde_json::to_string(&ending).unwrap();
            let read: Ending = serde_json::from_str(&written).unwrap();
            assert_eq!(read, ending, "{written}");
        }
    }

    #[test]
    fn an_ending_is_written_as_its_kind_and_its_fields() {
        let written = |ending: &Ending| serde_json::to_string(ending).unwrap();
        let lines: Vec<String> = every_ending().iter().map(written).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {"kind":"completed"}
        {"kind":"reportedError","error":"no such table"}
        {"kind":"neverFinalized","corrections":3}
        {"kind":"schemaNotMet","attempts":5,"errors":["/a: e"]}
        {"kind":"gateFailed","command":"c","reason":"r","attempts":3}
        {"kind":"modelError","message":"401 Unauthorized"}
        {"kind":"cutOff"}
        {"kind":"notStarted","reason":"It needs plan, which did not complete."}
        {"kind":"refused","message":"cwd must be an absolute path"}
        {"kind":"sessionInUse","session":"s1","file":"/sticky/scout_s1.jsonl","holder":"r1"}
        {"kind":"sessionInUse","session":"s1","file":"/sticky/scout_s1.jsonl","holder":null}
        {"kind":"couldNotStart","reason":"pi: not found"}
        {"kind":"notConfined","reason":"The sandbox could not be made."}
        {"kind":"exited","code":0,"stderr":""}
        {"kind":"exited","code":3,"stderr":"boom"}
        {"kind":"signalled","signal":11,"stderr":""}
        {"kind":"timedOut","seconds":300.0}
        {"kind":"timedOut","seconds":1.5}
        {"kind":"looped","times":5}
        {"kind":"looped","times":5,"evidence":"bash ls ×5 with the same result; it was told once."}
        {"kind":"outOfTurns","turns":20}
        {"kind":"outOfTokens","spent":520311,"allowed":500000}
        {"kind":"outOfMoney","spent":2.134,"allowed":2.0}
        {"kind":"parked","question":"q7f3a91","text":"Which schema? [1 v2, 2 v3]"}
        {"kind":"stopped"}
        {"kind":"interrupted","signal":2}
        {"kind":"interrupted","signal":null}
        {"kind":"lost","reason":"it closed its output and lived on"}
        "#);
    }
}
