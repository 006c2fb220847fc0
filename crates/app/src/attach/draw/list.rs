//! The list of runs: one row each, as much as fits.

use std::iter;

use pi_subagents_delegation::{Status, Timestamp, text};
use pi_subagents_windows::figures::{clock, cost, tokens};
use pi_subagents_windows::paint::fit;
use pi_subagents_windows::{Line, Role};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr as _;

use super::Canvas;
use crate::attach::list_row::ListRow;
use crate::attach::model::{Focus, Model, Scope};

/// The hourglass alone takes two of them.
const ICON_COLUMNS: usize = 3;

/// No name and no model takes more columns than this.
const WIDEST_NAME: usize = 20;
const WIDEST_MODEL: usize = 20;

/// From these widths on a row also tells what was consumed, and by which model.
const WIDTH_FOR_USAGE: usize = 64;
const WIDTH_FOR_MODEL: usize = 96;

pub(super) fn title(model: &Model, area: Rect, canvas: &mut Canvas<'_, '_>) {
    let mut line = model.counts().header();
    if !model.filter.is_empty() {
        let filter = format!("  with \"{}\"", model.filter);
        line = line.with(Role::Accent, &filter);
    }
    if model.older > 0 {
        line = with_older(line, model.older, area.width.into());
    }
    canvas.line(&fit(&line, area.width.into()), area, Style::new());
}

/// Adds how many runs are left out, and the command that lists them if it fits: half a command is
/// of no use.
fn with_older(line: Line, older: usize, columns: usize) -> Line {
    let how = format!("  (and {older} older: pi-subagents status --all)");
    let long = line.clone().with(Role::Muted, &how);
    if long.width() <= columns {
        return long;
    }
    line.with(Role::Muted, &format!("  (and {older} older)"))
}

pub(super) fn list(model: &Model, now: Timestamp, area: Rect, canvas: &mut Canvas<'_, '_>) {
    let (_, seen) = model.seen_rows();
    if seen.is_empty() {
        let line = Line::new(Role::Muted, nothing(model));
        canvas.line(&fit(&line, area.width.into()), area, Style::new());
        return;
    }
    let columns = Columns::of(model, area.width.into());
    for (row, y) in seen.into_iter().zip(area.top()..area.bottom()) {
        let is_selected = model.selected.as_ref() == Some(&row.run.run);
        let mark = if is_selected { "> " } else { "  " };
        let line = columns.line(mark, row, model, now);
        let style = match (is_selected, model.focus) {
            (true, Focus::List) => Style::new().add_modifier(Modifier::REVERSED),
            (true, Focus::Window) | (false, _) => Style::new(),
        };
        let area = Rect {
            y,
            height: 1,
            ..area
        };
        canvas.line(&line, area, style);
    }
}

fn nothing(model: &Model) -> &'static str {
    match (model.is_loaded, &model.scope) {
        (false, _) => "Looking for runs...",
        (true, _) if !model.filter.is_empty() => "No run matches. Esc shows all.",
        (true, Scope::Project(_)) => "No runs yet. New runs appear here.",
        (true, Scope::Session(_) | Scope::Run(_)) => "Its record was deleted.",
    }
}

/// How wide the columns of the list are.
struct Columns {
    name: usize,
    model: usize,
    turns: usize,
    tokens: usize,
    cost: usize,
    all: usize,
}

impl Columns {
    fn of(model: &Model, all: usize) -> Self {
        let widest =
            |width: &dyn Fn(&ListRow) -> usize| model.listed().map(width).max().unwrap_or(0);
        // A column that is empty in every row takes no room, and any other always the same.
        let figures = |width: usize, words: &dyn Fn(&ListRow) -> String| {
            let is_any = model.listed().any(|row| !words(row).is_empty());
            width * usize::from(is_any && all >= WIDTH_FOR_USAGE)
        };
        Self {
            name: widest(&|row| row.run.name.width())
                .min(WIDEST_NAME)
                .min(all / 3)
                .max(4),
            model: if all < WIDTH_FOR_MODEL {
                0
            } else {
                widest(&|row| row.model().unwrap_or_default().width()).min(WIDEST_MODEL)
            },
            turns: figures(8, &turns),
            tokens: figures(5, &tokens_of),
            cost: figures(6, &cost_of),
            all,
        }
    }

    fn line(&self, mark: &str, row: &ListRow, model: &Model, now: Timestamp) -> Line {
        let status = row.status();
        let mut line = Line::new(Role::Plain, mark)
            .with(role(status), &padded(status.icon(), ICON_COLUMNS))
            .with(Role::Title, &padded(&row.run.name, self.name))
            .with(Role::Plain, " ");
        if self.model > 0 {
            let name = row.model().unwrap_or_default();
            line = line
                .with(Role::Muted, &padded(name, self.model))
                .with(Role::Plain, " ");
        }
        let elapsed = row.elapsed(now).map(clock).unwrap_or_default();
        line = line.with(Role::Plain, &format!("{elapsed:>7}  "));
        let usage = [
            (turns(row), self.turns),
            (tokens_of(row), self.tokens),
            (cost_of(row), self.cost),
        ];
        for (words, width) in usage.into_iter().filter(|(_, width)| *width > 0) {
            line = line.with(Role::Muted, &format!("{words:>width$}  "));
        }
        if row.run.is_background() {
            line = line.with(Role::Accent, "bg ");
        }
        if row.run.project != model.project {
            let project = row.run.project.file_name().unwrap_or_default();
            let project = format!("{}: ", project.to_string_lossy());
            line = line.with(Role::Accent, &project);
        }
        let doing = match row.status() {
            Status::Failed | Status::Aborted => Role::Failed,
            Status::Queued | Status::Running | Status::Completed => Role::Muted,
        };
        let words = row.doing(self.all.saturating_sub(line.width()));
        let line = fit(&line.with(doing, &text::one_line(&words)), self.all);
        let margin = " ".repeat(self.all.saturating_sub(line.width()));
        line.with(Role::Plain, &margin)
    }
}

fn turns(row: &ListRow) -> String {
    let turns = row.turns().filter(|turns| *turns > 0);
    turns
        .map(|turns| text::count(turns, "turn"))
        .unwrap_or_default()
}

fn tokens_of(row: &ListRow) -> String {
    let total = row.usage().map(|usage| usage.total());
    total
        .filter(|total| *total > 0)
        .map(tokens)
        .unwrap_or_default()
}

fn cost_of(row: &ListRow) -> String {
    row.usage()
        .map(|usage| cost(usage.cost))
        .unwrap_or_default()
}

/// Returns a text in exactly so many columns.
fn padded(words: &str, columns: usize) -> String {
    let clean = text::one_line(&text::clean(words));
    let mut cut = text::cut_columns(&clean, columns);
    let missing = columns.saturating_sub(cut.width());
    cut.extend(iter::repeat_n(' ', missing));
    cut
}

fn role(status: Status) -> Role {
    match status {
        Status::Queued => Role::Muted,
        Status::Running => Role::Warning,
        Status::Completed => Role::Success,
        Status::Failed | Status::Aborted => Role::Failed,
    }
}
