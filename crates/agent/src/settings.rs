//! The part of pi's `settings.json` that concerns the agent: the user's, and over it that of
//! a project which the caller trusts.

use std::path::Path;
use std::time::Duration;

use pi_subagents_pi_files::SettingsFile;
use pi_subagents_pi_files::json::Step;
use pi_subagents_vocabulary::ThinkingLevel;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::providers::ProviderError;

/// The settings, with pi's defaults for those that no file has.
#[derive(Debug, Default, Clone)]
pub(crate) struct Settings {
    pub(crate) default_provider: Option<String>,
    pub(crate) default_model: Option<String>,
    /// The place in a file that names the default provider, such as `settings.json:1:2`.
    pub(crate) default_place: Option<String>,
    pub(crate) default_thinking_level: Option<ThinkingLevel>,
    pub(crate) default_tools: Option<Vec<String>>,
    pub(crate) retry: RetrySettings,
    pub(crate) compaction: CompactionSettings,
    /// The time for which nothing may come from a model; 0 waits for ever.
    http_idle_timeout_ms: Option<u64>,
    /// The directory of the sessions that have no place of their own.
    pub(crate) session_dir: Option<String>,
}

/// The settings for shortening a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The settings for trying a failed model call again.
#[derive(Debug, Clone, Copy)]
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
    /// Returns whether the setting has as much patience as the server asks for. If it has less,
    /// asking again earlier would be in vain.
    pub(crate) fn can_wait(&self, error: &ProviderError) -> bool {
        let longest = Duration::from_millis(self.max_agent_delay_ms);
        error.retry_after.is_none_or(|asked| asked <= longest)
    }

    /// Returns the pause before `attempt` (from 1): the pause that the server asked for, else
    /// doubled each time; never longer than the setting allows.
    pub(crate) fn delay(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        let factor = 1_u64 << attempt.saturating_sub(1).min(20);
        let backoff = Duration::from_millis(self.base_delay_ms.saturating_mul(factor));
        asked
            .unwrap_or(backoff)
            .min(Duration::from_millis(self.max_agent_delay_ms))
    }
}

const IDLE_TIME: u64 = 300_000;

const DEFAULT_PROVIDER: &str = "defaultProvider";

impl Settings {
    /// Reads the user's file, then that of a project that counts. A wrong value is ignored with a
    /// warning, and so is a file that cannot be read.
    pub(crate) fn read(agent_dir: &Path, trusted_project: Option<&Path>) -> (Self, Vec<String>) {
        let mut settings = Self::default();
        let mut warnings = Vec::new();
        let of_user = SettingsFile::of_user(agent_dir);
        let of_project = trusted_project.map(SettingsFile::of_project);
        for file in std::iter::once(of_user).chain(of_project) {
            match file {
                Ok(file) => {
                    if file.text(DEFAULT_PROVIDER).is_some() {
                        settings.default_place = Some(file.place(&[Step::Key(DEFAULT_PROVIDER)]));
                    }
                    settings.take(&mut Keys {
                        file: &file.path,
                        part: None,
                        values: file.values(),
                        warnings: &mut warnings,
                    });
                }
                Err(error) => warnings.push(error.to_string()),
            }
        }
        (settings, warnings)
    }

    fn take(&mut self, keys: &mut Keys<'_>) {
        keys.set(DEFAULT_PROVIDER, &mut self.default_provider);
        keys.set("defaultModel", &mut self.default_model);
        keys.set("defaultTools", &mut self.default_tools);
        keys.set("httpIdleTimeoutMs", &mut self.http_idle_timeout_ms);
        keys.set("sessionDir", &mut self.session_dir);
        if let Some(level) = keys.level("defaultThinkingLevel") {
            self.default_thinking_level = Some(level);
        }
        if let Some(mut retry) = keys.part("retry") {
            retry.set("enabled", &mut self.retry.enabled);
            retry.set("maxRetries", &mut self.retry.max_retries);
            retry.set("baseDelayMs", &mut self.retry.base_delay_ms);
            retry.set("maxAgentDelayMs", &mut self.retry.max_agent_delay_ms);
        }
        if let Some(mut compaction) = keys.part("compaction") {
            compaction.set("enabled", &mut self.compaction.enabled);
            compaction.set("reserveTokens", &mut self.compaction.reserve_tokens);
            compaction.set("keepRecentTokens", &mut self.compaction.keep_recent_tokens);
        }
    }

