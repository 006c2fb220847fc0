//! Words that people type for other commands. Most are aliases that the parser knows; `ls` also
//! means an option.

use std::ffi::OsString;

/// The alias that lists the finished runs too.
const LIST: &str = "ls";

/// The options that every command has, which may stand before it.
const BEFORE: [&str; 2] = ["--log-level", "--color"];

/// Replaces `ls` with `status --all`; it may come behind the options that every command has.
pub(super) fn resolved(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut place = 1;
    while let Some(word) = arguments.get(place).and_then(|word| word.to_str()) {
        match word {
            LIST => {
                let words = ["status", "--all"].map(OsString::from);
                arguments.splice(place..=place, words);
                break;
            }
            word if BEFORE.contains(&word) => place += 2,
            word if word
                .split_once('=')
                .is_some_and(|(name, _)| BEFORE.contains(&name)) =>
            {
                place += 1;
            }
            _ => break,
        }
    }
    arguments
}

/// Returns the words that an alias of a command stands for.
pub(crate) fn stands_for<'a>(alias: &str, command: &'a str) -> &'a str {
    match alias {
        LIST => "status --all",
        _ => command,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ls_lists_all_runs_and_stands_for_nothing_else() {
        for (typed, expected) in [
            ("x ls --json", "x status --all --json"),
            ("x --log-level debug ls", "x --log-level debug status --all"),
            ("x --log-level=debug ls", "x --log-level=debug status --all"),
            ("x --color never ls", "x --color never status --all"),
            ("x profile ls", "x profile ls"),
            ("x output ls", "x output ls"),
            ("x", "x"),
        ] {
            let typed = typed.split(' ').map(OsString::from).collect();
            let resolved: Vec<String> = resolved(typed)
                .into_iter()
                .map(|word| word.into_string().unwrap_or_default())
                .collect();
            assert_eq!(resolved.join(" "), expected);
        }
    }
}
