//! A shell command line, taken apart as far as it is needed to know whose exit code it has.
//!
//! This is no shell. Parts that it does not understand are marked as [`CommandLine::is_tangled`],
//! and then nobody concludes anything from the exit code.

/// The operator between two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` and `|&`
    Pipe,
    /// `;` or a new line
    Then,
    /// `&`
    Background,
}

/// One command of the line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    /// Its words without quotes.
    pub(super) words: Vec<String>,
    /// The operator that follows it; `None` at the end of the line.
    pub(super) joint: Option<Joint>,
}

/// A command line in its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CommandLine {
    /// The commands, in order.
    pub(super) commands: Vec<Simple>,
    /// True if it has parts that are not understood: groups, loops, conditions.
    pub(super) is_tangled: bool,
    /// True if its output goes into a file, or if a part of it is the output of another command.
    pub(super) does_more: bool,
}

/// Words that make a line more than a list of commands.
const TANGLES: [&str; 11] = [
    "if", "for", "while", "until", "case", "select", "function", "{", "}", "!", "do",
];

/// The number of bytes of a command line that are read.
const MAX_BYTES: usize = 64 << 10;

impl CommandLine {
    /// Takes a command line apart.
    pub(super) fn read(text: &str) -> Self {
        let mut reader = Reader::default();
        if text.len() > MAX_BYTES {
            reader.line.is_tangled = true;
        }
        reader.read(&text[..text.floor_char_boundary(MAX_BYTES)]);
        reader.line
    }
}

#[derive(Default)]
struct Reader {
    line: CommandLine,
    words: Vec<String>,
    /// The word that is being read.
    word: Option<String>,
    /// The words that end here-documents which begin at the next line.
    documents: Vec<String>,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            rest = self.take(next, rest);
        }
        self.end_command(None);
    }

    /// Takes the token that begins with this character. Returns the rest.
    fn take<'a>(&mut self, next: char, rest: &'a str) -> &'a str {
        let after = &rest[next.len_utf8()..];
        match next {
            '\'' => self.quoted(after, '\''),
            '"' => self.quoted(after, '"'),
            '\\' => {
                let Some(escaped) = after.chars().next() else {
                    return after;
                };
                if escaped != '\n' {
                    self.word.get_or_insert_default().push(escaped);
                }
                &after[escaped.len_utf8()..]
            }
            '#' if self.word.is_none() => after.find('\n').map_or("", |end| &after[end..]),
            '$' if after.starts_with('(') => self.substitution(after),
            '`' | '(' | ')' => {
                self.line.is_tangled = true;
                self.end_word();
                after
            }
            '<' if after.starts_with("<<") => {
                self.word.get_or_insert_default().push_str("<<<");
                &after[2..]
            }
            '<' if after.starts_with('<') => self.document(&after[1..]),
            '\n' => {
                self.end_command(Some(Joint::Then));
                self.skip_documents(after)
            }
            '&' if self.is_redirection(after) => {
                self.word.get_or_insert_default().push('&');
                after
            }
            '&' | '|' | ';' => self.joint(rest),
            space if space.is_whitespace() => {
                self.end_word();
                after
            }
            '>' => {
                self.line.does_more |= !leads_nowhere(after);
                self.word.get_or_insert_default().push('>');
                after
            }
            other => {
                self.word.get_or_insert_default().push(other);
                after
            }
        }
    }

    /// Returns whether an ampersand belongs to a redirection: `2>&1`, `&>file`.
    fn is_redirection(&self, after: &str) -> bool {
        let follows = self
            .word
            .as_ref()
            .is_some_and(|word| word.ends_with(['>', '<']));
        follows || after.starts_with('>')
    }

    fn quoted<'a>(&mut self, rest: &'a str, quote: char) -> &'a str {
        let word = self.word.get_or_insert_default();
        let mut characters = rest.char_indices();
        while let Some((at, next)) = characters.next() {
            match next {
                _ if next == quote => return &rest[at + next.len_utf8()..],
                '\\' if quote == '"' => {
                    if let Some((_, escaped)) = characters.next() {
                        word.push(escaped);
                    }
                }
                '`' if quote == '"' => {
                    self.line.does_more = true;
                    word.push('`');
                }
                '(' if quote == '"' && word.ends_with('$') => {
                    self.line.does_more = true;
                    word.push('(');
                }
                other => word.push(other),
            }
        }
        self.line.is_tangled = true;
        ""
    }

    /// Passes over `$( … )`, whose exit code is not that of the line.
    fn substitution<'a>(&mut self, rest: &'a str) -> &'a str {
        self.line.does_more = true;
        self.word.get_or_insert_default().push('$');
        let mut depth = 0_usize;
        for (at, next) in rest.char_indices() {
            match next {
                '(' => depth += 1,
                ')' if depth == 1 => return &rest[at + 1..],
                ')' => depth -= 1,
                _ => {}
            }
        }
        self.line.is_tangled = true;
        ""
    }

    /// Reads the word that ends a here-document.
    fn document<'a>(&mut self, rest: &'a str) -> &'a str {
        self.end_word();
        let rest = rest
            .strip_prefix('-')
            .unwrap_or(rest)
            .trim_start_matches([' ', '\t']);
        let end = rest
            .find(|next: char| next.is_whitespace() || "|&;<>()".contains(next))
            .unwrap_or(rest.len());
        let word = rest[..end].replace(['\'', '"', '\\'], "");
        if !word.is_empty() {
            self.documents.push(word);
        }
        &rest[end..]
    }

    fn skip_documents<'a>(&mut self, rest: &'a str) -> &'a str {
        let mut rest = rest;
        for word in std::mem::take(&mut self.documents) {
            loop {
                let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
                rest = after;
                if line.trim_start_matches('\t') == word || rest.is_empty() {
                    break;
                }
            }
        }
        rest
    }

    fn joint<'a>(&mut self, rest: &'a str) -> &'a str {
        let joints = [
            ("&&", Joint::And),
            ("||", Joint::Or),
            ("|&", Joint::Pipe),
            ("|", Joint::Pipe),
            (";", Joint::Then),
            ("&", Joint::Background),
        ];
        for (sign, joint) in joints {
            if let Some(after) = rest.strip_prefix(sign) {
                self.end_command(Some(joint));
                return after;
            }
        }
        rest
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self, joint: Option<Joint>) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if let Some(first) = words.first() {
            self.line.is_tangled |= TANGLES.contains(&first.as_str());
            self.line.commands.push(Simple { words, joint });
        }
        // A line that ends with a separator ends where its last command does.
        if joint.is_none()
            && let Some(last) = self.line.commands.last_mut()
            && last.joint == Some(Joint::Then)
        {
            last.joint = None;
        }
    }
}

