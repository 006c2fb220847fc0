//! The script file: rules, each with turns.

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde::Deserialize;
use serde_json::Value;

use super::ScriptError;
use super::placeholders::Scene;

/// A script, ready to be played.
#[derive(Debug)]
pub(super) struct Script {
    rules: Vec<Rule>,
}

/// The turns for the prompts that match.
#[derive(Debug)]
pub(super) struct Rule {
    /// None matches every prompt.
    when: Option<Pattern>,
    pub(super) turns: Vec<Turn>,
}

/// One answer of the model.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    pub(super) text: String,
    pub(super) thinking: String,
    pub(super) tool_calls: Vec<WantedCall>,
    pub(super) delay_ms: u64,
    pub(super) failure: Option<Failure>,
    condition: Condition,
}

/// A tool call of a turn.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedCall {
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

/// A failed call of the model.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) status: Option<u16>,
    pub(super) retry_after: Option<f64>,
}

/// The condition under which a turn is played; a turn whose condition does not hold is skipped.
#[derive(Debug, Clone, Default)]
struct Condition {
    when_result: Option<Pattern>,
    unless_result: Option<Pattern>,
    after_tool: Option<String>,
}

impl Script {
    /// Reads a script; `name` is for error messages.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let file: ScriptFile =
            serde_json::from_str(text).map_err(|source| ScriptError::Invalid {
                name: name.to_owned(),
                source,
            })?;
        let rules: Result<Vec<Rule>, _> = file.rules.into_iter().map(RuleEntry::compile).collect();
        let rules = rules.map_err(|source| ScriptError::Pattern {
            name: name.to_owned(),
            source: Box::new(source),
        })?;
        Ok(Self { rules })
    }

    /// Returns the first rule that matches.
    pub(super) fn rule_for(&self, prompt: &str) -> Option<&Rule> {
        let matches = |rule: &&Rule| rule.when.as_ref().is_none_or(|when| when.matches(prompt));
        self.rules.iter().find(matches)
    }
}

impl Turn {
    /// Returns whether the last tool result fulfils the condition of the turn.
    pub(super) fn applies(&self, scene: &Scene<'_>) -> bool {
        let result = scene.last_result();
        let Condition {
            when_result,
            unless_result,
            after_tool,
        } = &self.condition;
        when_result
            .as_ref()
            .is_none_or(|when| when.matches(&result))
            && unless_result
                .as_ref()
                .is_none_or(|unless| !unless.matches(&result))
            && after_tool
                .as_deref()
                .is_none_or(|tool| scene.last_tool() == Some(tool))
    }

    /// Returns the answer after all turns were played: the last text again, without any calls.
    pub(super) fn repeat_of(turns: &[Self]) -> Self {
        let last = turns.iter().rev().find(|turn| !turn.text.is_empty());
        Self {
            text: last.map_or_else(|| "Done.".to_owned(), |turn| turn.text.clone()),
            ..Self::default()
        }
    }
}

/// A part of a text, or `/a regular expression/`.
#[derive(Debug, Clone)]
enum Pattern {
    Part(String),
    Regex(RegexMatcher),
}

impl Pattern {
    fn new(text: String) -> Result<Self, grep_regex::Error> {
        let inner = text
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'));
        match inner {
            Some(expression) if !expression.is_empty() => RegexMatcherBuilder::new()
                .multi_line(true)
                .build(expression)
                .map(Self::Regex),
            _ => Ok(Self::Part(text)),
        }
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Part(part) => text.contains(part.as_str()),
            Self::Regex(regex) => regex.is_match(text.as_bytes()).unwrap_or(false),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    rules: Vec<RuleEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    when: Option<String>,
    turns: Vec<TurnEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TurnEntry {
    #[serde(default)]
    text: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    tool_calls: Vec<WantedCall>,
    #[serde(default)]
    delay_ms: u64,
    error: Option<String>,
    status: Option<u16>,
    retry_after: Option<f64>,
    when_result: Option<String>,
    unless_result: Option<String>,
    after_tool: Option<String>,
}

impl RuleEntry {
    fn compile(self) -> Result<Rule, grep_regex::Error> {
        let turns: Result<Vec<Turn>, _> = self.turns.into_iter().map(TurnEntry::compile).collect();
        Ok(Rule {
            when: self.when.map(Pattern::new).transpose()?,
            turns: turns?,
        })
    }
}

impl TurnEntry {
    fn compile(self) -> Result<Turn, grep_regex::Error> {
        let (status, retry_after) = (self.status, self.retry_after);
        Ok(Turn {
            text: self.text,
            thinking: self.thinking,
            tool_calls: self.tool_calls,
            delay_ms: self.delay_ms,
            failure: self.error.map(|message| Failure {
                message,
                status,
                retry_after: retry_after.filter(|seconds| (0.0..=86_400.0).contains(seconds)),
            }),
            condition: Condition {
                when_result: self.when_result.map(Pattern::new).transpose()?,
                unless_result: self.unless_result.map(Pattern::new).transpose()?,
                after_tool: self.after_tool,
            },
        })
    }
}
