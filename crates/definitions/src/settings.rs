//! The `subagents` part of `settings.json`: bounded values, and a warning for each wrong one.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

/// The settings of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Lines of a rolling window, at least 1.
    pub max_lines_per_window: usize,
    /// Columns of a preview where there is no terminal, at least 20.
    pub command_preview_width: usize,
    /// How long tools may be silent once a run's time is over, at most 300 s.
    pub extend_timeout_debounce: Duration,
    /// How many equal tool calls in a row are a loop, at most 50; 0 for never.
    pub looping_tool_count: u32,
    /// Which kind of child does the work.
    pub runner: RunnerChoice,
    /// How many children an owner has at once, 1 to 1000.
    pub max_concurrency: usize,
    /// What a resumed run starts from.
    pub resume: ResumeMode,
}

/// Which kind of child does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerChoice {
    /// Pi where there is one that is new enough, else the embedded agent.
    Auto,
    /// Always pi.
    Pi,
    /// Always the embedded agent.
    Embedded,
}

/// What a resumed run starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeMode {
    /// A transcript of the earlier runs, put before the prompt.
    Transcript,
    /// The child's own session file, with its full context.
    Session,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_lines_per_window: 15,
            command_preview_width: 160,
            extend_timeout_debounce: Duration::from_secs(30),
            looping_tool_count: 5,
            runner: RunnerChoice::Auto,
            max_concurrency: 4,
            resume: ResumeMode::Transcript,
        }
    }
}

impl Settings {
    /// Reads a settings file; what cannot be used is a warning and the default.
    pub fn read(file: &Path) -> (Self, Vec<String>) {
        let content = match fs::read_to_string(file) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return (Self::default(), Vec::new());
            }
            Err(error) => {
                let warning = format!("{}: could not be read: {error}", file.display());
                return (Self::default(), vec![warning]);
            }
        };
        let (settings, warnings) = Self::parse(content.trim_start_matches('\u{feff}'));
        let warnings = warnings
            .into_iter()
            .map(|warning| format!("{}: {warning}", file.display()))
            .collect();
        (settings, warnings)
    }

    fn parse(content: &str) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let whole: Value = match serde_json::from_str(content) {
            Ok(whole) => whole,
            Err(error) => return (settings, vec![format!("is not JSON: {error}")]),
        };
        let mut warnings = Vec::new();
        match whole.get("subagents") {
            None => {}
            Some(Value::Object(subagents)) => settings.take(&mut Reader {
                subagents,
                warnings: &mut warnings,
            }),
            Some(other) => warnings.push(format!("subagents must be an object, not {other}")),
        }
        (settings, warnings)
    }

    fn take(&mut self, reader: &mut Reader<'_>) {
        if let Some(lines) = reader.number("maxLinesPerWindow", 1, u64::MAX) {
            self.max_lines_per_window = usize::try_from(lines).unwrap_or(usize::MAX);
        }
        if let Some(width) = reader.number("commandPreviewWidth", 20, 10_000) {
            self.command_preview_width = usize::try_from(width).unwrap_or(usize::MAX);
        }
        if let Some(seconds) = reader.number("extend_timeout_debounce", 0, 300) {
            self.extend_timeout_debounce = Duration::from_secs(seconds);
        }
        if let Some(count) = reader.number("looping_tool_count", 0, 50) {
            self.looping_tool_count = u32::try_from(count).unwrap_or(u32::MAX);
        }
        if let Some(count) = reader.number("maxConcurrency", 1, 1000) {
            self.max_concurrency = usize::try_from(count).unwrap_or(usize::MAX);
        }
        let runners = [
            ("auto", RunnerChoice::Auto),
            ("pi", RunnerChoice::Pi),
            ("embedded", RunnerChoice::Embedded),
        ];
        if let Some(runner) = reader.choice("runner", &runners) {
            self.runner = runner;
        }
        let modes = [
            ("transcript", ResumeMode::Transcript),
            ("session", ResumeMode::Session),
        ];
        if let Some(mode) = reader.choice("resume", &modes) {
            self.resume = mode;
        }
    }
}

struct Reader<'a> {
    subagents: &'a Map<String, Value>,
    warnings: &'a mut Vec<String>,
}

impl Reader<'_> {
    /// A whole number, moved into its bounds.
    fn number(&mut self, key: &str, least: u64, most: u64) -> Option<u64> {
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

    fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Option<T> {
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

    fn warn(&mut self, key: &str, value: &Value, expected: &str) {
        self.warnings.push(format!(
            "subagents.{key} must be {expected}, not {value}; the default is used"
        ));
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn check(subagents: &str, expected: &Settings, warnings: &[&str]) {
        let (settings, found) = Settings::parse(&format!(r#"{{"subagents":{subagents}}}"#));
        assert_eq!(
            (&settings, found.as_slice()),
            (
                expected,
                &warnings.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()[..]
            )
        );
    }

    #[test]
    fn values_are_moved_into_their_bounds() {
        check(
            r#"{"maxLinesPerWindow":0,"commandPreviewWidth":3,"extend_timeout_debounce":9999,
                "looping_tool_count":-3,"maxConcurrency":0,"runner":"pi","resume":"session","other":1}"#,
            &Settings {
                max_lines_per_window: 1,
                command_preview_width: 20,
                extend_timeout_debounce: Duration::from_secs(300),
                looping_tool_count: 0,
                runner: RunnerChoice::Pi,
                max_concurrency: 1,
                resume: ResumeMode::Session,
            },
            &[],
        );
    }

    #[test]
    fn a_wrong_type_is_a_warning_and_the_default() {
        check(
            r#"{"maxLinesPerWindow":"many","runner":"docker","looping_tool_count":null}"#,
            &Settings::default(),
            &[
                "subagents.maxLinesPerWindow must be a number, not \"many\"; the default is used",
                "subagents.looping_tool_count must be a number, not null; the default is used",
                "subagents.runner must be one of auto, pi, embedded, not \"docker\"; the default is used",
            ],
        );
        check(
            "[]",
            &Settings::default(),
            &["subagents must be an object, not []"],
        );
    }

    #[test]
    fn a_missing_file_is_no_warning_and_a_broken_one_is() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("settings.json");
        assert_eq!(Settings::read(&file), (Settings::default(), Vec::new()));
        fs::write(&file, "{ // no comments here\n}").unwrap();
        let (settings, warnings) = Settings::read(&file);
        assert_eq!(settings, Settings::default());
        assert_eq!(
            warnings,
            [format!(
                "{}: is not JSON: key must be a string at line 1 column 3",
                file.display()
            )]
        );
    }
}
