//! The window of the selected run: a line that names it, its header, and its page.

use pi_subagents_view::ScreenSize;
use pi_subagents_view::paint::fit;
use pi_subagents_view::{Line, Role, header};
use pi_subagents_vocabulary::Timestamp;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use super::Canvas;
use crate::layout::Layout;
use crate::model::{Focus, Model};
use crate::opened_run::Opened;
use crate::page::Page;

pub(super) fn window(model: &Model, now: Timestamp, layout: &Layout, canvas: &mut Canvas<'_, '_>) {
    let Some(opened) = &model.opened else {
        rule(model, layout, &Line::default(), canvas);
        return;
    };
    let columns = usize::from(layout.header.width);
    let header = match opened.window.facts().task {
        Some(_) => header(&opened.window, now, columns),
        // Its record is being read.
        None => fit(&Line::new(Role::Title, &opened.run.name), columns),
    };
    canvas.line(&header, layout.header, Style::new());
    let page = opened.page(ScreenSize {
        columns: layout.page.width.into(),
        rows: layout.page.height.into(),
    });
    rule(model, layout, &named(model, opened, &page), canvas);
    rows(model, opened, &page, layout.page, canvas);
}

/// Draws the rows of the page. The entry that Enter opens is marked, and so are the words that were
/// searched for.
fn rows(model: &Model, opened: &Opened, page: &Page<'_>, area: Rect, canvas: &mut Canvas<'_, '_>) {
    let place = opened.sheet().place;
    let marked = page.marked(place).filter(|_| model.focus == Focus::Window);
    let search = opened.sheet().search.as_ref();
    let words = search.map(|search| search.words.as_str());
    let words = words.filter(|words| !words.is_empty());
    let mut last = None;
    for (row, y) in page.rows(place).iter().zip(area.top()..area.bottom()) {
        let is_first = last.replace(row.entry) != Some(row.entry);
        let style = if marked == Some(row.entry) && is_first {
            Style::new().add_modifier(Modifier::REVERSED)
        } else {
            Style::new()
        };
        let area = Rect {
            y,
            height: 1,
            ..area
        };
        canvas.line(&row.line, area, style);
        if let Some(words) = words {
            highlight(&row.line.text(), words, area, canvas);
        }
    }
}

/// Marks words in a row that is drawn.
fn highlight(text: &str, words: &str, area: Rect, canvas: &mut Canvas<'_, '_>) {
    let small = text.to_lowercase();
    // If small letters take another number of bytes than large ones, the columns of a match are
    // unknown.
    if small.len() != text.len() {
        return;
    }
    for (begin, _) in small.match_indices(words) {
        let column = text.get(..begin).map_or(0, UnicodeWidthStr::width);
        let width = text
            .get(begin..begin + words.len())
            .map_or(0, UnicodeWidthStr::width);
        let (Ok(column), Ok(width)) = (u16::try_from(column), u16::try_from(width)) else {
            return;
        };
        let found = Rect {
            x: area.x.saturating_add(column),
            width,
            ..area
        };
        let style =
            Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED | Modifier::REVERSED);
        canvas.style(found.intersection(area), style);
    }
}

/// Writes the line above the window: the id of the run, for copying, and the scrolled part in
/// percent.
fn rule(model: &Model, layout: &Layout, named: &Line, canvas: &mut Canvas<'_, '_>) {
    let columns = usize::from(layout.rule.width);
    let role = match model.focus {
        Focus::List => Role::Muted,
        Focus::Window => Role::Accent,
    };
    let missing = columns.saturating_sub(named.width());
    let line = named.clone().with(role, &"─".repeat(missing));
    canvas.line(&fit(&line, columns), layout.rule, Style::new());
}

fn named(model: &Model, opened: &Opened, page: &Page<'_>) -> Line {
    let role = match model.focus {
        Focus::List => Role::Muted,
        Focus::Window => Role::Accent,
    };
    let what = opened.title();
    let place = page.percent(opened.sheet().place);
    let place = place
        .map(|percent| format!("── {percent}% "))
        .unwrap_or_default();
    Line::new(role, &format!("── {what}{} {place}", opened.run.run))
}
