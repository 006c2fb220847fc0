//! The level of the log, and who chooses it.

use std::ffi::OsStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tracing::level_filters::LevelFilter;

use crate::error::CommandError;

/// The variable that turns the log on. The processes that we start find it in their environment.
pub const VARIABLE: &str = "PI_SUBAGENTS_LOG";

/// The words for the levels. Each level includes those before it.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Returns the reader of the option that asks for a level.
pub fn level_parser() -> impl TypedValueParser<Value = LevelFilter> {
    // A word of the list is a level.
    PossibleValuesParser::new(LEVELS).map(|word| word.parse().unwrap_or(LevelFilter::OFF))
}

/// Returns the level that the option asks for, or else the variable; the log is off if neither is
/// given.
pub fn asked_level(
    option: Option<LevelFilter>,
    variable: Option<&OsStr>,
) -> Result<LevelFilter, CommandError> {
    let variable = variable.filter(|word| !word.is_empty());
    match (option, variable) {
        (Some(level), _) => Ok(level),
        (None, Some(word)) => level_of(&word.to_string_lossy()),
        (None, None) => Ok(LevelFilter::OFF),
    }
}

fn level_of(word: &str) -> Result<LevelFilter, CommandError> {
    match word {
        "0" => return Ok(LevelFilter::OFF),
        "1" => return Ok(LevelFilter::DEBUG),
        _ => {}
    }
    let is_level = LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word));
    let level = word.parse().ok().filter(|_| is_level);
    level.ok_or_else(|| {
        CommandError::usage(format!("{VARIABLE} is {word:?}, which is not a level")).hint(format!(
            "The levels are {}. 1 is the same as debug.",
            LEVELS.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn asked(option: Option<LevelFilter>, variable: Option<&str>) -> LevelFilter {
        asked_level(option, variable.map(OsStr::new)).unwrap()
    }

    #[test]
    fn the_option_counts_before_the_variable() {
        assert_eq!(asked(None, None), LevelFilter::OFF);
        assert_eq!(asked(None, Some("")), LevelFilter::OFF);
        assert_eq!(asked(None, Some("info")), LevelFilter::INFO);
        assert_eq!(asked(None, Some("TRACE")), LevelFilter::TRACE);
        assert_eq!(
            asked(Some(LevelFilter::OFF), Some("trace")),
            LevelFilter::OFF
        );
        assert_eq!(asked(None, Some("1")), LevelFilter::DEBUG);
        assert_eq!(asked(None, Some("0")), LevelFilter::OFF);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_levels_there_are() {
        let error = asked_level(None, Some(OsStr::new("verbose"))).unwrap_err();
        insta::assert_snapshot!(error.to_text(), @r#"
        error: PI_SUBAGENTS_LOG is "verbose", which is not a level
        hint: The levels are off, error, warn, info, debug, trace. 1 is the same as debug.
        "#);
    }

    #[test]
    fn every_level_is_asked_for_by_its_word() {
        for word in LEVELS {
            assert_eq!(asked(None, Some(word)).to_string(), word);
        }
    }
}
