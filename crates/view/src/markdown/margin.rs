//! The margin in front of a line: bars of quotes, marks of list items, and the space under them.

use pi_subagents_vocabulary::text;

use crate::{Line, Role, Span};

/// The bar beside a quote.
const BAR: &str = "│ ";

/// A margin takes no more columns than this, however wide the screen is.
const WIDEST: usize = 40;

/// All marks to the left of a line, from the outermost block to the innermost.
pub(super) struct Margin {
    levels: Vec<Level>,
    /// The number of columns that they take.
    width: usize,
    /// The largest number of columns that they may take.
    widest: usize,
    /// The number of levels that are too deep to add anything.
    hidden: usize,
}

struct Level {
    /// The mark of a list item, until it was written once.
    mark: Option<String>,
    /// The text in front of all other lines.
    further: Span,
}

impl Margin {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            levels: Vec::new(),
            width: 0,
            widest: (columns / 2).min(WIDEST),
            hidden: 0,
        }
    }

    /// Goes into a quote.
    pub(super) fn push_quote(&mut self) {
        self.push(None, Span::new(Role::Quote, BAR));
    }

    /// Goes into a list item.
    pub(super) fn push_item(&mut self, mark: String) {
        let further = " ".repeat(text::columns(&mark));
        self.push(Some(mark), Span::new(Role::Plain, &further));
    }

    fn push(&mut self, mark: Option<String>, further: Span) {
        let width = self.width + further.width();
        if self.hidden > 0 || width > self.widest {
            self.hidden += 1;
            return;
        }
        self.width = width;
        self.levels.push(Level { mark, further });
    }

    /// Leaves the innermost block.
    pub(super) fn pop(&mut self) {
        if self.hidden > 0 {
            self.hidden -= 1;
        } else if let Some(level) = self.levels.pop() {
            self.width -= level.further.width();
        }
    }

    /// Returns whether the mark of the innermost list item was not written yet.
    pub(super) fn has_mark(&self) -> bool {
        let inmost = self.levels.last().filter(|_| self.hidden == 0);
        inmost.is_some_and(|level| level.mark.is_some())
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Begins the next line; the marks of list items are written once.
    pub(super) fn begin_line(&mut self) -> Line {
        let mut line = Line::default();
        for level in &mut self.levels {
            match level.mark.take() {
                Some(mark) => line.push(Span::new(Role::Muted, &mark)),
                None => line.push(level.further.clone()),
            }
        }
        line
    }

    /// Returns the margin beside an empty line.
    pub(super) fn empty_line(&self) -> Line {
        let last_bar = self
            .levels
            .iter()
            .rposition(|level| level.further.role() == Role::Quote);
        let Some(last_bar) = last_bar else {
            return Line::default();
        };
        let mut line = Line::default();
        line.extend(
            self.levels[..last_bar]
                .iter()
                .map(|level| level.further.clone()),
        );
        line.with(Role::Quote, BAR.trim_end())
    }
}
