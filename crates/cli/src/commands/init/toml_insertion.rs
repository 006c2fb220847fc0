//! Adds a table at the end of a TOML text. Every byte that was there stays as it was.
//!
//! No whole parser is needed: a table with a heading of its own may stand at the end of any TOML text
//! that does not define its name in another way. So the statements are found, and their names read.

use std::iter::Peekable;
use std::str::Chars;

use super::insertion::{Insertion, InsertionRefusal};

/// A table that is to be added: its names from the outermost, and its lines.
pub(super) struct NewTable<'a> {
    pub(super) outer: &'a str,
    pub(super) name: &'a str,
    pub(super) lines: Vec<String>,
}

impl NewTable<'_> {
    fn text(&self) -> String {
        let heading = format!("[{}.{}]", self.outer, self.name);
        let lines = self.lines.iter().map(String::as_str);
        let all: Vec<&str> = [heading.as_str()].into_iter().chain(lines).collect();
        all.join("\n") + "\n"
    }
}

/// Adds a table as the last.
pub(super) fn append(text: &str, new: &NewTable) -> Result<Insertion, InsertionRefusal> {
    for statement in statements(text)? {
        let name: Vec<&str> = statement.name.iter().map(String::as_str).collect();
        if name.starts_with(&[new.outer, new.name]) {
            return Ok(Insertion::Present);
        }
        if name.first() == Some(&new.outer) && !statement.has_heading {
            return Err(InsertionRefusal::NoHeading);
        }
    }
    let mut added = new.text();
    if text.contains("\r\n") {
        added = added.replace('\n', "\r\n");
    }
    let line_break = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let between = match text {
        "" => String::new(),
        text if text.ends_with('\n') => line_break.to_owned(),
        _ => line_break.repeat(2),
    };
    Ok(Insertion::Made {
        text: format!("{text}{between}{added}"),
        added: added.trim_end().to_owned(),
    })
}

/// A heading or a key, with all its names from the outermost.
struct Statement {
    name: Vec<String>,
    /// True for a heading, and for a key below one.
    has_heading: bool,
}

/// Finds all headings and keys.
fn statements(text: &str) -> Result<Vec<Statement>, InsertionRefusal> {
    let mut scan = Scan {
        rest: text.chars().peekable(),
    };
    let mut found = Vec::new();
    let mut heading: Vec<String> = Vec::new();
    while let Some(first) = scan.next_start() {
        if first == '[' {
            heading = scan.heading()?;
            found.push(Statement {
                name: heading.clone(),
                has_heading: true,
            });
        } else {
            let key = scan.name('=')?;
            scan.value()?;
            found.push(Statement {
                has_heading: !heading.is_empty(),
                name: heading.iter().cloned().chain(key).collect(),
            });
        }
    }
    Ok(found)
}

