//! The names of objects. Git is asked about commits and trees by these names alone: some of its
//! answers take a word that is no object for a conflict.

use std::fmt;

/// The full name of an object: 40 hexadecimal digits, or 64 in a repository with SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(String);

/// The hash by which a repository names its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectFormat {
    /// Names of 40 digits.
    Sha1,
    /// Names of 64 digits.
    Sha256,
}

impl ObjectId {
    /// Reads a full name; `None` if the text is anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_name = matches!(text.len(), 40 | 64) && text.bytes().all(is_hex);
        is_name.then(|| Self(text.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the beginning of the name, for people.
    pub fn short(&self) -> &str {
        &self.0[..8]
    }

    /// Returns the hash that made this name.
    pub fn format(&self) -> ObjectFormat {
        match self.0.len() {
            64 => ObjectFormat::Sha256,
            _ => ObjectFormat::Sha1,
        }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl ObjectFormat {
    /// Returns the name of the tree without files, which every git knows.
    pub(crate) fn empty_tree(self) -> &'static str {
        match self {
            Self::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Self::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }

    /// Returns the name that git has for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_names_are_names() {
        let name = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(ObjectId::parse(name).unwrap().short(), "01234567");
        for text in [
            "",
            "HEAD",
            "01234567",
            &name[1..],
            &name.to_uppercase(),
            "--all",
        ] {
            assert_eq!(ObjectId::parse(text), None, "{text}");
        }
        let long = ObjectId::parse(&"a".repeat(64)).unwrap();
        assert_eq!(long.format(), ObjectFormat::Sha256);
    }
}
