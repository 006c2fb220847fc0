//! An answer in its sentences. Code blocks, quotations and links are not the words of the answer.

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word without the punctuation around it.
    Word(String),
    /// A code span without its backticks.
    Code(String),
    /// A colon, a dash or the border of a table's cell.
    Border,
}

/// A sentence, an item of a list, or a row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) tokens: Vec<Token>,
    is_question: bool,
}

/// Words that make a sentence something else than a report of what was done.
const DOUBTS: [&str; 12] = [
    "not", "without", "could", "should", "may", "will", "if", "already", "existing", "except",
    "some", "cannot",
];

/// Beginnings of such words: `needs`, `expected`, `planned`.
const DOUBT_BEGINS: [&str; 4] = ["need", "expect", "plan", "suggest"];

impl Sentence {
    /// Takes an answer apart.
    pub(super) fn all(answer: &str) -> Vec<Self> {
        let mut sentences = Vec::new();
        let mut fence: Option<&str> = None;
        for line in answer.lines() {
            let text = line.trim();
            let mark = ["```", "~~~"].into_iter().find(|it| text.starts_with(it));
            match (fence, mark) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                (Some(_), _) => {}
                (None, None) if text.starts_with('>') => {}
                (None, None) => read_line(text, &mut sentences),
            }
        }
        sentences
    }

    /// Returns whether it speaks of a wish, a doubt, or what others have done.
    pub(super) fn is_doubtful(&self) -> bool {
        let words = self.words();
        let is_doubt = |word: &&str| {
            DOUBTS.contains(word)
                || word.ends_with("n't")
                || word.ends_with("n’t")
                || DOUBT_BEGINS.iter().any(|begin| word.starts_with(begin))
        };
        let has_pair = |pair: [&str; 2]| words.windows(2).any(|two| two == pair);
        let names_ci = self
            .tokens
            .iter()
            .any(|token| matches!(token, Token::Word(word) if word == "CI"));
        let lowered: Vec<&str> = words.clone();
        self.is_question
            || names_ci
            || lowered.iter().any(is_doubt)
            || [["to", "run"], ["was", "failing"], ["were", "failing"]]
                .into_iter()
                .any(has_pair)
    }

    /// Returns its words outside code, in small letters as far as they were read so.
    pub(super) fn words(&self) -> Vec<&str> {
        let words = self.tokens.iter().filter_map(|token| match token {
            Token::Word(word) if word == "CI" => None,
            Token::Word(word) => Some(word.as_str()),
            Token::Code(_) | Token::Border => None,
        });
        words.collect()
    }

    /// Returns its code spans.
    pub(super) fn codes(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().filter_map(|token| match token {
            Token::Code(code) => Some(code.as_str()),
            Token::Word(_) | Token::Border => None,
        })
    }
}

/// Reads the sentences of a line.
fn read_line(line: &str, sentences: &mut Vec<Sentence>) {
    let mut reader = LineReader::default();
    let mut rest = without_item_mark(line);
    while let Some(letter) = rest.chars().next() {
        rest = reader.take(letter, rest);
        if reader.is_at_end(rest) {
            sentences.extend(reader.finish());
        }
    }
    sentences.extend(reader.finish());
}

/// Leaves out the mark before an item of a list.
fn without_item_mark(line: &str) -> &str {
    let line = line.trim_start_matches('#').trim_start();
    let marks = ["- [x] ", "- [ ] ", "- ", "* ", "+ ", "• "];
    let unmarked = marks.iter().find_map(|mark| line.strip_prefix(mark));
    unmarked.unwrap_or(line)
}

#[derive(Default)]
struct LineReader {
    tokens: Vec<Token>,
    word: String,
    /// The punctuation behind the last word.
    last: Option<char>,
}

impl LineReader {
    /// Takes what begins with this letter. Returns the rest.
    fn take<'a>(&mut self, letter: char, rest: &'a str) -> &'a str {
        let after = &rest[letter.len_utf8()..];
        match letter {
            '`' => {
                self.end_word();
                let run = rest.len() - rest.trim_start_matches('`').len();
                let (mark, inner) = rest.split_at(run);
                let (code, after) = inner.split_once(mark).unwrap_or((inner, ""));
                self.tokens.push(Token::Code(code.trim().to_owned()));
                after
            }
            '"' | '“' => {
                self.end_word();
                let end = if letter == '"' { '"' } else { '”' };
                // Without an end it is an inch, or a slip.
                after.split_once(end).map_or(after, |(_, after)| after)
            }
            // A link: its words count, its address does not.
            ']' if after.starts_with('(') => {
                self.end_word();
                after.split_once(')').map_or("", |(_, after)| after)
            }
            '|' | '—' | '–' => {
                self.end_word();
                self.tokens.push(Token::Border);
                after
            }
            _ if letter.is_whitespace() => {
                self.end_word();
                after
            }
            _ => {
                self.word.push(letter);
                after
            }
        }
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        self.last = word.chars().next_back();
        let is_outer = |letter: char| !letter.is_alphanumeric() && !"./_~-".contains(letter);
        let inner = word.trim_matches(is_outer).trim_end_matches('.');
        let inner = inner.trim_matches(['*', '-']);
        if !inner.is_empty() && !inner.contains("://") {
            let word = if inner == "CI" {
                inner.to_owned()
            } else if inner.contains(['/', '.']) {
                // A path keeps its letters.
                inner.to_owned()
            } else {
                inner.to_lowercase()
            };
            self.tokens.push(Token::Word(word));
        }
        if word.ends_with(':') || word == "-" {
            self.tokens.push(Token::Border);
        }
    }

    /// Returns whether a sentence has ended, with the rest of its line behind it.
    fn is_at_end(&mut self, rest: &str) -> bool {
        let ends = |letter: char| matches!(letter, '.' | '!' | '?');
        let is_end = self.word.ends_with(ends) && rest.starts_with(char::is_whitespace);
        if is_end {
            self.end_word();
        }
        is_end
    }

    fn finish(&mut self) -> Option<Sentence> {
        self.end_word();
        let tokens = std::mem::take(&mut self.tokens);
        let is_question = self.last.take() == Some('?');
        (!tokens.is_empty()).then_some(Sentence {
            tokens,
            is_question,
        })
    }
}
