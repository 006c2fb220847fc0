//! The seal of a `meta.json`: proof that this user's program wrote it.
//!
//! A clone may bring records along, and who owns their files proves nothing. So each `meta.json`
//! ends with a MAC over everything before it, and the key is in the user's agent directory. It is
//! looked at when a record is entered into the index, never again.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use pi_subagents_files as files;
use ring::hmac::{self, HMAC_SHA256};
use ring::rand::{SecureRandom as _, SystemRandom};

/// The number of random bytes in a key.
const KEY_LENGTH: usize = 32;

/// The last characters of a document before it is sealed.
const END: &str = "\n}";

/// The text between the document and its MAC.
const FIELD: &str = ",\n  \"mac\": \"";

/// The text after the MAC.
const SEALED_END: &str = "\"\n}";

/// The key of a user.
pub(crate) struct Seal(hmac::Key);

impl Seal {
    /// Reads the key of a user, and makes a key if there is none.
    pub(crate) fn of_user(agent_dir: &Path) -> io::Result<Self> {
        let file = key_file(agent_dir);
        match Self::read(agent_dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                files::create_directories(agent_dir)?;
                // Another process was faster and made a key that is as good.
                files::write_whole_once(&file, &random_key()?)?;
                Self::read(agent_dir)
            }
            read => read,
        }
    }

    /// Reads the key of a user; there is no key before the first run.
    pub(crate) fn read(agent_dir: &Path) -> io::Result<Self> {
        let file = key_file(agent_dir);
        let length = u64::try_from(KEY_LENGTH).unwrap_or(u64::MAX);
        let key = files::read_own(&file, length)?;
        if key.len() != KEY_LENGTH {
            let message = format!(
                "{} must hold {KEY_LENGTH} bytes; remove it, and a new one is made",
                file.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(Self(hmac::Key::new(HMAC_SHA256, &key)))
    }

    /// Adds the MAC to a JSON object that is written over several lines.
    pub(crate) fn close(&self, document: &str) -> String {
        let mac = hmac::sign(&self.0, document.as_bytes());
        let open = document.strip_suffix(END).unwrap_or(document);
        let mut sealed = format!("{open}{FIELD}");
        for byte in mac.as_ref() {
            // Writing to a string cannot fail.
            _ = write!(sealed, "{byte:02x}");
        }
        sealed + SEALED_END
    }

    /// Returns whether a document was sealed with this key and has not been changed since.
    pub(crate) fn fits(&self, sealed: &[u8]) -> bool {
        let parts = || {
            let text = std::str::from_utf8(sealed).ok()?;
            let (open, mac) = text.strip_suffix(SEALED_END)?.rsplit_once(FIELD)?;
            Some((format!("{open}{END}"), bytes_of(mac)?))
        };
        parts()
            .is_some_and(|(document, mac)| hmac::verify(&self.0, document.as_bytes(), &mac).is_ok())
    }
}

fn key_file(agent_dir: &Path) -> PathBuf {
    agent_dir.join("subagents-key")
}

fn random_key() -> io::Result<[u8; KEY_LENGTH]> {
    let mut key = [0; KEY_LENGTH];
    let filled = SystemRandom::new().fill(&mut key);
    filled.map_err(|_| io::Error::other("the system gives no random bytes"))?;
    Ok(key)
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const DOCUMENT: &str = "{\n  \"runId\": \"r\",\n  \"timeoutSeconds\": 0.30000000000000004\n}";

    #[test]
    fn only_what_the_key_sealed_fits_and_only_unchanged() {
        let user = tempfile::tempdir().unwrap();
        let seal = Seal::of_user(user.path()).unwrap();
        let sealed = seal.close(DOCUMENT);
        assert!(serde_json::from_str::<serde_json::Value>(&sealed).unwrap()["mac"].is_string());
        let again = Seal::of_user(user.path()).unwrap();
        assert!(again.fits(sealed.as_bytes()));
        let key = fs::metadata(key_file(user.path())).unwrap();
        assert_eq!((key.len(), key.permissions().mode() & 0o777), (32, 0o600));
        let other = tempfile::tempdir().unwrap();
        assert!(!Seal::of_user(other.path()).unwrap().fits(sealed.as_bytes()));
        for changed in [
            sealed.replace("\"r\"", "\"s\""),
            sealed.replace("\"mac\": \"", "\"mac\": \"00"),
            DOCUMENT.to_owned(),
            sealed.replace(",\n  \"mac\"", ",\n  \"mac\": \"\",\n  \"mac\""),
            String::new(),
        ] {
            assert!(!seal.fits(changed.as_bytes()), "{changed}");
        }
    }

    #[test]
    fn a_key_that_is_none_is_an_error_that_says_what_to_do() {
        let user = tempfile::tempdir().unwrap();
        fs::write(key_file(user.path()), "short").unwrap();
        let error = Seal::of_user(user.path()).err().unwrap().to_string();
        assert!(
            error.contains("remove it, and a new one is made"),
            "{error}"
        );
    }
}