    /// Returns how long a model may stay silent; None waits for ever.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let milliseconds = self.http_idle_timeout_ms.unwrap_or(IDLE_TIME);
        (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
    }
}

/// The keys of a settings file, or of an object in it.
struct Keys<'a> {
    file: &'a Path,
    /// The key of the object; None for the whole file.
    part: Option<&'static str>,
    values: &'a Map<String, Value>,
    warnings: &'a mut Vec<String>,
}

impl Keys<'_> {
    /// Sets the target to the value of a key, if the file has the key and the value fits.
    fn set<T: DeserializeOwned>(&mut self, key: &str, target: &mut T) {
        let Some(value) = self.values.get(key).filter(|value| !value.is_null()) else {
            return;
        };
        match T::deserialize(value) {
            Ok(value) => *target = value,
            Err(error) => self.warn(key, &error.to_string()),
        }
    }

    fn level(&mut self, key: &str) -> Option<ThinkingLevel> {
        let mut word = String::new();
        self.set(key, &mut word);
        let level = ThinkingLevel::from_word(&word);
        if level.is_none() && !word.is_empty() {
            self.warn(key, &format!("\"{word}\" is not a thinking level"));
        }
        level
    }

    /// Returns the keys of an object inside the file.
    fn part(&mut self, key: &'static str) -> Option<Keys<'_>> {
        match self.values.get(key)? {
            Value::Object(values) => Some(Keys {
                file: self.file,
                part: Some(key),
                values,
                warnings: &mut *self.warnings,
            }),
            other => {
                self.warn(key, &format!("it must be an object, not {other}"));
                None
            }
        }
    }

    fn warn(&mut self, key: &str, why: &str) {
        let part = self.part.map(|part| format!("{part}."));
        let (file, part) = (self.file.display(), part.unwrap_or_default());
        self.warnings
            .push(format!("{file}: {part}{key} is ignored: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_project_overrides_the_user_and_a_wrong_value_costs_only_itself() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        fs::create_dir_all(project.join(".pi")).unwrap();
        let user = r#"{"retry": {"maxRetries": 7, "baseDelayMs": 5}, "httpIdleTimeoutMs": 0,
            "defaultThinkingLevel": "huge", "compaction": []}"#;
        fs::write(root.path().join("settings.json"), user).unwrap();
        let theirs = r#"{"retry": {"maxRetries": 1, "enabled": "no"}, "defaultModel": "m"}"#;
        fs::write(project.join(".pi/settings.json"), theirs).unwrap();
        let (alone, warnings) = Settings::read(root.path(), None);
        assert_eq!((alone.retry.max_retries, alone.default_model), (7, None));
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        let (settings, warnings) = Settings::read(root.path(), Some(&project));
        let retry = settings.retry;
        assert_eq!(
            (retry.max_retries, retry.base_delay_ms, retry.enabled),
            (1, 5, true)
        );
        assert_eq!(settings.default_model.as_deref(), Some("m"));
        assert_eq!(settings.patience(), None);
        assert_eq!(settings.compaction, CompactionSettings::default());
        let shown = warnings.join("\n");
        let shown = shown.replace(&root.path().display().to_string(), "ROOT");
        insta::assert_snapshot!(shown, @r#"
        ROOT/settings.json: defaultThinkingLevel is ignored: "huge" is not a thinking level
        ROOT/settings.json: compaction is ignored: it must be an object, not []
        ROOT/project/.pi/settings.json: retry.enabled is ignored: invalid type: string "no", expected a boolean
        "#);
    }

    #[test]
    fn a_file_that_is_no_json_is_a_warning() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Settings::read(root.path(), None).1, [""; 0]);
        fs::write(root.path().join("settings.json"), "// no comments here").unwrap();
        let (_, warnings) = Settings::read(root.path(), Some(root.path()));
        assert!(warnings[0].contains("is not JSON"), "{warnings:?}");
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
