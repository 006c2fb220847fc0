//! Everything that happened in a run, in order and with its times: messages, tool calls and their
//! results. `logs`, `session` and `export` print it.

use pi_subagents_view::{gate_words, report_words};
use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    Ending, GateStep, Happening, Message, Part, RunEvent, RunSummary, Runner, Timestamp, ToolCall,
};

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    pub at: Timestamp,
    pub what: What,
}

/// The kinds of things that happen in a run.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Its child started.
    Started(Runner),
    /// The sub-agent got this message.
    Told(String),
    /// The model reasoned.
    Thought(String),
    /// The model wrote this.
    Said(String),
    /// The model called a tool.
    Called(ToolCall),
    /// A tool answered.
    Answered {
        tool: String,
        is_error: bool,
        text: String,
    },
    /// The model failed.
    ModelFailed(String),
    /// A message of a kind that we do not know.
    Other { role: String, text: String },
    /// Something a person should know.
    Warned(String),
    /// A gate began, passed or failed.
    Gated { words: String, is_failed: bool },
    /// The child printed something that is no message.
    Printed(String),
    /// The child wrote to stderr.
    Complained(String),
    /// The model is asked again after a failure.
    Retried {
        attempt: u64,
        max_attempts: u64,
        error: String,
    },
    /// The conversation was shortened.
    Compacted,
    /// It is over.
    Ended(Ending),
}

/// Turns the events of one run into lines for people, and keeps its summary.
#[derive(Debug)]
pub struct Teller {
    pub summary: RunSummary,
    has_prompt: bool,
}

impl Teller {
    pub fn new() -> Self {
        Self {
            summary: RunSummary::without_text(),
            has_prompt: false,
        }
    }

    /// Takes in the next event and returns its items for a person, in order.
    pub fn tell(&mut self, event: &RunEvent) -> Vec<Happened> {
        self.summary.apply(event);
        let one = |what| vec![what];
        let what = match &event.happening {
            Happening::Started(started) => one(What::Started(started.runner)),
            Happening::Said { record, .. } => self.record(record),
            Happening::Printed(line) => {
                one(What::Printed(String::from_utf8_lossy(line).into_owned()))
            }
            Happening::Complained(words) => one(What::Complained(words.clone())),
            Happening::Warned(words) => one(What::Warned(words.clone())),
            Happening::Gated(gated) => one(What::Gated {
                words: gate_words(gated),
                is_failed: matches!(gated.step, GateStep::Failed { .. }),
            }),
            Happening::Reported(report) => one(What::Warned(report_words(report))),
            Happening::Ended(ending) => one(What::Ended(ending.clone())),
            // The child repeats a message to it as a message of its own, once it reads it.
            Happening::Accepted(_)
            | Happening::Placed(_)
            | Happening::Steered(_)
            | Happening::Corrected(_)
            | Happening::Stopping(_) => Vec::new(),
        };
        let at = event.at;
        what.into_iter().map(|what| Happened { at, what }).collect()
    }

    fn record(&mut self, record: &ChildRecord) -> Vec<What> {
        match record {
            ChildRecord::MessageEnded(message) => self.message(message),
            ChildRecord::Retrying {
                attempt,
                max_attempts,
                error,
            } => vec![What::Retried {
                attempt: *attempt,
                max_attempts: *max_attempts,
                error: error.clone(),
            }],
            ChildRecord::Compacted { .. } => vec![What::Compacted],
            ChildRecord::ExtensionFailed { error } => vec![What::Warned(error.clone())],
            _ => Vec::new(),
        }
    }

    fn message(&mut self, message: &Message) -> Vec<What> {
        match message {
            Message::System(_) => Vec::new(),
            Message::User(parts) => vec![What::Told(self.prompt().unwrap_or_else(|| words(parts)))],
            Message::Assistant(answer) => {
                let error = answer.error.clone().map(What::ModelFailed);
                answer.parts.iter().filter_map(part).chain(error).collect()
            }
            Message::ToolResult(result) => vec![What::Answered {
                tool: result.tool.clone(),
                is_error: result.is_error,
                text: words(&result.parts),
            }],
            Message::Other { role, parts } => vec![What::Other {
                role: role.clone(),
                text: words(parts),
            }],
        }
    }

    /// Returns whether the first message was returned already.
    pub fn has_prompt(&self) -> bool {
        self.has_prompt
    }

    /// Returns the prompt of the task in place of the first message, which may have a transcript
    /// and files before it.
    fn prompt(&mut self) -> Option<String> {
        let is_first = !std::mem::replace(&mut self.has_prompt, true);
        let task = self.summary.task.as_ref().filter(|_| is_first)?;
        Some(task.prompt.clone())
    }
}

fn part(part: &Part) -> Option<What> {
    match part {
        Part::Text(text) if text.is_empty() => None,
        Part::Thinking(text) if text.is_empty() => None,
        Part::Text(text) => Some(What::Said(text.clone())),
        Part::Thinking(text) => Some(What::Thought(text.clone())),
        Part::ToolCall(call) => Some(What::Called(call.clone())),
        Part::Image { mime_type } => Some(What::Said(image(mime_type))),
    }
}

/// Returns the texts of a message; a picture is named.
fn words(parts: &[Part]) -> String {
    let words = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Image { mime_type } => Some(image(mime_type)),
        Part::Thinking(_) | Part::ToolCall(_) => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

fn image(mime_type: &str) -> String {
    format!("[image: {mime_type}]")
}
