//! The shells: the script that each of them loads, and the form of its answers.

use std::fmt::Write as _;

use clap::ValueEnum;
use pi_subagents_vocabulary::text::{clean, one_line};

use super::typed_words::TypedWord;
use super::{Besides, Offers};

/// A shell that can ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// Finds a shell by the name of its program.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::from_str(name, false).ok()
    }

    /// Returns the name of its program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// Returns the script that the shell loads.
    pub(crate) fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("pi-subagents.bash"),
            Self::Zsh => include_str!("_pi-subagents.zsh"),
            Self::Fish => include_str!("pi-subagents.fish"),
        }
    }

    /// Writes an answer: a line with the suffix that the shell adds, then one line for each word,
    /// with a tab before its description.
    pub(super) fn answer(self, offers: &Offers, current: &TypedWord) -> String {
        let mut answer = format!("{}\n", besides(offers.and));
        for offer in &offers.words {
            let Some(value) = self.written(&offer.value, current) else {
                continue;
            };
            let description = one_line(&clean(&offer.description)).replace('\t', " ");
            // Writing to a string cannot fail.
            _ = writeln!(answer, "{value}\t{description}");
        }
        answer
    }

    /// Returns a word as the shell inserts it; zsh and fish quote it themselves.
    fn written(self, value: &str, current: &TypedWord) -> Option<String> {
        if value.chars().any(char::is_control) {
            return None;
        }
        if self != Self::Bash {
            return Some(value.to_owned());
        }
        let value = value.strip_prefix(&current.kept)?;
        match current.quote {
            None => Some(escaped(value)),
            Some(_) if value.contains(['\'', '"', '\\', '$', '`', '!']) => None,
            Some(_) => Some(value.to_owned()),
        }
    }
}

fn besides(and: Besides) -> &'static str {
    match and {
        Besides::Nothing => "words",
        Besides::NoSpace => "list",
        Besides::Files => "files",
        Besides::Directories => "directories",
    }
}

/// Puts a backslash before everything that means something to bash.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        let is_plain = letter.is_alphanumeric() || "-_./:,+@%=~".contains(letter);
        if !is_plain || (letter == '~' && escaped.is_empty()) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::Offer;
    use super::*;

    fn answer(shell: Shell, values: &[&str], current: &TypedWord) -> String {
        let words = values
            .iter()
            .map(|value| Offer::new(*value, "a\tb\n\u{1b}[31mc"));
        let offers = Offers {
            words: words.collect(),
            and: Besides::Nothing,
        };
        shell.answer(&offers, current)
    }

    #[test]
    fn bash_gets_words_that_it_may_insert_as_they_are() {
        let values = ["last~1", "two words", "$(rm -rf ~)", "new\nline", "~"];
        assert_eq!(
            answer(Shell::Bash, &values, &TypedWord::default()),
            "words\nlast~1\ta b c\ntwo\\ words\ta b c\n\\$\\(rm\\ -rf\\ ~\\)\ta b c\n\\~\ta b c\n"
        );
        assert_eq!(
            answer(Shell::Fish, &values[..2], &TypedWord::default()),
            "words\nlast~1\ta b c\ntwo words\ta b c\n"
        );
    }

    #[test]
    fn bash_gets_only_what_it_does_not_have_yet() {
        let current = TypedWord {
            text: "--model=a:".to_owned(),
            kept: "--model=a:".to_owned(),
            quote: None,
        };
        let answered = answer(Shell::Bash, &["--model=a:b"], &current);
        assert_eq!(answered, "words\nb\ta b c\n");
        let quoted = TypedWord {
            text: "two".to_owned(),
            quote: Some('"'),
            ..TypedWord::default()
        };
        let answered = answer(Shell::Bash, &["two words", "two $x"], &quoted);
        assert_eq!(answered, "words\ntwo words\ta b c\n");
    }
}
