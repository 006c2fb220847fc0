//! Decides how long a client waits for an answer before it gives up on a call.

use std::time::Duration;

/// The seconds after which a call of an unknown client is answered. The official SDKs give up after
/// 60 seconds unless a program asks for more, and what they give up on is lost.
const OF_UNKNOWN: u64 = 50;

/// Clients that are known to wait longer, by the beginnings of the names by which they introduce
/// themselves, with the seconds after which a call of theirs is answered; `None` if they wait as
/// long as it takes. Their waiting times are written down in `docs/mcp.md`.
const PATIENT: [(&str, Option<u64>); 8] = [
    ("codex", Some(240)),
    ("claude-code", None),
    ("visual studio code", None),
    ("mcp-inspector", None),
    ("inspector", None),
    ("gemini-cli", None),
    ("github-copilot", None),
    ("copilot", None),
];

/// Returns the time after which a call is answered at the latest: the time that the person has set,
/// else a time that fits the client.
pub(super) fn patience(asked: Option<Duration>, client: Option<&str>) -> Option<Duration> {
    match asked {
        Some(Duration::ZERO) => None,
        Some(asked) => Some(asked),
        None => of_client(client.unwrap_or_default()).map(Duration::from_secs),
    }
}

fn of_client(client: &str) -> Option<u64> {
    let client = client.to_lowercase();
    let is_it = |name: &str| {
        let rest = client.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let known = PATIENT.iter().find(|(name, _)| is_it(name));
    known.map_or(Some(OF_UNKNOWN), |(_, seconds)| *seconds)
}

/// Reads a time that a person wrote; 0 means as long as it takes.
pub fn parse(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds == 0.0 || (1.0..=86_400.0).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        Ok(_) | Err(_) => {
            Err("must be a number of seconds from 1 to 86400, or 0 for no limit".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_knows_better_than_the_table() {
        let seconds = |asked: Option<u64>, client| {
            patience(asked.map(Duration::from_secs), client).map(|known| known.as_secs())
        };
        assert_eq!(seconds(None, Some("codex-mcp-client")), Some(240));
        for patient in [
            "claude-code",
            "Visual Studio Code - Insiders",
            "mcp-inspector",
            "inspector-cli",
            "gemini-cli-mcp-client-pi-subagents",
            "github-copilot-developer",
        ] {
            assert_eq!(seconds(None, Some(patient)), None, "{patient}");
        }
        for unknown in ["Zed", "claude-ai", "my-host", "codexial", ""] {
            assert_eq!(seconds(None, Some(unknown)), Some(50), "{unknown}");
        }
        assert_eq!(seconds(None, None), Some(50));
        assert_eq!(seconds(Some(7), Some("claude-code")), Some(7));
        assert_eq!(seconds(Some(0), Some("Zed")), None);
    }

    #[test]
    fn only_seconds_are_read() {
        assert_eq!(parse("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse("0"), Ok(Duration::ZERO));
        for wrong in ["", "soon", "0.5", "-1", "nan", "1e9"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
