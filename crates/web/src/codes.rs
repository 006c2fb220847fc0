//! The code in the address of the page. A browser writes every address into its history on disk,
//! so the address has no token: it has a code that is good once, for a minute, and that the page
//! exchanges for the token.
//!
//! A code is signed with the token. So a second `web` makes one for a server that runs already, and
//! only who can read the token can make one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random::new_secret;
use pi_subagents_loopback::Token;
use pi_subagents_runs::page_address::Power;
use pi_subagents_vocabulary::Timestamp;
use ring::hmac;

use crate::tokens::Tokens;

/// The milliseconds for which a code is good.
const GOOD_FOR: i64 = 60_000;

/// The characters of a code's random part.
const RANDOM: usize = 32;

/// Makes a code that gives the token to whoever shows it first.
pub(crate) fn new_code(token: &Token, now: Timestamp) -> Result<String, CommandError> {
    let random = new_secret()?;
    let unsigned = format!("{:x}.{}", now.as_millisecond(), &random[..RANDOM]);
    let signature = signature(&unsigned, token);
    Ok(format!("{unsigned}.{signature}"))
}

/// Returns the first bytes of the signature in hexadecimal digits.
fn signature(unsigned: &str, token: &Token) -> String {
    let signature = hmac::sign(&key(token), unsigned.as_bytes());
    let bytes = signature.as_ref().iter().take(RANDOM / 2);
    let digits = bytes.flat_map(|byte| [byte >> 4, byte & 0xf]);
    let digits = digits.filter_map(|digit| char::from_digit(u32::from(digit), 16));
    digits.collect()
}

fn key(token: &Token) -> hmac::Key {
    let secret = format!("code of the page {}", token.secret());
    hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())
}

/// The codes that a server has taken.
#[derive(Debug)]
pub(crate) struct Codes {
    /// The time at which the server began. It cannot know which older codes were used before.
    since: i64,
    /// The times of the codes that were used within the last minute.
    used: Mutex<HashMap<String, i64>>,
}

impl Codes {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            since: now.as_millisecond(),
            used: Mutex::default(),
        }
    }

    /// Takes a code, and returns the rights that it gives; `None` if it is no code of ours, too old,
    /// or was used before.
    pub(crate) fn take(&self, code: &str, tokens: &Tokens, now: Timestamp) -> Option<Power> {
        let (unsigned, signature) = code.rsplit_once('.')?;
        let made = i64::from_str_radix(unsigned.split('.').next()?, 16).ok()?;
        let now = now.as_millisecond();
        let is_good = made >= self.since && made <= now && now - made < GOOD_FOR;
        let power = [Power::Full, Power::ReadOnly]
            .into_iter()
            .find(|power| is_signed(unsigned, signature, tokens.of(*power)))?;
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, made| now - *made < GOOD_FOR);
        let is_new = is_good && used.insert(unsigned.to_owned(), made).is_none();
        is_new.then_some(power)
    }
}

fn is_signed(unsigned: &str, given: &str, token: &Token) -> bool {
    Token::new(signature(unsigned, token)).is(given)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_code_is_good_once_for_a_minute_and_for_its_server() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let tokens = Tokens::of_secrets("full", "viewing");
        let codes = Codes::new(at(100));
        let code = |token: &str, second| new_code(&Token::new(token), at(second)).unwrap();
        let take = |code: &str, second| codes.take(code, &tokens, at(second));
        let first = code("full", 100);
        assert_eq!(take(&first, 130), Some(Power::Full));
        assert_eq!(take(&first, 131), None, "it was used");
        let looking = code("viewing", 130);
        assert_eq!(take(&looking, 189), Some(Power::ReadOnly));
        assert_eq!(take(&code("full", 130), 190), None, "a minute is over");
        assert_eq!(take(&code("full", 99), 110), None, "another server made it");
        assert_eq!(take(&code("full", 120), 110), None, "it is not made yet");
        assert_eq!(
            take(&code("other", 130), 140),
            None,
            "it is signed by nobody"
        );
        let mut changed = code("full", 130);
        changed.pop();
        for wrong in [changed.as_str(), "", ".", "..", "zz.1.2", "full"] {
            assert_eq!(take(wrong, 140), None, "{wrong}");
        }
    }
}