/// Returns whether output that is redirected changes no file: `2>&1`, `> /dev/null`.
fn leads_nowhere(after: &str) -> bool {
    let target = after.trim_start_matches(['>', '|']).trim_start();
    if let Some(stream) = target.strip_prefix('&') {
        return stream.starts_with(|next: char| next.is_ascii_digit() || next == '-');
    }
    let end = target
        .find(|next: char| next.is_whitespace() || "|&;<>()".contains(next))
        .unwrap_or(target.len());
    ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&&target[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let line = CommandLine::read(text);
        let commands = line.commands.iter().map(|command| {
            let joint = match command.joint {
                None => "",
                Some(Joint::And) => " &&",
                Some(Joint::Or) => " ||",
                Some(Joint::Pipe) => " |",
                Some(Joint::Then) => " ;",
                Some(Joint::Background) => " &",
            };
            format!("[{}]{joint}", command.words.join(","))
        });
        let tangled = if line.is_tangled { " tangled" } else { "" };
        format!("{}{tangled}", commands.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn command_lines_are_taken_apart() {
        for (text, expected) in [
            ("cargo test", "[cargo,test]"),
            ("cd a && cargo test", "[cd,a] && [cargo,test]"),
            ("cargo test 2>&1 | tail -5", "[cargo,test,2>&1] | [tail,-5]"),
            ("cargo test || true", "[cargo,test] || [true]"),
            ("cargo test; echo $?", "[cargo,test] ; [echo,$?]"),
            ("cargo test;", "[cargo,test]"),
            ("cargo test\n", "[cargo,test]"),
            ("cargo test &> log", "[cargo,test,&>,log]"),
            ("server &\ncargo test", "[server] & [cargo,test]"),
            ("a &&\n  b", "[a] && [b]"),
            ("a 'x && y' \"z; \\\" w\" # c && d", "[a,x && y,z; \" w]"),
            ("X=$(a; b) c", "[X=$,c]"),
            ("cat > f <<'EOF'\ncargo test\nEOF\nls", "[cat,>,f] ; [ls]"),
            ("cat <<< here && b", "[cat,<<<,here] && [b]"),
            ("(cd a; b)", "[cd,a] ; [b] tangled"),
            (
                "for a in b; do c; done",
                "[for,a,in,b] ; [do,c] ; [done] tangled",
            ),
            ("a 'open", "[a,open] tangled"),
            ("", ""),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn output_that_goes_into_a_file_and_inner_commands_are_noticed() {
        for (text, does_more) in [
            ("a 2>&1", false),
            ("a > /dev/null 2>&1", false),
            ("a &>/dev/null; b 2>/dev/null | c", false),
            ("grep '=>' a", false),
            ("grep \"a > b\" c", false),
            ("a > b", true),
            ("a >> /dev/null >b", true),
            ("a >| /dev/nullify", true),
            ("a &> b", true),
            ("a >&b", true),
            ("a $(b)", true),
            ("a \"x $(b)\"", true),
            ("a \"`b`\"", true),
            ("a '$(b) `c`'", false),
        ] {
            assert_eq!(CommandLine::read(text).does_more, does_more, "{text}");
        }
    }
}
