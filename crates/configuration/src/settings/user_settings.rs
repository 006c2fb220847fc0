//! Settings that only the user's own file may have. A project, even a trusted one, decides neither
//! about deletions nor about commands on this machine.

use std::time::Duration;

use pi_subagents_vocabulary::{OtherAgent, Scope};
use serde_json::{Map, Value};

use super::reader::Reader;
use super::{MEGABYTE, Settings};

const RETENTION: &str = "retention";
const ON_END: &str = "onEnd";
const GATES: &str = "gates";
const RUNNERS: &str = "runners";
/// The key of the most sub-agents on this machine.
const ON_MACHINE: &str = "maxOnMachine";

/// The limits of age and size for the records of one project's runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// A session goes when its last run ended longer ago than this; `None` for never.
    pub age: Option<Duration>,
    /// The oldest sessions of a project go when its records take more bytes; `None` for never.
    pub bytes: Option<u64>,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            age: Some(days(30)),
            bytes: Some(2048 * MEGABYTE),
        }
    }
}

impl Retention {
    /// Keeps everything.
    pub const NEVER: Self = Self {
        age: None,
        bytes: None,
    };
}

fn days(number: u64) -> Duration {
    Duration::from_hours(24 * number)
}

impl Settings {
    /// Takes the values of the user's file, and refuses those of a project.
    pub(super) fn take_user_only(&mut self, reader: &mut Reader<'_>, scope: Scope) {
        let (retention, on_end) = (reader.value(RETENTION), reader.value(ON_END));
        if scope == Scope::Project {
            let (gates, runners) = (reader.value(GATES), reader.value(RUNNERS));
            for (key, value) in [
                (RETENTION, retention),
                (ON_END, on_end),
                (GATES, gates),
                (RUNNERS, runners),
                (ON_MACHINE, reader.value(ON_MACHINE)),
            ] {
                if value.is_some() {
                    reader.refuse(key, "only your own settings may have it");
                }
            }
            return;
        }
        let most = reader.number(ON_MACHINE, 1, 1000);
        self.max_on_machine = most.and_then(|most| usize::try_from(most).ok());
        let gates = reader.texts(GATES).into_iter();
        self.gates.extend(gates.map(str::to_owned));
        if let Some(runners) = reader.value(RUNNERS) {
            self.take_runners(runners, reader);
        }
        match retention {
            None => {}
            Some(Value::Bool(false)) => self.retention = Retention::NEVER,
            Some(Value::Object(fields)) => self.retention.take(fields, reader),
            Some(_) => {
                self.retention = Retention::NEVER;
                let why = "it must be an object or false, so nothing is removed";
                reader.refuse(RETENTION, why);
            }
        }
        if let Some(value) = on_end {
            match command(value) {
                Some(command) => self.on_end = Some(command),
                None => reader.refuse(ON_END, "it must be a command or a list of its words"),
            }
        }
    }
}

impl Settings {
    /// Takes the programs of agents of others: `{"claude": {"command": ["claude-agent-acp"]}}`.
    fn take_runners(&mut self, runners: &Value, reader: &mut Reader<'_>) {
        let Value::Object(runners) = runners else {
            return reader.refuse(RUNNERS, "it must be an object from agents to commands");
        };
        for (name, runner) in runners {
            let key = format!("{RUNNERS}.{name}");
            let Some(agent) = OtherAgent::from_word(name) else {
                let known = OtherAgent::ALL.map(OtherAgent::as_str).join(", ");
                reader.refuse(&key, &format!("it must be one of {known}"));
                continue;
            };
            let words = runner.get("command").and_then(Value::as_array);
            let words: Option<Vec<String>> = words.and_then(|words| {
                let words = words.iter();
                words.map(|word| word.as_str().map(str::to_owned)).collect()
            });
            match words.filter(|words| !words.is_empty()) {
                Some(words) => drop(self.runners.insert(agent, words)),
                None => reader.refuse(&key, "it must have \"command\": a list of words"),
            }
        }
    }
}

impl Retention {
    /// Takes the limits. If a limit cannot be read, nobody knows what was meant, and nothing is
    /// removed.
    fn take(&mut self, fields: &Map<String, Value>, reader: &mut Reader<'_>) {
        for (key, value) in fields {
            let number = match value {
                Value::Bool(false) => Some(0),
                other => other.as_u64(),
            };
            let Some(number) = number else {
                *self = Self::NEVER;
                let key = format!("{RETENTION}.{key}");
                reader.refuse(&key, "it must be a whole number, so nothing is removed");
                return;
            };
            // A bound that nobody reaches keeps the sums small.
            let number = number.min(1_000_000_000);
            let is_limit = number > 0;
            match key.as_str() {
                "days" => self.age = is_limit.then(|| days(number)),
                "megabytes" => self.bytes = is_limit.then_some(number * MEGABYTE),
                _ => {
                    *self = Self::NEVER;
                    let key = format!("{RETENTION}.{key}");
                    let why = "retention has days and megabytes, so nothing is removed";
                    return reader.refuse(&key, why);
                }
            }
        }
    }
}

/// Reads a command: its words, or one text for a shell.
fn command(value: &Value) -> Option<Vec<String>> {
    let is_given = |text: &&str| !text.trim().is_empty();
    match value {
        Value::String(text) if is_given(&text.as_str()) => {
            Some(["sh", "-c", text].map(str::to_owned).to_vec())
        }
        Value::Array(words) => {
            let words: Option<Vec<String>> = words
                .iter()
                .map(|word| word.as_str().map(str::to_owned))
                .collect();
            words.filter(|words| words.first().is_some_and(|word| is_given(&word.as_str())))
        }
        _ => None,
    }
}
