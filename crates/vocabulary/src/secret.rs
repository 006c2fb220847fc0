//! Texts that must not be read by chance.

use std::fmt;

/// A text that is never shown: printing it shows a mask.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Secrets below this length show nothing of themselves.
const SHORTEST_SHOWN_SECRET: usize = 12;

impl Secret {
    /// Keeps a text from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, for code that must use it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let characters: Vec<char> = self.0.chars().collect();
        if characters.len() < SHORTEST_SHOWN_SECRET {
            return formatter.write_str("****");
        }
        let first: String = characters[..4].iter().collect();
        let last: String = characters[characters.len() - 4..].iter().collect();
        write!(formatter, "{first}****{last}")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secret({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_its_ends_at_most() {
        let shown = ["sk-test-abc123", "sk-12345678", "", "ключ-к-серверу-1"]
            .map(|text| Secret::new(text).to_string());
        assert_eq!(shown, ["sk-t****c123", "****", "****", "ключ****ру-1"]);
        let debugged = format!("{:?}", Secret::new("sk-proj-abc123def456ghi789"));
        assert_eq!(debugged, "Secret(sk-p****i789)");
    }
}
