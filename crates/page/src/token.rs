//! The tokens that a page sends with every request.

use std::fmt;

/// A secret that a page sends with every request.
pub struct Token(String);

/// The two tokens of a server: one for people who may do everything, one for people who only look.
#[derive(Debug)]
pub struct Tokens {
    /// Lets its bearer steer, stop, continue, merge and discard runs.
    pub full: Token,
    /// Lets its bearer look at runs.
    pub viewing: Token,
}

/// The rights of everybody who has the token of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// It looks at runs, steers and stops them, lets them go on, merges and discards results.
    Full,
    /// It looks at runs. There are no routes for anything else.
    ReadOnly,
}

/// The rights of the bearer of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grant {
    Everything,
    Looking,
}

impl Token {
    /// Takes a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// Returns whether this is the token. The time that it takes does not depend on how much of it
    /// is right.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let pairs = own.iter().zip(given);
        let differences = pairs.fold(0, |seen, (one, other)| seen | (one ^ other));
        own.len() == given.len() && std::hint::black_box(differences) == 0 && !own.is_empty()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

impl Tokens {
    /// Returns the rights of a request with this text; `None` if it is no token of ours.
    pub(crate) fn grant(&self, given: &str) -> Option<Grant> {
        // Both are compared, so that the time does not show which of them is near.
        let (full, viewing) = (self.full.is(given), self.viewing.is(given));
        match (full, viewing) {
            (true, _) => Some(Grant::Everything),
            (false, true) => Some(Grant::Looking),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_tokens_open_the_door() {
        let tokens = Tokens {
            full: Token::new("abc123"),
            viewing: Token::new("view45"),
        };
        assert_eq!(tokens.grant("abc123"), Some(Grant::Everything));
        assert_eq!(tokens.grant("view45"), Some(Grant::Looking));
        for wrong in ["", "abc12", "abc1234", "abc124", "ABC123"] {
            assert_eq!(tokens.grant(wrong), None, "{wrong}");
        }
        let empty = Tokens {
            full: Token::new(""),
            viewing: Token::new(""),
        };
        assert_eq!(empty.grant(""), None);
        assert_eq!(format!("{:?}", tokens.full), "Token(…)");
    }
}
