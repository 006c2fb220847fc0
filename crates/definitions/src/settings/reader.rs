//! Values of a settings file; a wrong one is a warning and counts as absent.

use pi_subagents_delegation::nearest;
use pi_subagents_pi_files::SettingsFile;
use pi_subagents_pi_files::json::Step;
use serde_json::{Map, Value};

use super::PART;

/// The values of one file. A key that nobody has asked for in the end is unknown.
pub(super) struct Reader<'a> {
    file: &'a SettingsFile,
    subagents: &'a Map<String, Value>,
    asked: Vec<&'static str>,
    warnings: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a SettingsFile, subagents: &'a Map<String, Value>) -> Self {
        Self {
            file,
            subagents,
            asked: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Returns the keys that the file has and somebody asked for, and the warnings.
    pub(super) fn finish(mut self) -> (Vec<&'static str>, Vec<String>) {
        let (file, subagents) = (self.file, self.subagents);
        let unknown = subagents
            .keys()
            .filter(|key| !self.asked.contains(&key.as_str()));
        let unknown = unknown.map(|key| {
            let meant = nearest(key, self.asked.iter().copied())
                .map_or(String::new(), |meant| format!("; did you mean {meant}?"));
            let place = file.place(&[Step::Key(PART), Step::Key(key)]);
            format!("{place}: {PART}.{key} is unknown and ignored{meant}")
        });
        self.warnings.extend(unknown.collect::<Vec<_>>());
        self.asked.retain(|key| subagents.contains_key(*key));
        (self.asked, self.warnings)
    }

    /// Leaves a key to somebody else who reads it.
    pub(super) fn leave(&mut self, key: &'static str) {
        self.asked.push(key);
    }

    /// Returns the value of a key, whatever it is.
    pub(super) fn value(&mut self, key: &'static str) -> Option<&'a Value> {
        self.asked.push(key);
        self.subagents.get(key)
    }

    /// Reads a whole number and moves it into its bounds.
    pub(super) fn number(&mut self, key: &'static str, least: u64, most: u64) -> Option<u64> {
        let value = self.value(key)?;
        let Some(number) = value.as_f64() else {
            self.warn(key, value, "a number");
            return None;
        };
        // Rounding towards zero is what a count or a number of seconds means.
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
        let amount = value.as_f64();
        if amount.is_none() {
            self.warn(key, value, "a number");
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

    /// Reads several texts; a single one need not be in a list.
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
            self.warn(key, value, "a list of paths");
            Vec::new()
        })
    }

    /// Warns that a value does not count. The key may be one inside an object: `retention.days`.
    pub(super) fn refuse(&mut self, key: &str, why: &str) {
        let inside = key.split('.').map(Step::Key);
        let path: Vec<Step<'_>> = std::iter::once(Step::Key(PART)).chain(inside).collect();
        let place = self.file.place(&path);
        self.warnings
            .push(format!("{place}: {PART}.{key} is ignored: {why}"));
    }

    fn warn(&mut self, key: &str, value: &Value, expected: &str) {
        let place = self.file.place(&[Step::Key(PART), Step::Key(key)]);
        self.warnings.push(format!(
            "{place}: {PART}.{key} must be {expected}, not {value}; it is ignored"
        ));
    }
}
