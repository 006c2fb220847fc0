//! The list of runs: one row each, as much as fits.

use pi_subagents_view::paint::fit;
use pi_subagents_view::{Line, Role, states_header};
use pi_subagents_vocabulary::Timestamp;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::Canvas;
use super::columns::Columns;
use crate::layout::Layout;
use crate::list_row::ListRow;
use crate::model::{Focus, Model};
use crate::scope::ScreenScope;

pub(super) fn title(model: &Model, area: Rect, canvas: &mut Canvas<'_, '_>) {
    let mut line = states_header(model.list.counts());
    if model.scope == ScreenScope::All {
        line = line.with(Role::Accent, "  in all projects");
    }
    let (filter, all) = (model.list.filter(), model.list.rows());
    if !filter.is_empty() {
        let shown = model.list.listed().len();
        let words = format!("  {shown} with \"{filter}\"");
        line = line.with(Role::Accent, &words);
    }
    if model.reads_all() {
        let unread = all.iter().filter(|row| row.is_unread()).count();
        if model.reads_older() {
            line = line.with(Role::Muted, "  (reading older runs)");
        } else if unread > 0 {
            let read = (all.len() - unread) * 100 / all.len().max(1);
            line = line.with(Role::Muted, &format!("  (reading the records: {read}%)"));
        }
    }
    canvas.line(&fit(&line, area.width.into()), area, Style::new());
}

pub(super) fn list(model: &Model, now: Timestamp, layout: &Layout, canvas: &mut Canvas<'_, '_>) {
    let area = layout.list;
    let (_, seen) = model.seen_rows();
    if seen.is_empty() {
        let line = Line::new(Role::Muted, nothing(model));
        canvas.line(&fit(&line, area.width.into()), area, Style::new());
        return;
    }
    let columns = Columns::of(model, now, area.width.into());
    let headings = columns.headings(model.list.sorting());
    canvas.line(&headings, layout.headings, Style::new());
    for (row, y) in seen.into_iter().zip(area.top()..area.bottom()) {
        let is_selected = model.selected.as_ref() == Some(&row.run.run);
        let mark = if is_selected { "> " } else { "  " };
        let line = columns.line(mark, row, model, now);
        let (line, style) = match (is_selected, model.focus) {
            // In one colour: each reversed colour would be a patch of its own.
            (true, Focus::List) => (
                Line::new(Role::Plain, &line.text()),
                Style::new().add_modifier(Modifier::REVERSED),
            ),
            (true, Focus::Window) | (false, _) => (line, Style::new()),
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
    let has_unread = || model.list.rows().iter().any(ListRow::is_unread);
    let reads_on = model.reads_older() || (model.reads_all() && has_unread());
    match (model.list.is_loaded(), &model.scope) {
        (false, _) => "Looking for runs...",
        (true, _) if reads_on => "No run matches yet; the records are being read.",
        (true, _) if !model.list.filter().is_empty() => "No run matches. Esc shows all.",
        (true, ScreenScope::Project(_)) => "No runs yet. New runs appear here, and n starts one.",
        (true, ScreenScope::All) => "There are no runs in any project. New runs appear here.",
        (true, ScreenScope::Session(_) | ScreenScope::Run(_)) => "Its record was deleted.",
    }
}
