//! The blocks of a text: paragraphs, headings, lists, quotes, code and tables, one below the other.

use std::ops::Range;

use pulldown_cmark::{Tag, TagEnd};

use super::Widths;
use super::inline::Inline;
use super::margin::Margin;
use super::table::Table;
use crate::wrap::wrap;
use crate::{Line, Role};

/// The margin between code and the words around it.
const CODE_MARGIN: &str = "  ";

/// The widest horizontal rule.
const LONGEST_RULE: usize = 40;

/// Writes the lines of a text as its blocks begin and end.
pub(super) struct Blocks<'a> {
    source: &'a str,
    widths: Widths,
    lines: Vec<Line>,
    margin: Margin,
    inline: Inline,
    /// The numbers of the next items of the open lists; `None` for a list with dots.
    numbers: Vec<Option<u64>>,
    /// The code or HTML that is being read.
    verbatim: Option<Verbatim>,
    table: Option<Table>,
}

struct Verbatim {
    role: Role,
    lead: &'static str,
    text: String,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(source: &'a str, widths: Widths) -> Self {
        Self {
            source,
            widths,
            lines: Vec::new(),
            margin: Margin::new(widths.lines),
            inline: Inline::default(),
            numbers: Vec::new(),
            verbatim: None,
            table: None,
        }
    }

    pub(super) fn finish(mut self) -> Vec<Line> {
        self.end_block();
        self.lines
    }

    pub(super) fn start(&mut self, tag: Tag<'_>, place: Range<usize>) {
        match tag {
            Tag::Emphasis => self
                .inline
                .open_emphasis(Role::Emphasis, self.source, place),
            Tag::Strong => self.inline.open_emphasis(Role::Strong, self.source, place),
            Tag::Link {
                link_type,
                dest_url,
                ..
            }
            | Tag::Image {
                link_type,
                dest_url,
                ..
            } => self.inline.open_link(link_type, &dest_url),
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            Tag::TableCell => {}
            block => self.start_block(block, place),
        }
    }

    fn start_block(&mut self, tag: Tag<'_>, place: Range<usize>) {
        self.end_block();
        self.keep_empty_line(place.start);
        match tag {
            Tag::Heading { level, .. } => {
                self.inline.open(Role::Heading);
                self.inline.push(&"#".repeat(level as usize));
                self.inline.push(" ");
            }
            Tag::BlockQuote(_) => {
                self.margin.push_quote();
                self.inline.open(Role::Quote);
            }
            Tag::CodeBlock(_) => self.start_verbatim(Role::Code, CODE_MARGIN),
            Tag::HtmlBlock => self.start_verbatim(Role::Plain, ""),
            Tag::List(first) => self.numbers.push(first),
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => self.table = Some(Table::new(alignments)),
            _ => {}
        }
    }

    fn start_item(&mut self) {
        let mark = match self.numbers.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            _ => "- ".to_owned(),
        };
        self.margin.push_item(mark);
    }

    fn start_verbatim(&mut self, role: Role, lead: &'static str) {
        self.verbatim = Some(Verbatim {
            role,
            lead,
            text: String::new(),
        });
    }

    pub(super) fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong => self.inline.close_emphasis(),
            TagEnd::Link | TagEnd::Image => self.inline.close_link(),
            TagEnd::TableCell => {
                let cell = self.inline.take();
                if let Some(table) = &mut self.table {
                    table.push_cell(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {}
            block => self.finish_block(block),
        }
    }

    fn finish_block(&mut self, tag: TagEnd) {
        self.end_block();
        match tag {
            TagEnd::Heading(_) => self.inline.close(),
            TagEnd::BlockQuote(_) => {
                self.inline.close();
                self.margin.pop();
            }
            TagEnd::Item => {
                // An item without words still has its mark.
                if self.margin.has_mark() {
                    self.write(&Line::default());
                }
                self.margin.pop();
            }
            TagEnd::List(_) => {
                self.numbers.pop();
            }
            _ => {}
        }
    }

    /// Adds words of a paragraph, or more of the code that is being read.
    pub(super) fn words(&mut self, words: &str) {
        match &mut self.verbatim {
            Some(verbatim) => verbatim.text.push_str(words),
            None => self.inline.push(words),
        }
    }

    /// Adds code between words. Its backticks stay, because a terminal may have no colours.
    pub(super) fn code(&mut self, words: &str) {
        self.inline.push_as(Role::Code, &format!("`{words}`"));
    }

    pub(super) fn rule(&mut self, place: Range<usize>) {
        self.end_block();
        self.keep_empty_line(place.start);
        let room = self.room().min(LONGEST_RULE);
        self.write(&Line::new(Role::Muted, &"─".repeat(room)));
    }

    /// Writes the words that were read as lines of their own.
    pub(super) fn end_line(&mut self) {
        if self.table.is_some() {
            self.inline.push(" ");
            return;
        }
        let line = self.inline.take();
        self.write_wrapped(&line, "");
    }

    /// Writes all that was read and not written yet.
    fn end_block(&mut self) {
        if let Some(verbatim) = self.verbatim.take() {
            for line in verbatim.text.lines() {
                self.write_wrapped(&Line::new(verbatim.role, line), verbatim.lead);
            }
        }
        if let Some(table) = self.table.take() {
            for line in table.draw(self.room_in(self.widths.tables)) {
                self.write(&line);
            }
        }
        if !self.inline.is_empty() {
            self.end_line();
        }
    }

    /// Writes an empty line in front of a block where its author did.
    fn keep_empty_line(&mut self, start: usize) {
        let before = self.source[..start].rsplit('\n').nth(1);
        let is_empty = |line: &str| line.chars().all(|character| " >".contains(character));
        if self.lines.is_empty() || !before.is_some_and(is_empty) {
            return;
        }
        let is_kept = self.lines.last().is_some_and(is_empty_line);
        if !is_kept {
            self.lines.push(self.margin.empty_line());
        }
    }

    fn room(&self) -> usize {
        self.room_in(self.widths.lines)
    }

    fn room_in(&self, columns: usize) -> usize {
        columns.saturating_sub(self.margin.width()).max(1)
    }

    fn write_wrapped(&mut self, line: &Line, lead: &str) {
        let lead = if lead.len() * 2 < self.room() {
            lead
        } else {
            ""
        };
        for row in wrap(line, self.room() - lead.len()) {
            let mut indented = Line::new(Role::Plain, lead);
            indented.extend(row.spans().iter().cloned());
            self.write(&indented);
        }
    }

    fn write(&mut self, line: &Line) {
        let mut written = self.margin.begin_line();
        written.extend(line.spans().iter().cloned());
        self.lines.push(written);
    }
}

/// Returns whether a line has nothing but bars of quotes.
fn is_empty_line(line: &Line) -> bool {
    line.spans()
        .iter()
        .all(|span| span.role() == Role::Quote && span.text().trim() == "│")
}
