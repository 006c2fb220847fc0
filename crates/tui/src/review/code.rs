//! Code in colours: comments, texts, numbers and the words of most languages. The same rules colour it
//! on the page (`code.js`).

use pi_subagents_view::Role;

/// Longer lines have no colours.
const LONGEST: usize = 2000;

/// Words of programming languages, in the order of letters.
const KEYWORDS: [&str; 90] = [
    "False",
    "None",
    "Self",
    "True",
    "abstract",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "crate",
    "def",
    "default",
    "defer",
    "del",
    "do",
    "dyn",
    "elif",
    "else",
    "enum",
    "except",
    "export",
    "extends",
    "false",
    "final",
    "finally",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "go",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "is",
    "lambda",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "new",
    "nil",
    "none",
    "not",
    "null",
    "or",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "switch",
    "this",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "unsafe",
    "use",
    "using",
    "var",
    "void",
    "where",
    "while",
    "with",
    "yield",
];

/// A piece of a line of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CodePiece<'a> {
    pub(super) text: &'a str,
    /// The role of the piece, unless it looks as the rest of its line.
    pub(super) role: Option<Role>,
}

/// Takes a line of code apart. The pieces together are the line.
pub(super) fn pieces(line: &str) -> Vec<CodePiece<'_>> {
    let mut pieces = Vec::new();
    if line.len() > LONGEST {
        pieces.push(CodePiece {
            text: line,
            role: None,
        });
        return pieces;
    }
    let (mut at, mut plain_from) = (0, 0);
    while at < line.len() {
        let rest = &line[at..];
        let (length, role) = first_piece(rest, line[..at].chars().next_back());
        if let Some(role) = role {
            push(&mut pieces, &line[plain_from..at], None);
            push(&mut pieces, &rest[..length], Some(role));
            plain_from = at + length;
        }
        at += length;
    }
    push(&mut pieces, &line[plain_from..], None);
    pieces
}

fn push<'a>(pieces: &mut Vec<CodePiece<'a>>, text: &'a str, role: Option<Role>) {
    if !text.is_empty() {
        pieces.push(CodePiece { text, role });
    }
}

/// Returns the length of what a text begins with, at least one character, and its role.
fn first_piece(rest: &str, before: Option<char>) -> (usize, Option<Role>) {
    let Some(first) = rest.chars().next() else {
        return (0, None);
    };
    if let Some(length) = comment(rest) {
        return (length, Some(Role::Muted));
    }
    if matches!(first, '"' | '\'' | '`')
        && let Some(length) = quoted(rest, first)
    {
        return (length, Some(Role::Literal));
    }
    let is_inside = before.is_some_and(is_of_word);
    if first.is_ascii_digit() && !is_inside {
        let is_number = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '.');
        return (length_while(rest, is_number), Some(Role::Literal));
    }
    if is_of_word(first) {
        let length = length_while(rest, is_of_word);
        let is_keyword = !is_inside && KEYWORDS.binary_search(&&rest[..length]).is_ok();
        return (length, is_keyword.then_some(Role::Keyword));
    }
    (first.len_utf8(), None)
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn length_while(text: &str, is_in: impl Fn(char) -> bool) -> usize {
    text.find(|next: char| !is_in(next)).unwrap_or(text.len())
}

/// Returns the length of the comment with which a text begins.
fn comment(rest: &str) -> Option<usize> {
    let until = |end: &str| rest.find(end).map_or(rest.len(), |at| at + end.len());
    if rest.starts_with("//") {
        return Some(rest.len());
    }
    if rest.starts_with("/*") {
        return Some(until("*/"));
    }
    if rest.starts_with("<!--") {
        return Some(until("-->"));
    }
    let behind = rest.strip_prefix('#')?;
    // Attributes, the first line of a script, and colours are no comments.
    let is_other = behind.starts_with(['[', '!', '{']) || is_colour(behind);
    (!is_other).then_some(rest.len())
}

/// Returns whether a text begins with a colour, as styles write it.
fn is_colour(text: &str) -> bool {
    let length = length_while(text, |next| next.is_ascii_hexdigit());
    let ends = !text[length..].starts_with(is_of_word);
    (3..=8).contains(&length) && ends
}

/// Returns the length of a quoted text with its quotes; `None` if it does not end.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, next)) = characters.next() {
        if next == quote {
            return Some(at + quote.len_utf8());
        }
        if next == '\\' {
            characters.next();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let pieces = pieces(line);
        let whole: String = pieces.iter().map(|piece| piece.text).collect();
        assert_eq!(whole, line);
        let shown = pieces.iter().map(|piece| match piece.role {
            None => piece.text.to_owned(),
            Some(Role::Muted) => format!("[{}]", piece.text),
            Some(Role::Keyword) => format!("<{}>", piece.text),
            Some(_) => format!("({})", piece.text),
        });
        shown.collect()
    }

    #[test]
    fn code_of_many_languages_is_taken_apart() {
        let lines = [
            r#"let x = foo("a \" b", 'c') + 0x1f; // done"#,
            "x1 = letter_1 if 3.5e3 else None  # why",
            "#[derive(Debug)] color: #ff00aa; url(#a1b)",
            "/* one */ return `t` <!-- x --> fn",
            "it's a text that does not end, für 12ä",
            "",
        ];
        insta::assert_snapshot!(lines.map(shown).join("\n"), @r#"
        <let> x = foo(("a \" b"), ('c')) + (0x1f); [// done]
        x1 = letter_1 <if> (3.5e3) <else> <None>  [# why]
        #[derive(Debug)] color: #ff00aa; url(#a1b)
        [/* one */] <return> (`t`) [<!-- x -->] <fn>
        it's a text that does <not> end, für (12)ä
        "#);
    }

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }
}
