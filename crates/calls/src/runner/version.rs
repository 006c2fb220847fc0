//! A version as numbers.

use std::fmt;

/// A version of pi, which compares as numbers do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl Version {
    /// Reads pi's output, such as `1.5.0`; the text after the numbers is skipped.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.splitn(3, '.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        let rest = numbers.next().unwrap_or("0");
        let end = rest.find(|letter: char| !letter.is_ascii_digit());
        let patch = rest.get(..end.unwrap_or(rest.len()))?;
        Some(Self(major, minor, patch.parse().ok()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(major, minor, patch) = self;
        match patch {
            0 => write!(formatter, "{major}.{minor}"),
            _ => write!(formatter, "{major}.{minor}.{patch}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert_eq!(Version::parse("0.87.1"), Some(Version(0, 87, 1)));
        assert_eq!(Version::parse("1.2"), Some(Version(1, 2, 0)));
        assert_eq!(Version::parse("1.6.0-beta.2"), Some(Version(1, 6, 0)));
        for no_version in ["pi", "v20.20.2", "1", "1.x", "1.2.x", ""] {
            assert_eq!(Version::parse(no_version), None, "{no_version}");
        }
        assert!(Version(0, 9, 9) < Version(0, 84, 0));
        assert!(Version(1, 0, 3) < Version(1, 0, 4));
    }
}
