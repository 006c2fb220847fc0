//! Keys of callers and workers: they open the server's door, and sign orders.

use std::fmt;

use nkeys::KeyPair;
use pi_subagents_vocabulary::Secret;

use crate::error::FleetError;

/// A key of a user of the fleet. Printing it shows its public half.
#[derive(Clone)]
pub struct Key(KeyPair);

impl Key {
    /// Makes a new key.
    pub fn generate() -> Self {
        Self(KeyPair::new_user())
    }

    /// Reads the seed of a key; the space around it does not count.
    pub fn of_seed(seed: &Secret) -> Result<Self, FleetError> {
        let text = seed.expose().trim();
        if !text.starts_with("SU") {
            let why = "it does not begin with \"SU\"".to_owned();
            return Err(FleetError::BadKey(why));
        }
        KeyPair::from_seed(text)
            .map(Self)
            .map_err(|error| FleetError::BadKey(error.to_string()))
    }

    /// Returns the public half, which begins with `U`.
    pub fn public(&self) -> String {
        self.0.public_key()
    }

    /// Returns the seed, for the file that keeps it and for the connection.
    pub fn seed(&self) -> Result<String, FleetError> {
        self.0
            .seed()
            .map_err(|error| FleetError::BadKey(error.to_string()))
    }

    /// Returns the signature of bytes.
    pub fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, FleetError> {
        self.0
            .sign(bytes)
            .map_err(|error| FleetError::BadKey(error.to_string()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Key({})", self.public())
    }
}

/// Returns whether the owner of a public key has signed exactly these bytes.
pub fn is_signed(public: &str, bytes: &[u8], signature: &[u8]) -> bool {
    let key = KeyPair::from_public_key(public);
    key.is_ok_and(|key| key.verify(bytes, signature).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_its_key_and_its_bytes_only() {
        let (ada, eve) = (Key::generate(), Key::generate());
        let signature = ada.sign(b"order").unwrap();
        let verdicts = [
            is_signed(&ada.public(), b"order", &signature),
            is_signed(&ada.public(), b"other", &signature),
            is_signed(&eve.public(), b"order", &signature),
            is_signed("nonsense", b"order", &signature),
            is_signed(&ada.public(), b"order", b"short"),
        ];
        assert_eq!(verdicts, [true, false, false, false, false]);
    }

    #[test]
    fn a_seed_makes_the_same_key_again_and_is_never_printed() {
        let key = Key::generate();
        let seed = key.seed().unwrap();
        let again = Key::of_seed(&Secret::new(format!("{seed}\n"))).unwrap();
        assert_eq!(again.public(), key.public());
        assert_eq!(format!("{again:?}"), format!("Key({})", key.public()));
        let error = Key::of_seed(&Secret::new("not a seed")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the fleet's key is not the seed of a user's nkey: it does not begin with \"SU\""
        );
    }
}
