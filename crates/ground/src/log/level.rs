//! The level of the log, and who chooses it.

use std::ffi::OsStr;

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;

use crate::error::CommandError;

/// The variable that turns the log on. The processes that we start find it in their environment.
pub const VARIABLE: &str = "PI_SUBAGENTS_LOG";

/// How much is logged. Each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    /// Returns the word that asks for this level.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }

    /// Returns the level as `tracing` knows it.
    pub(super) fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
}

/// Returns the level that the option asks for, or else the variable; the log is off if neither is
/// given.
pub fn asked_level(
    option: Option<LogLevel>,
    variable: Option<&OsStr>,
) -> Result<LogLevel, CommandError> {
    let variable = variable.filter(|word| !word.is_empty());
    match (option, variable) {
        (Some(level), _) => Ok(level),
        (None, Some(word)) => level_of(&word.to_string_lossy()),
        (None, None) => Ok(LogLevel::Off),
    }
}

fn level_of(word: &str) -> Result<LogLevel, CommandError> {
    match word {
        "0" => return Ok(LogLevel::Off),
        "1" => return Ok(LogLevel::Debug),
        _ => {}
    }
    LogLevel::from_str(word, true).map_err(|_| {
        let words = LogLevel::value_variants()
            .iter()
            .map(|level| level.as_str());
        CommandError::usage(format!("{VARIABLE} is {word:?}, which is no level")).hint(format!(
            "The levels are {}. 1 is the same as debug.",
            words.collect::<Vec<_>>().join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn asked(option: Option<LogLevel>, variable: Option<&str>) -> LogLevel {
        asked_level(option, variable.map(OsStr::new)).unwrap()
    }

    #[test]
    fn the_option_counts_before_the_variable() {
        assert_eq!(asked(None, None), LogLevel::Off);
        assert_eq!(asked(None, Some("")), LogLevel::Off);
        assert_eq!(asked(None, Some("info")), LogLevel::Info);
        assert_eq!(asked(None, Some("TRACE")), LogLevel::Trace);
        assert_eq!(asked(Some(LogLevel::Off), Some("trace")), LogLevel::Off);
        assert_eq!(asked(None, Some("1")), LogLevel::Debug);
        assert_eq!(asked(None, Some("0")), LogLevel::Off);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_levels_there_are() {
        let error = asked_level(None, Some(OsStr::new("verbose"))).unwrap_err();
        insta::assert_snapshot!(error.to_text(), @r#"
        error: PI_SUBAGENTS_LOG is "verbose", which is no level
        hint: The levels are off, error, warn, info, debug, trace. 1 is the same as debug.
        "#);
    }

    #[test]
    fn every_level_is_asked_for_by_its_word() {
        for level in LogLevel::value_variants() {
            assert_eq!(asked(None, Some(level.as_str())), *level);
        }
    }
}
