//! Values of a settings file; a wrong one is a warning and counts as absent.

use serde_json::{Map, Value};

/// The values of one file.
pub(super) struct Reader<'a> {
    pub(super) subagents: &'a Map<String, Value>,
    pub(super) warnings: &'a mut Vec<String>,
}

impl<'a> Reader<'a> {
    /// Reads a whole number and moves it into its bounds.
    pub(super) fn number(&mut self, key: &str, least: u64, most: u64) -> Option<u64> {
        let value = self.subagents.get(key)?;
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
    pub(super) fn amount(&mut self, key: &str) -> Option<f64> {
        let value = self.subagents.get(key)?;
        let amount = value.as_f64();
        if amount.is_none() {
            self.warn(key, value, "a number");
        }
        amount
    }

    /// Reads one of several words.
    pub(super) fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
        let value = self.subagents.get(key)?;
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
    pub(super) fn switch(&mut self, key: &str) -> Option<bool> {
        let value = self.subagents.get(key)?;
        let switch = value.as_bool();
        if switch.is_none() {
            self.warn(key, value, "true or false");
        }
        switch
    }

    /// Reads a text that is not empty.
    pub(super) fn text(&mut self, key: &str) -> Option<&'a str> {
        let value = self.subagents.get(key)?;
        let text = value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.warn(key, value, "a path");
        }
        text
    }

    /// Reads several texts; a single one need not be in a list.
    pub(super) fn texts(&mut self, key: &str) -> Vec<&'a str> {
        let Some(value) = self.subagents.get(key) else {
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

    /// Returns the value of a key, whatever it is.
    pub(super) fn value(&mut self, key: &str) -> Option<&'a Value> {
        self.subagents.get(key)
    }

    /// Warns that a value does not count.
    pub(super) fn refuse(&mut self, key: &str, why: &str) {
        self.warnings
            .push(format!("subagents.{key} is ignored: {why}"));
    }

    fn warn(&mut self, key: &str, value: &Value, expected: &str) {
        self.warnings.push(format!(
            "subagents.{key} must be {expected}, not {value}; it is ignored"
        ));
    }
}