/// The part of a text that was not read yet.
struct Scan<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Scan<'_> {
    /// Passes over blanks and comments. Returns the first character of the next statement.
    fn next_start(&mut self) -> Option<char> {
        loop {
            match *self.rest.peek()? {
                '#' => self.pass_line(),
                blank if blank.is_whitespace() => _ = self.rest.next(),
                other => return Some(other),
            }
        }
    }

    fn pass_line(&mut self) {
        while self.rest.next_if(|letter| *letter != '\n').is_some() {}
    }

    /// Reads `[a.b]` or `[[a.b]]`.
    fn heading(&mut self) -> Result<Vec<String>, InsertionRefusal> {
        self.rest.next();
        let is_list = self.rest.next_if_eq(&'[').is_some();
        let name = self.name(']')?;
        if is_list && self.rest.next_if_eq(&']').is_none() {
            return Err(InsertionRefusal::NotToml);
        }
        self.pass_line();
        Ok(name)
    }

    /// Reads names with dots between them, and the character that ends them.
    fn name(&mut self, end: char) -> Result<Vec<String>, InsertionRefusal> {
        let mut parts = vec![String::new()];
        while let Some(letter) = self.rest.next() {
            match letter {
                '\n' => break,
                _ if letter == end => return Ok(parts),
                '.' => parts.push(String::new()),
                '"' | '\'' => {
                    let quoted = self.string(letter)?;
                    parts
                        .last_mut()
                        .into_iter()
                        .for_each(|part| part.push_str(&quoted));
                }
                ' ' | '\t' => {}
                _ => parts
                    .last_mut()
                    .into_iter()
                    .for_each(|part| part.push(letter)),
            }
        }
        Err(InsertionRefusal::NotToml)
    }

    /// Passes over a value, up to the end of its last line.
    fn value(&mut self) -> Result<(), InsertionRefusal> {
        let mut depth = 0_usize;
        while let Some(letter) = self.rest.next() {
            match letter {
                '#' => self.pass_line(),
                '"' | '\'' => _ = self.string(letter)?,
                '[' | '{' => depth += 1,
                ']' | '}' => depth = depth.checked_sub(1).ok_or(InsertionRefusal::NotToml)?,
                '\n' if depth == 0 => return Ok(()),
                _ => {}
            }
        }
        if depth == 0 {
            Ok(())
        } else {
            Err(InsertionRefusal::NotToml)
        }
    }

    /// Reads a string whose first quote was read, on one line or on several.
    fn string(&mut self, quote: char) -> Result<String, InsertionRefusal> {
        if self.rest.next_if_eq(&quote).is_none() {
            return self.string_until(quote, 1);
        }
        if self.rest.next_if_eq(&quote).is_none() {
            return Ok(String::new());
        }
        self.string_until(quote, 3)
    }

    /// Reads up to this many quotes in a row.
    fn string_until(&mut self, quote: char, quotes: usize) -> Result<String, InsertionRefusal> {
        let mut read = String::new();
        let mut in_a_row = 0;
        while let Some(letter) = self.rest.next() {
            if letter == quote {
                in_a_row += 1;
                if in_a_row == quotes {
                    // Two more quotes may be the last characters of the string.
                    while quotes == 3 && self.rest.next_if_eq(&quote).is_some() {}
                    return Ok(read);
                }
                continue;
            }
            in_a_row = 0;
            match letter {
                '\n' if quotes == 1 => break,
                '\\' if quote == '"' => _ = self.rest.next(),
                other => read.push(other),
            }
        }
        Err(InsertionRefusal::NotToml)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> NewTable<'static> {
        NewTable {
            outer: "mcp_servers",
            name: "us",
            lines: vec!["command = \"us\"".to_owned()],
        }
    }

    fn made(text: &str) -> String {
        match append(text, &server()).unwrap() {
            Insertion::Made { text, .. } => text,
            Insertion::Present => panic!("present"),
        }
    }

    #[test]
    fn a_table_comes_last_after_an_empty_line() {
        let table = "[mcp_servers.us]\ncommand = \"us\"\n";
        assert_eq!(made(""), table);
        assert_eq!(made("a = 1\n"), format!("a = 1\n\n{table}"));
        assert_eq!(made("a = 1"), format!("a = 1\n\n{table}"));
        assert_eq!(
            made("a = 1\r\n"),
            format!("a = 1\r\n\r\n{}", table.replace('\n', "\r\n"))
        );
    }

    #[test]
    fn a_table_that_is_there_is_left_alone() {
        for text in [
            "[mcp_servers.us]\ncommand = 'x'",
            "[ mcp_servers . \"us\" ] # ours",
            "[mcp_servers]\nus = { command = \"x\" }\n",
            "[mcp_servers.us.env]\nA = \"1\"\n",
            "mcp_servers.us.command = 'x'\n",
        ] {
            assert_eq!(append(text, &server()), Ok(Insertion::Present), "{text}");
        }
    }

    #[test]
    fn only_real_headings_count() {
        for text in [
            "a = \"\"\"\n[mcp_servers.us]\n\\\"\"\" end\"\"\"\n",
            "a = '''\n[mcp_servers.us]\n'''\nb = ''\n",
            "a = [\n  [\"mcp_servers.us\"], # ]\n]\n",
            "# [mcp_servers.us]\n[[x]]\n[mcp_servers.other]\nus = \"]\"\n",
            "[mcp_servers]\nother = { command = \"x\" }\n",
            "[a]\nmcp_servers = 1\n",
        ] {
            assert!(made(text).starts_with(text), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        let refused = |text: &str| append(text, &server()).unwrap_err();
        assert_eq!(refused("mcp_servers = {}\n"), InsertionRefusal::NoHeading);
        assert_eq!(
            refused("mcp_servers.x.command = 'x'\n"),
            InsertionRefusal::NoHeading
        );
        for text in [
            "a = \"\"\"\n",
            "a = [1\n",
            "a\n",
            "[a\n",
            "a = 'x\n",
            "a = ]\n",
            "[[a]\n",
        ] {
            assert_eq!(refused(text), InsertionRefusal::NotToml, "{text}");
        }
    }
}
