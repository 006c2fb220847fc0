//! The part of pi's `settings.json` that concerns the agent: the user's, and over it that of
//! a project which the caller trusts.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_files::read_own;
use serde::Deserialize;
use serde_json::Value;

use crate::models::ThinkingLevel;

/// Defaults of the user.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    pub(crate) default_provider: Option<String>,
    pub(crate) default_model: Option<String>,
    pub(crate) default_thinking_level: Option<ThinkingLevel>,
    pub(crate) default_tools: Option<Vec<String>>,
    pub(crate) retry: RetrySettings,
    pub(crate) compaction: CompactionSettings,
    /// How long nothing may come from a model; 0 waits for ever.
    http_idle_timeout_ms: Option<u64>,
    /// Where sessions are kept that have no place of their own.
    pub(crate) session_dir: Option<String>,
    /// Files and folders with skills.
    pub(crate) skills: Vec<String>,
}

/// When and how far a conversation is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct CompactionSettings {
    pub(crate) enabled: bool,
    /// Tokens that stay free for the next answer.
    pub(crate) reserve_tokens: u64,
    /// Tokens of the end of the conversation that stay as they are.
    pub(crate) keep_recent_tokens: u64,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            reserve_tokens: 16_384,
            keep_recent_tokens: 20_000,
        }
    }
}

/// When a failed model call is tried again.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RetrySettings {
    pub(crate) enabled: bool,
    pub(crate) max_retries: u32,
    pub(crate) base_delay_ms: u64,
    pub(crate) max_agent_delay_ms: u64,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self {
            enabled: true,
            max_retries: 3,
            base_delay_ms: 2000,
            max_agent_delay_ms: 60_000,
        }
    }
}

impl RetrySettings {
    /// The pause before `attempt` (from 1): what the server asked for, else doubled each
    /// time; never longer than the setting allows.
    pub(crate) fn delay(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        let factor = 1_u64 << attempt.saturating_sub(1).min(20);
        let backoff = Duration::from_millis(self.base_delay_ms.saturating_mul(factor));
        asked
            .unwrap_or(backoff)
            .min(Duration::from_millis(self.max_agent_delay_ms))
    }
}

const IDLE_TIME: u64 = 300_000;

impl Settings {
    /// Reads the files in their order, later ones over earlier ones; a broken one is ignored
    /// with a warning, as pi does.
    pub(crate) fn load(paths: &[PathBuf]) -> (Self, Vec<String>) {
        let mut merged = Value::Object(serde_json::Map::new());
        let mut warnings = Vec::new();
        for path in paths {
            match read(path) {
                Ok(settings) => {
                    let before = merged.clone();
                    merge(&mut merged, settings);
                    // One wrong type must not cost what the other file says.
                    if let Err(error) = serde_json::from_value::<Self>(merged.clone()) {
                        warnings.push(format!("Invalid settings file {}: {error}", path.display()));
                        merged = before;
                    }
                }
                Err(warning) => warnings.push(warning),
            }
        }
        (serde_json::from_value(merged).unwrap_or_default(), warnings)
    }

    /// How long a model may stay silent.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let milliseconds = self.http_idle_timeout_ms.unwrap_or(IDLE_TIME);
        (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
    }
}

/// A larger settings file is not read.
const LARGEST_FILE: u64 = 4 << 20;

fn read(path: &Path) -> Result<Value, String> {
    let text = match read_own(path, LARGEST_FILE) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Value::Null),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    serde_json::from_slice(&text)
        .map_err(|error| format!("Invalid settings file {}: {error}", path.display()))
}

fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (_, Value::Null) => {}
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                merge(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_overrides_the_user_and_a_broken_file_costs_only_itself() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let user = file(
            "user.json",
            r#"{"retry": {"maxRetries": 7, "baseDelayMs": 5}, "httpIdleTimeoutMs": 0}"#,
        );
        let project = file("project.json", r#"{"retry": {"maxRetries": 1}}"#);
        let wrong = file("wrong.json", r#"{"retry": {"maxRetries": "many"}}"#);
        let broken = file("broken.json", "// no comments here");
        let missing = directory.path().join("missing.json");
        let (settings, warnings) = Settings::load(&[user, project, wrong, broken, missing]);
        assert_eq!(
            (settings.retry.max_retries, settings.retry.base_delay_ms),
            (1, 5)
        );
        assert_eq!(settings.patience(), None);
        assert_eq!(settings.compaction, CompactionSettings::default());
        assert_eq!(warnings.len(), 2, "{warnings:?}");
    }

    #[test]
    fn the_pause_doubles_and_honours_the_server_within_the_limit() {
        let retry = RetrySettings::default();
        let pauses: Vec<u128> = (1..=7)
            .map(|attempt| retry.delay(attempt, None).as_millis())
            .collect();
        assert_eq!(pauses, [2000, 4000, 8000, 16000, 32000, 60000, 60000]);
        let asked = |seconds| retry.delay(1, Some(Duration::from_secs(seconds))).as_secs();
        assert_eq!([asked(1), asked(30), asked(600)], [1, 30, 60]);
    }
}
