//! A script that is nothing but simple commands, taken apart into their words.
//!
//! Everything of which a shell would make other words than those that stand there is refused:
//! substitutions, patterns, redirections, blocks and comments.

/// The longest script that is read, in bytes.
const LONGEST_SCRIPT: usize = 100_000;

/// The variables that may be set before a command. Any other could change which program runs or what
/// it loads.
const HARMLESS_VARIABLES: [&str; 14] = [
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "NODE_ENV",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "VERBOSE",
];

/// One simple command: its words, without the variables that are set before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<String>,
}

/// The reason why a script is not made of simple commands, as the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotSimple {
    #[error("it has more than {LONGEST_SCRIPT} bytes")]
    TooLong,
    #[error("it has a {0}, which is not allowed here")]
    Syntax(&'static str),
    #[error("it sets {name}, and only these may be set: {}", HARMLESS_VARIABLES.join(", "))]
    Variable { name: String },
    #[error("a command is missing in it")]
    NoCommand,
}

/// Takes a script apart. Its commands may stand one after another, or be joined by `&&`, `||`, `;`
/// and `|`.
pub(super) fn simple_commands(script: &str) -> Result<Vec<SimpleCommand>, NotSimple> {
    if script.len() > LONGEST_SCRIPT {
        return Err(NotSimple::TooLong);
    }
    let mut reader = Reader::default();
    let mut letters = script.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        match letter {
            '\'' => reader.take_single_quoted(&mut letters)?,
            '"' => reader.take_double_quoted(&mut letters)?,
            '\\' => match letters.next() {
                // The line goes on.
                Some('\n') => {}
                Some(letter) => reader.add(letter),
                None => return Err(NotSimple::Syntax("backslash at its end")),
            },
            '&' if next == Some('&') => {
                letters.next();
                reader.end_command(Link::NeedsNext)?;
            }
            '|' if next == Some('|') => {
                letters.next();
                reader.end_command(Link::NeedsNext)?;
            }
            '|' if next != Some('&') => reader.end_command(Link::NeedsNext)?,
            ';' if next != Some(';') => reader.end_command(Link::Ends)?,
            '\n' => reader.end_line()?,
            ' ' | '\t' => reader.end_word(),
            letter => match forbidden(letter, reader.is_in_word) {
                Some(name) => return Err(NotSimple::Syntax(name)),
                None => reader.add(letter),
            },
        }
    }
    reader.finish()
}

/// Returns the name of a character that means something to a shell, or `None` for plain ones.
fn forbidden(letter: char, is_in_word: bool) -> Option<&'static str> {
    Some(match letter {
        '$' => "substitution ($)",
        '`' => "substitution (`)",
        '<' | '>' => "redirection",
        '&' => "background job (&)",
        '|' => "pipe of stderr (|&)",
        ';' => "double semicolon",
        '(' | ')' => "parenthesis",
        '{' | '}' => "brace",
        '*' | '?' | '[' | ']' => "pattern of file names",
        '#' if !is_in_word => "comment",
        '!' if !is_in_word => "negation (!)",
        letter if letter.is_control() => "control character",
        _ => return None,
    })
}

/// The link between a command and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Another command must follow.
    NeedsNext,
    /// The command may be the last.
    Ends,
}

/// The words and commands that were read so far.
#[derive(Default)]
struct Reader {
    commands: Vec<SimpleCommand>,
    words: Vec<Word>,
    word: String,
    /// The number of bytes at the beginning of the word that were not quoted.
    plain: usize,
    is_in_word: bool,
    was_quoted: bool,
    needs_next: bool,
}

struct Word {
    text: String,
    plain: usize,
}

impl Reader {
    fn add(&mut self, letter: char) {
        self.is_in_word = true;
        self.word.push(letter);
        if !self.was_quoted {
            self.plain = self.word.len();
        }
    }

    fn begin_quote(&mut self) {
        self.is_in_word = true;
        self.was_quoted = true;
    }

    fn take_single_quoted(
        &mut self,
        letters: &mut impl Iterator<Item = char>,
    ) -> Result<(), NotSimple> {
        self.begin_quote();
        for letter in letters {
            match letter {
                '\'' => return Ok(()),
                '\0' => return Err(NotSimple::Syntax("control character")),
                letter => self.word.push(letter),
            }
        }
        Err(NotSimple::Syntax("quote without an end"))
    }

    fn take_double_quoted(
        &mut self,
        letters: &mut impl Iterator<Item = char>,
    ) -> Result<(), NotSimple> {
        self.begin_quote();
        while let Some(letter) = letters.next() {
            match letter {
                '"' => return Ok(()),
                '$' => return Err(NotSimple::Syntax("substitution ($)")),
                '`' => return Err(NotSimple::Syntax("substitution (`)")),
                '\0' => return Err(NotSimple::Syntax("control character")),
                '\\' => match letters.next() {
                    Some('\n') => {}
                    Some(letter @ ('"' | '\\' | '$' | '`')) => self.word.push(letter),
                    Some(letter) => self.word.extend(['\\', letter]),
                    None => break,
                },
                letter => self.word.push(letter),
            }
        }
        Err(NotSimple::Syntax("quote without an end"))
    }

    fn end_word(&mut self) {
        if self.is_in_word {
            self.words.push(Word {
                text: std::mem::take(&mut self.word),
                plain: self.plain,
            });
        }
        self.plain = 0;
        self.is_in_word = false;
        self.was_quoted = false;
    }

    /// Ends a line. An empty line is not a command.
    fn end_line(&mut self) -> Result<(), NotSimple> {
        self.end_word();
        if self.words.is_empty() {
            return Ok(());
        }
        self.end_command(Link::Ends)
    }

    fn end_command(&mut self, link: Link) -> Result<(), NotSimple> {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        let is_set = words.iter().take_while(|word| word.variable().is_some());
        let count = is_set.count();
        for name in words.iter().take(count).filter_map(Word::variable) {
            if !HARMLESS_VARIABLES.contains(&name) {
                let name = name.to_owned();
                return Err(NotSimple::Variable { name });
            }
        }
        let words: Vec<String> = words
            .into_iter()
            .skip(count)
            .map(|word| word.text)
            .collect();
        if words.is_empty() {
            return Err(NotSimple::NoCommand);
        }
        self.commands.push(SimpleCommand { words });
        self.needs_next = link == Link::NeedsNext;
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<SimpleCommand>, NotSimple> {
        self.end_word();
        if !self.words.is_empty() {
            self.end_command(Link::Ends)?;
        }
        if self.needs_next || self.commands.is_empty() {
            return Err(NotSimple::NoCommand);
        }
        Ok(self.commands)
    }
}

impl Word {
    /// Returns the variable that the word sets if it stands before a command. A shell takes a word
    /// for an assignment only if the name and the sign are not quoted.
    fn variable(&self) -> Option<&str> {
        let plain = self.text.get(..self.plain)?;
        let (name, _) = plain.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        let mut letters = name.bytes();
        let begins = letters
            .next()
            .is_some_and(|letter| letter.is_ascii_alphabetic() || letter == b'_');
        let goes_on = letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_');
        (begins && goes_on).then_some(name)
    }
}
