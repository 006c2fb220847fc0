//! The last row: what can be pressed now, what is being typed, or what came of the last key.

use pi_subagents_windows::paint::fit;
use pi_subagents_windows::{Line, Place, Role};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::Canvas;
use crate::attach::line_editor::LineEditor;
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
            let line = fit(&said(model), area.width.into());
            canvas.line(&line, area, Style::new());
        }
    }
}

/// A line that is being typed; its question gives way where there is no room for both.
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

fn said(model: &Model) -> Line {
    if let Mode::Confirming(run) = &model.mode {
        let row = model.rows.iter().find(|row| row.run.run == *run);
        let name = row.map_or(run.as_str(), |row| &row.run.name);
        let question = format!("Stop {name} and everything it started?");
        return Line::new(Role::Warning, &question)
            .with(Role::Plain, "  y stops it, any other key does not");
    }
    match &model.notice {
        Some(Notice { role, text }) => Line::new(*role, text),
        None => keys(model),
    }
}

/// The keys that matter where the person is; the help has all of them.
fn keys(model: &Model) -> Line {
    let is_running = model.selected_row().is_some_and(|row| row.is_running());
    let is_held = model
        .opened
        .as_ref()
        .is_some_and(|opened| opened.place() != Place::End);
    let mut keys = vec![("?", "help"), ("q", "leave")];
    match model.focus {
        Focus::List => keys.extend([("↑↓", "select"), ("Enter", "open")]),
        Focus::Window => keys.extend([("↑↓", "scroll"), ("Tab", "list")]),
    }
    if is_held {
        keys.push(("G", "to the end"));
    }
    if is_running {
        keys.extend([("s", "steer"), ("x", "stop")]);
    } else {
        keys.push(("r", "resume"));
    }
    keys.extend([("o", "answer"), ("/", "filter"), ("PgUp", "back")]);
    keys.into_iter().fold(Line::default(), |line, (key, does)| {
        line.with(Role::Title, key)
            .with(Role::Muted, &format!(" {does}  "))
    })
}
