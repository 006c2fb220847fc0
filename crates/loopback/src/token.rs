//! The token that a client sends with every request.

use std::fmt;

use axum::http::{HeaderMap, header};

/// A secret that clients send with every request.
pub struct Token(String);

impl Token {
    /// Takes a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Returns whether this is the token. The time that it takes does not depend on how much of it
    /// is right.
    pub fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let pairs = own.iter().zip(given);
        let differences = pairs.fold(0, |seen, (one, other)| seen | (one ^ other));
        own.len() == given.len() && std::hint::black_box(differences) == 0 && !own.is_empty()
    }

    /// Returns the secret itself, for its owner.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// Returns the token that a request shows, whether it is right or not.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = given.split_once(' ')?;
    // The name of the scheme may be written in any case.
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_it() {
        let token = Token::new("abc123");
        assert!(token.is("abc123"));
        for wrong in ["", "abc12", "abc1234", "abc124", "ABC123"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(!Token::new("").is(""));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn a_token_is_shown_in_one_header_only() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        for (value, expected) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc", Some("abc")),
            ("Basic abc", None),
        ] {
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
            assert_eq!(bearer(&headers), expected);
        }
    }
}
