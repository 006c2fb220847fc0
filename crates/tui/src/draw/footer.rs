//! The last row: the keys of this moment, the line that is being typed, or the outcome of the last
//! key.

use pi_subagents_view::paint::fit;
use pi_subagents_view::{Line, Role};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use super::Canvas;
use crate::line_editor::LineEditor;
use crate::list_row::ListRow;
use crate::message::Notice;
use crate::model::{Focus, Mode, Model, Question};
use crate::opened_run::Opened;
use crate::scope::ScreenScope;

pub(super) fn footer(model: &Model, area: Rect, canvas: &mut Canvas<'_, '_>) {
    match &model.mode {
        Mode::Typing(purpose, editor) => edited(&purpose.question(model), editor, area, canvas),
        Mode::Confirming(_) | Mode::Browsing | Mode::Help(_) => {
            canvas.line(&status_line(model, area.width.into()), area, Style::new());
        }
    }
}

/// Draws a line that is being typed; the question is shortened if there is no room for both.
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

fn status_line(model: &Model, columns: usize) -> Line {
    if let Mode::Confirming(question) = &model.mode {
        let row = model.list.row(question.run());
        let name = row.map_or(question.run().as_str(), |row| &row.run.name);
        return asked(question, name, columns);
    }
    match &model.notice {
        Some(Notice { role, text }) => fit(&Line::new(*role, text), columns),
        None => keys(model, columns),
    }
}

/// Words a question. The key that says yes is seen on every screen, so a narrow one gets fewer words.
fn asked(question: &Question, name: &str, columns: usize) -> Line {
    let (words, does) = match question {
        Question::Stop(_) => (format!("Stop {name} and everything it started?"), "stops"),
        Question::Merge(_) => (format!("Merge {name} as uncommitted changes?"), "merges"),
        Question::Discard(_) => (format!("Discard what {name} changed?"), "discards"),
    };
    let whole = Line::new(Role::Warning, &words).with(
        Role::Plain,
        &format!("  y {does} it, any other key cancels"),
    );
    if whole.width() <= columns {
        return whole;
    }
    let short = |object: &str, rest: &str| {
        Line::new(Role::Warning, &format!("y {does} {object}")).with(Role::Plain, rest)
    };
    let named = short(name, ", any other key cancels");
    if named.width() <= columns {
        return named;
    }
    fit(&short("it", ", other keys cancel"), columns)
}

/// Lists the keys that matter where the person is, as many as fit; the help has all of them.
fn keys(model: &Model, columns: usize) -> Line {
    let keys = match model.focus {
        Focus::List => keys_of_list(model),
        Focus::Window => keys_of_window(model),
    };
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

fn keys_of_list(model: &Model) -> Vec<(&'static str, &'static str)> {
    let mut keys = vec![("?", "help"), ("q", "leave")];
    if !model.list.filter().is_empty() {
        keys.push(("Esc", "all"));
    }
    if let Some(row) = model.selected_row() {
        keys.extend([("Enter", "open"), ("n", "new")]);
        keys.extend(keys_of_run(row));
    } else {
        keys.push(("n", "new"));
    }
    if !model.list.rows().is_empty() {
        keys.extend([
            ("/", "filter"),
            ("↑↓", "select"),
            ("A C S", "sort"),
            ("a", "all projects"),
        ]);
    }
    keys
}

fn keys_of_window(model: &Model) -> Vec<(&'static str, &'static str)> {
    let back = if matches!(model.scope, ScreenScope::Run(_)) {
        ("q", "leave")
    } else {
        ("Esc", "back")
    };
    let mut keys = vec![("?", "help"), back, ("↑↓", "scroll")];
    // An answer and a receipt have no calls.
    if !model.opened.as_ref().is_some_and(Opened::shows_answer) {
        keys.extend([("[ ]", "tool calls"), ("Enter", "open one")]);
    }
    if let Some(opened) = &model.opened {
        let sheet = opened.sheet();
        if sheet.search.is_some() {
            keys.push(("n N", "next"));
        }
        let page = opened.page(model.page_size());
        if page.percent(sheet.place).is_some() {
            keys.push(("G", "to the end"));
        }
    }
    keys.extend(model.selected_row().map(keys_of_run).unwrap_or_default());
    keys.push(("/", "search"));
    keys
}

fn keys_of_run(row: &ListRow) -> Vec<(&'static str, &'static str)> {
    if row.is_running() {
        vec![
            ("s", "steer"),
            ("x", "stop"),
            ("o", "answer"),
            ("i", "receipt"),
        ]
    } else {
        vec![
            ("r", "resume"),
            ("o", "answer"),
            ("d", "changes"),
            ("m", "merge"),
            ("i", "receipt"),
        ]
    }
}
