//! Decides how long a client waits for an answer before it gives up on a call.

use std::time::Duration;

/// Clients that give up after some minutes unless they are configured otherwise, by the names by
/// which they introduce themselves, with the seconds after which a call of theirs is answered.
/// Their waiting times are written down in `docs/mcp.md`.
const IMPATIENT: [(&str, u64); 5] = [
    ("codex", 240),
    ("claude-ai", 50),
    ("zed", 50),
    ("opencode", 50),
    ("cursor", 50),
];

/// Returns the time after which a call is answered at the latest: the time that the person has set,
/// else a time that fits the client.
pub(super) fn patience(asked: Option<Duration>, client: Option<&str>) -> Option<Duration> {
    match asked {
        Some(Duration::ZERO) => None,
        Some(asked) => Some(asked),
        None => of_client(client?),
    }
}

fn of_client(client: &str) -> Option<Duration> {
    let client = client.to_lowercase();
    let known = IMPATIENT
        .iter()
        .find(|(name, _)| client == *name || client.starts_with(&format!("{name}-")));
    known.map(|(_, seconds)| Duration::from_secs(*seconds))
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
        assert_eq!(seconds(None, Some("Zed")), Some(50));
        assert_eq!(seconds(None, Some("claude-code")), None);
        assert_eq!(seconds(None, Some("codexial")), None);
        assert_eq!(seconds(None, None), None);
        assert_eq!(seconds(Some(7), Some("Zed")), Some(7));
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
