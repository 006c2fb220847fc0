//! The last row: what can be pressed now, what is being typed, or what came of the last key.

use pi_subagents_windows::paint::fit;
use pi_subagents_windows::{Line, Place, Role};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use super::Canvas;
use crate::attach::line_editor::LineEditor;
use crate::attach::list_row::ListRow;
use crate::attach::model::{Focus, Mode, Model, Notice};

pub(super) fn footer(model: &Model, area: Rect, canvas: &mut Canvas<'_, '_>) {
    match &model.mode {
        Mode::Filtering(editor) => edited("Only with: ", editor, area, canvas),
        Mode::Steering(run, editor) => {
            let row = model.rows.iter().find(|row| row.run.run == *run);
            let name = row.map_or(run.as_str(), |row| &row.run.name);
            edited(&format!("Say to {name}: "), editor, area, canvas);
        }
        Mode::Confirming(_) | Mode::Browsing | Mode::Help => {
            canvas.line(&said(model, area.width.into()), area, Style::new());
        }
    }
}

/// Draws a line that is being typed; the question gives way where there is no room for both.
fn edited(question: &str, editor: &LineEditor, area: Rect, canvas: &mut Canvas<'_, '_>) {
    let columns = usize::from(area.width);
    let question = fit(&Line::new(Role::Accent, question), columns / 2);
    let asked = question.width();
    let seen = editor.seen(columns.saturating_sub(asked));
    canvas.line(&question.with(Role::Plain, &seen.text), area, Style::new());
    if let Ok(column) = u16::try_from(asked + seen.cursor)
        && area.height > 0
    {
        let x = column.min(area.width.saturating_sub(1));
        canvas.frame.set_cursor_position(Position::new(x, area.y));
    }
}

fn said(model: &Model, columns: usize) -> Line {
    if let Mode::Confirming(run) = &model.mode {
        let row = model.rows.iter().find(|row| row.run.run == *run);
        let name = row.map_or(run.as_str(), |row| &row.run.name);
        let question = format!("Stop {name} and everything it started?");
        let line = Line::new(Role::Warning, &question)
            .with(Role::Plain, "  y stops it, any other key cancels");
        return fit(&line, columns);
    }
    match &model.notice {
        Some(Notice { role, text }) => fit(&Line::new(*role, text), columns),
        None => keys(model, columns),
    }
}

/// Lists the keys that matter where the person is, as many as fit; the help has all of them.
fn keys(model: &Model, columns: usize) -> Line {
    let mut keys = vec![("?", "help"), ("q", "leave")];
    if model.selected_row().is_some() {
        keys.extend(keys_of_a_run(model));
    }
    if !model.rows.is_empty() {
        keys.push(("/", "filter"));
    }
    if model.opened.is_some() {
        keys.push(("PgUp", "back"));
    }
    let lines = keys
        .into_iter()
        .scan(Line::default(), |line, (key, does)| {
            *line = line
                .clone()
                .with(Role::Title, key)
                .with(Role::Muted, &format!(" {does}  "));
            Some(line.clone())
        })
        .take_while(|line| line.text().trim_end().width() <= columns);
    lines.last().unwrap_or_default()
}

fn keys_of_a_run(model: &Model) -> Vec<(&'static str, &'static str)> {
    let is_running = model.selected_row().is_some_and(ListRow::is_running);
    let is_held = model
        .opened
        .as_ref()
        .is_some_and(|opened| opened.output.is_none() && opened.place != Place::End);
    let mut keys = match model.focus {
        Focus::List => vec![("↑↓", "select"), ("Enter", "open")],
        Focus::Window => vec![("↑↓", "scroll"), ("Tab", "list")],
    };
    if is_held {
        keys.push(("G", "to the end"));
    }
    if is_running {
        keys.extend([("s", "steer"), ("x", "stop")]);
    } else {
        keys.push(("r", "resume"));
    }
    keys.push(("o", "answer"));
    keys
}
