//! The part of pi's `settings.json` that concerns the agent.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::models::ThinkingLevel;

/// Defaults of the user.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Settings {
    pub(crate) default_provider: Option<String>,
    pub(crate) default_model: Option<String>,
    pub(crate) default_thinking_level: Option<ThinkingLevel>,
    pub(crate) retry: RetrySettings,
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

impl Settings {
    /// Reads `settings.json`; a broken one is ignored with a warning, as pi does.
    pub(crate) fn load(agent_dir: &Path) -> (Self, Option<String>) {
        let path = agent_dir.join("settings.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return (Self::default(), None);
            }
            Err(error) => return (Self::default(), Some(error.to_string())),
        };
        match serde_json::from_str(&text) {
            Ok(settings) => (settings, None),
            Err(error) => {
                let warning = format!("Invalid settings file {}: {error}", path.display());
                (Self::default(), Some(warning))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
