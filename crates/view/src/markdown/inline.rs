//! The words of a line while they are read: each with the role of the marks around it.

use std::ops::Range;

use pulldown_cmark::{CowStr, LinkType};

use crate::{Line, Role};

/// The words of the line that is being read.
#[derive(Default)]
pub(super) struct Inline {
    words: Vec<(Role, String)>,
    /// The roles of the marks that are open.
    roles: Vec<Role>,
    /// The marks to be written when an open emphasis ends that was not meant as emphasis.
    literal_marks: Vec<Option<String>>,
    links: Vec<OpenLink>,
}

struct OpenLink {
    address: String,
    text: String,
    is_automatic: bool,
}

impl Inline {
    /// Adds words with the role of the innermost mark.
    pub(super) fn push(&mut self, words: &str) {
        self.push_as(self.roles.last().copied().unwrap_or(Role::Plain), words);
    }

    pub(super) fn push_as(&mut self, role: Role, words: &str) {
        if let Some(link) = self.links.last_mut() {
            link.text.push_str(words);
        }
        match self.words.last_mut() {
            Some((last, text)) if *last == role => text.push_str(words),
            _ => self.words.push((role, words.to_owned())),
        }
    }

    /// Begins words of another role.
    pub(super) fn open(&mut self, role: Role) {
        self.roles.push(role);
    }

    /// Ends the words of the role that began last.
    pub(super) fn close(&mut self) {
        self.roles.pop();
    }

    /// Begins emphasis. Underlines around one word, as in `__init__`, are part of a name.
    pub(super) fn open_emphasis(&mut self, role: Role, source: &str, place: Range<usize>) {
        let marked = &source[place];
        let is_name = marked.starts_with('_') && !marked.contains(char::is_whitespace);
        let mark = if role == Role::Strong { "__" } else { "_" };
        if is_name {
            self.push(mark);
            self.open(self.roles.last().copied().unwrap_or(Role::Plain));
        } else {
            self.open(role);
        }
        self.literal_marks.push(is_name.then(|| mark.to_owned()));
    }

    /// Ends the emphasis that began last.
    pub(super) fn close_emphasis(&mut self) {
        self.close();
        if let Some(Some(mark)) = self.literal_marks.pop() {
            self.push(&mark);
        }
    }

    /// Begins a link.
    pub(super) fn open_link(&mut self, kind: LinkType, address: &CowStr<'_>) {
        self.links.push(OpenLink {
            address: address.to_string(),
            text: String::new(),
            is_automatic: matches!(kind, LinkType::Autolink | LinkType::Email),
        });
    }

    /// Ends a link: its address comes behind its text, unless it is its text.
    pub(super) fn close_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let is_said = link.is_automatic || link.text == link.address || link.address.is_empty();
        if !is_said {
            let lead = if self.words.is_empty() { "" } else { " " };
            self.push_as(Role::Muted, &format!("{lead}({})", link.address));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Takes the words as a line; the marks that are open stay open.
    pub(super) fn take(&mut self) -> Line {
        let words = std::mem::take(&mut self.words);
        words.iter().fold(Line::default(), |line, (role, words)| {
            line.with(*role, words)
        })
    }
}
