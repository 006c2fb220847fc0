//! Reads the values of a settings file. A wrong value becomes a warning and counts as absent, unless
//! its key is one that restricts runs: then the file cannot be used.

use pi_subagents_pi_files::SettingsFile;
use pi_subagents_pi_files::json::Step;
use pi_subagents_vocabulary::{nearest, text};
use serde_json::{Map, Value};

use super::PART;

/// The number of characters of a wrong value that are shown.
const SHOWN: usize = 80;

/// The keys that restrict runs. If the value of one of them cannot be read, or the key is misspelt,
/// runs would do what the user wanted to forbid.
pub(super) const RESTRICTING: [&str; 23] = [
    "budget",
    "cost",
    "day",
    "isolation",
    "maxBackground",
    "maxConcurrency",
    "maxCost",
    "maxOnMachine",
    "maxRunDisk",
    "maxTasks",
    "maxTokens",
    "maxTurns",
    "models",
    "network",
    "sandbox",
    "sandboxHidden",
    "sandboxMinimum",
    "runs",
    "seconds",
    "session",
    "share",
    "tokens",
    "window",
];

/// The values of one object of a file. A key that was never asked for is unknown.
pub(super) struct Reader<'a> {
    file: &'a SettingsFile,
    /// The keys that lead to the object.
    path: Vec<&'static str>,
    values: &'a Map<String, Value>,
    asked: Vec<&'static str>,
    /// No key of the object is reported as unknown.
    is_judged: bool,
    warnings: Vec<String>,
    /// The reasons why the file cannot be used.
    broken: Vec<String>,
}

/// The outcome of reading an object.
pub(super) struct Finished {
    /// The keys that the file has and somebody asked for.
    pub(super) keys: Vec<&'static str>,
    pub(super) warnings: Vec<String>,
    /// The reasons why the file cannot be used.
    pub(super) broken: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a SettingsFile, subagents: &'a Map<String, Value>) -> Self {
        Self {
            file,
            path: vec![PART],
            values: subagents,
            asked: Vec::new(),
            is_judged: false,
            warnings: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// Reads the object under a key with a reader of its own, if there is such an object, and takes
    /// over the warnings of that reader.
    pub(super) fn object(&mut self, key: &'static str, read: impl FnOnce(&mut Reader<'a>)) {
        let Some(value) = self.value(key) else {
            return;
        };
        let Value::Object(values) = value else {
            return self.warn(key, value, "an object");
        };
        let mut inner = Reader {
            file: self.file,
            path: self.path.iter().copied().chain([key]).collect(),
            values,
            asked: Vec::new(),
            is_judged: false,
            warnings: Vec::new(),
            broken: Vec::new(),
        };
        read(&mut inner);
        let inner = inner.finish();
        self.warnings.extend(inner.warnings);
        self.broken.extend(inner.broken);
    }

