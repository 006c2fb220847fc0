//! The window of the selected run: a line that names it, its header, and its page.

use pi_subagents_delegation::Timestamp;
use pi_subagents_windows::paint::fit;
use pi_subagents_windows::{Line, Role, header};
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Canvas;
use crate::attach::layout::Layout;
use crate::attach::model::{Focus, Model};
use crate::attach::opened::Opened;

pub(super) fn window(model: &Model, now: Timestamp, layout: &Layout, canvas: &mut Canvas<'_, '_>) {
    rule(model, layout, canvas);
    let Some(opened) = &model.opened else {
        return;
    };
    let columns = usize::from(layout.header.width);
    let header = match opened.window.facts().task {
        Some(_) => header(&opened.window, now, columns),
        // Its record is being read.
        None => fit(&Line::new(Role::Title, &opened.run.name), columns),
    };
    canvas.line(&header, layout.header, Style::new());
    let page = opened.page(layout.page.width.into());
    let rows = page.rows(opened.place(), layout.page.height.into());
    canvas.lines(&rows, layout.page);
}

/// Writes the line above the window: the ids of the run, for copying, and how far one has scrolled.
fn rule(model: &Model, layout: &Layout, canvas: &mut Canvas<'_, '_>) {
    let columns = usize::from(layout.rule.width);
    let role = match model.focus {
        Focus::List => Role::Muted,
        Focus::Window => Role::Accent,
    };
    let line = match &model.opened {
        Some(opened) => Line::new(role, "── ").with(role, &named(opened, layout.page)),
        None => Line::default(),
    };
    let missing = columns.saturating_sub(line.width());
    let line = line.with(role, &"─".repeat(missing));
    canvas.line(&fit(&line, columns), layout.rule, Style::new());
}

fn named(opened: &Opened, seen: Rect) -> String {
    let what = if opened.output.is_some() {
        "answer of "
    } else {
        ""
    };
    let page = opened.page(seen.width.into());
    let place = page
        .percent(opened.place(), seen.height.into())
        .map(|percent| format!("── {percent}% "))
        .unwrap_or_default();
    format!("{what}{} {place}", opened.run.run)
}
