//! Decides whether the terminal of a person can show more than ASCII.

use std::ffi::OsString;
use std::sync::LazyLock;

use pi_subagents_view::is_ascii_locale;

/// The variables that name the character set, the strongest first.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Returns whether the locale of these variables has only ASCII.
pub fn is_ascii(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let mut locales = VARIABLES.into_iter().filter_map(variable);
    let locale = locales.find(|locale| !locale.is_empty());
    locale.is_some_and(|locale| is_ascii_locale(&locale.to_string_lossy()))
}

/// Returns whether the locale of this process knows nothing but ASCII.
#[expect(
    clippy::disallowed_methods,
    reason = "errors are printed before anything is known of the places"
)]
pub(crate) fn is_ascii_here() -> bool {
    static IS_ASCII: LazyLock<bool> = LazyLock::new(|| is_ascii(|name| std::env::var_os(name)));
    *IS_ASCII
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_variable_that_says_something_counts() {
        let of = |variables: &[(&str, &str)]| {
            is_ascii(|name| {
                let found = variables.iter().find(|(other, _)| *other == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert!(!of(&[]));
        assert!(of(&[("LANG", "C")]));
        assert!(!of(&[("LANG", "C"), ("LC_ALL", "C.UTF-8")]));
        assert!(of(&[
            ("LANG", "en_US.UTF-8"),
            ("LC_ALL", ""),
            ("LC_CTYPE", "POSIX")
        ]));
    }
}
