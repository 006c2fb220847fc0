//! The words of a command line that is being typed. Pure.

/// The word before the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TypedWord {
    /// The word without quotes.
    pub(super) text: String,
    /// The quote that was opened in it and not closed.
    pub(super) quote: Option<char>,
    /// The beginning of `text` that the shell keeps: it puts the offer behind it.
    pub(super) kept: String,
}

/// Takes the words as a shell gives them. The last is the word before the cursor.
pub(super) fn of_words(mut words: Vec<String>) -> (Vec<String>, TypedWord) {
    let text = words.pop().unwrap_or_default();
    let current = TypedWord {
        text,
        ..TypedWord::default()
    };
    (words, current)
}

/// Splits the line up to the cursor, which is the first text, as bash does. The second text has the
/// characters at which bash begins a new word; only those within a word count here.
pub(super) fn of_line(given: &[String]) -> (Vec<String>, TypedWord) {
    let line = given.first().map_or("", String::as_str);
    let breaks = given.get(1).map_or("", String::as_str);
    let mut words = Vec::new();
    let mut word = TypedWord::default();
    let mut is_begun = false;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (word.quote, letter) {
            (Some(quote), letter) if letter == quote => word.quote = None,
            (None, '\'' | '"') => {
                word.quote = Some(letter);
                is_begun = true;
            }
            (None, '\\') => {
                word.text.extend(letters.next());
                is_begun = true;
            }
            (Some('"'), '\\') => match letters.next() {
                Some(escaped @ ('"' | '\\' | '$' | '`')) => word.text.push(escaped),
                other => {
                    word.text.push('\\');
                    word.text.extend(other);
                }
            },
            (None, ' ' | '\t' | '\n') => {
                if is_begun {
                    words.push(std::mem::take(&mut word).text);
                    is_begun = false;
                }
            }
            (None, letter) if breaks.contains(letter) => {
                word.text.push(letter);
                word.kept.clone_from(&word.text);
                is_begun = true;
            }
            (_, letter) => {
                word.text.push(letter);
                is_begun = true;
            }
        }
    }
    (words, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (Vec<String>, TypedWord) {
        of_line(&[line.to_owned(), " \t\n\"'><=;|&(:".to_owned()])
    }

    fn word(text: &str, kept: &str, quote: Option<char>) -> TypedWord {
        TypedWord {
            text: text.to_owned(),
            quote,
            kept: kept.to_owned(),
        }
    }

    #[test]
    fn a_line_is_split_at_spaces_outside_of_quotes() {
        let (words, current) = split("pi-subagents  run \"two words\" a\\ b 'it''s' sc");
        assert_eq!(words, ["pi-subagents", "run", "two words", "a b", "its"]);
        assert_eq!(current, word("sc", "", None));
        let (words, current) = split("pi-subagents output ");
        assert_eq!(words, ["pi-subagents", "output"]);
        assert_eq!(current, word("", "", None));
    }

    #[test]
    fn what_bash_keeps_of_a_word_ends_at_its_last_separator() {
        let (_, current) = split("x --model=scripted:a");
        assert_eq!(
            current,
            word("--model=scripted:a", "--model=scripted:", None)
        );
        let (_, current) = split("x \"half a na");
        assert_eq!(current, word("half a na", "", Some('"')));
        let (_, current) = split("x 'a:b");
        assert_eq!(current, word("a:b", "", Some('\'')));
    }
}