    /// Returns the keys that the object has.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.values.keys().map(String::as_str)
    }

    /// Ends the reading: keys that nobody asked for are unknown.
    pub(super) fn finish(mut self) -> Finished {
        let values = self.values;
        let is_unknown = |key: &&str| !self.is_judged && !self.asked.contains(key);
        let unknown: Vec<&str> = self.keys().filter(is_unknown).collect();
        for key in unknown {
            let named = self.named(key);
            match nearest(key, self.asked.iter().copied()) {
                Some(meant) if RESTRICTING.contains(&meant) => self
                    .broken
                    .push(format!("{named} is unknown; did you mean {meant}?")),
                Some(meant) => self.warnings.push(format!(
                    "{named} is unknown and ignored; did you mean {meant}?"
                )),
                None => self
                    .warnings
                    .push(format!("{named} is unknown and ignored")),
            }
        }
        self.asked.retain(|key| values.contains_key(*key));
        Finished {
            keys: self.asked,
            warnings: self.warnings,
            broken: self.broken,
        }
    }

    /// Leaves a key to somebody else who reads it.
    pub(super) fn leave(&mut self, key: &'static str) {
        self.asked.push(key);
    }

    /// Lets every key count as known, because somebody else has judged them.
    pub(super) fn leave_all(&mut self) {
        self.is_judged = true;
    }

    /// Returns the value of a key, of whatever type.
    pub(super) fn value(&mut self, key: &'static str) -> Option<&'a Value> {
        self.asked.push(key);
        self.values.get(key)
    }

    /// Reads a whole number and moves it into its bounds.
    pub(super) fn number(&mut self, key: &'static str, least: u64, most: u64) -> Option<u64> {
        let value = self.value(key)?;
        let Some(number) = value.as_f64() else {
            self.warn(key, value, "a number");
            return None;
        };
        if number < 0.0 && RESTRICTING.contains(&key) {
            self.warn(key, value, "0 or more");
            return None;
        }
        // A count and a number of seconds are rounded towards zero.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast from a float saturates, and the bounds are applied right after it"
        )]
        let whole = number as u64;
        Some(whole.clamp(least, most))
    }

    /// Reads a number with its fraction.
    pub(super) fn amount(&mut self, key: &'static str) -> Option<f64> {
        let value = self.value(key)?;
        let amount = value.as_f64().filter(|amount| *amount >= 0.0);
        if amount.is_none() {
            self.warn(key, value, "a number of 0 or more");
        }
        amount
    }

    /// Reads one of several words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let value = self.value(key)?;
        let chosen = value
            .as_str()
            .and_then(|word| choices.iter().find(|(name, _)| *name == word));
        if chosen.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.warn(key, value, &format!("one of {}", names.join(", ")));
        }
        chosen.map(|(_, choice)| *choice)
    }

    /// Reads true or false.
    pub(super) fn switch(&mut self, key: &'static str) -> Option<bool> {
        let value = self.value(key)?;
        let switch = value.as_bool();
        if switch.is_none() {
            self.warn(key, value, "true or false");
        }
        switch
    }

    /// Reads a text that is not empty.
    pub(super) fn text(&mut self, key: &'static str) -> Option<&'a str> {
        let value = self.value(key)?;
        let text = value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.warn(key, value, "a path");
        }
        text
    }

    /// Reads a text that `parse` understands.
    pub(super) fn parsed<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(key)?;
        let parsed = value.as_str().and_then(parse);
        if parsed.is_none() {
            self.warn(key, value, expected);
        }
        parsed
    }

    /// Reads several texts; a single text need not be in a list.
    pub(super) fn texts(&mut self, key: &'static str) -> Vec<&'a str> {
        let Some(value) = self.value(key) else {
            return Vec::new();
        };
        let items: Vec<&'a Value> = match value {
            Value::Array(items) => items.iter().collect(),
            single => vec![single],
        };
        let texts = items
            .iter()
            .map(|item| item.as_str().filter(|text| !text.is_empty()));
        texts.collect::<Option<_>>().unwrap_or_else(|| {
            self.warn(key, value, "a list of texts");
            Vec::new()
        })
    }

    /// Warns that a value does not count. The key may be inside an object: `retention.days`.
    pub(super) fn refuse(&mut self, key: &str, why: &str) {
        let named = self.named(key);
        self.warnings.push(format!("{named} is ignored: {why}"));
    }

    /// Warns that a part of a value does not count.
    pub(super) fn refuse_part(&mut self, key: &str, why: &str) {
        let named = self.named(key);
        self.warnings
            .push(format!("{named} is ignored in part: {why}"));
    }

    /// Reports a value that does not follow its rule; `why` is the end of a sentence.
    pub(super) fn reject(&mut self, key: &str, why: &str) {
        let named = self.named(key);
        if RESTRICTING.contains(&key) {
            self.broken.push(format!("{named} {why}"));
        } else {
            self.warnings.push(format!("{named} {why}; it is ignored"));
        }
    }

    /// Names the place and the key of a value, as messages begin.
    pub(super) fn named(&self, key: &str) -> String {
        let outer = self.path.iter().copied();
        let keys: Vec<&str> = outer.chain(key.split('.')).collect();
        let steps: Vec<Step<'_>> = keys.iter().map(|&key| Step::Key(key)).collect();
        format!("{}: {}", self.file.place(&steps), keys.join("."))
    }

    fn warn(&mut self, key: &str, value: &Value, expected: &str) {
        let (named, value) = (self.named(key), shown(value));
        if RESTRICTING.contains(&key) {
            self.broken
                .push(format!("{named} must be {expected}, not {value}"));
        } else {
            self.warnings.push(format!(
                "{named} must be {expected}, not {value}; it is ignored"
            ));
        }
    }
}

/// Returns the beginning of a wrong value, as it is written.
pub(super) fn shown(value: &Value) -> String {
    text::cut_characters(&value.to_string(), SHOWN)
}
