//! Handles keys. The help shows the same table of keys.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pi_subagents_windows::{Place, Role};

use super::layout::Layout;
use super::line_editor::LineEditor;
use super::model::{Effect, Focus, Leaving, Mode, Model, Notice, Scope};
use crate::runs::find::how_to_resume;

/// Every key and what it does, in the words of the help.
pub(crate) const KEYS: [(&str, &str); 14] = [
    ("↑ ↓, k j", "select a run; in the window, scroll one line"),
    ("Enter", "give the window the whole screen"),
    ("Tab", "switch between the list and the window"),
    ("PgUp PgDn", "scroll the window"),
    ("g G", "go to its beginning or to its end"),
    (
        "f",
        "follow: stay at the end as it grows, or stop following",
    ),
    ("o", "read what the run answered, or go back"),
    (
        "s",
        "steer: send a message that it reads before its next turn",
    ),
    ("x", "stop the run, after a question"),
    ("r", "show the command that continues a finished run"),
    (
        "/",
        "show only runs whose name, model, state or id contains this",
    ),
    ("a", "show all runs, not only those of the given id"),
    ("?", "show or hide this help"),
    ("q, Esc, Ctrl-C", "go back or leave; the runs continue"),
];

/// What came of a question that was not answered with yes.
const GOES_ON: &str = "It goes on.";

impl Model {
    pub(super) fn pressed(&mut self, key: KeyEvent) -> Option<Effect> {
        self.notice = None;
        // A person who presses keys wants to stay.
        self.leaving = Leaving::WhenTold;
        self.has_been_touched = true;
        let is_interrupt =
            key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        match &self.mode {
            Mode::Browsing if is_interrupt => Some(Effect::Leave),
            _ if is_interrupt => {
                self.leave_mode();
                None
            }
            Mode::Browsing => self.browse(key),
            Mode::Help => {
                self.mode = Mode::Browsing;
                None
            }
            Mode::Confirming(_) => self.confirm(key),
            Mode::Filtering(_) => {
                self.edit_filter(key);
                None
            }
            Mode::Steering(..) => self.edit_message(key),
        }
    }

    pub(super) fn pasted(&mut self, text: &str) {
        match &mut self.mode {
            Mode::Filtering(editor) => {
                editor.insert(text);
                self.filtered();
            }
            Mode::Steering(_, editor) => editor.insert(text),
            Mode::Browsing | Mode::Help | Mode::Confirming(_) => {}
        }
    }

    fn browse(&mut self, key: KeyEvent) -> Option<Effect> {
        match key.code {
            KeyCode::Char('q') => return Some(Effect::Leave),
            KeyCode::Esc => return self.back(),
            KeyCode::Up | KeyCode::Char('k') => self.go(-1),
            KeyCode::Down | KeyCode::Char('j') => self.go(1),
            KeyCode::PageUp => self.scroll(-self.page_height()),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(self.page_height()),
            KeyCode::Home | KeyCode::Char('g') => self.put(Place::BEGINNING),
            KeyCode::End | KeyCode::Char('G') => self.put(Place::End),
            KeyCode::Enter => {
                self.focus = Focus::Window;
                self.is_zoomed = !self.is_zoomed;
            }
            KeyCode::Tab => self.switch(),
            KeyCode::Char('f') => self.follow(),
            KeyCode::Char('?') => self.mode = Mode::Help,
            KeyCode::Char('/') => {
                self.is_zoomed = false;
                let mut editor = LineEditor::default();
                editor.insert(&self.filter);
                self.mode = Mode::Filtering(editor);
            }
            KeyCode::Char('a') => {
                self.show_all();
                return Some(Effect::Look);
            }
            KeyCode::Char('o') => return self.show_answer(),
            KeyCode::Char('s') => self.begin_steering(),
            KeyCode::Char('x') => self.begin_stopping(),
            KeyCode::Char('r') => self.tell_how_to_resume(),
            _ => {}
        }
        None
    }

    /// Goes back to the list and the window. What somebody has typed to a run is kept for them.
    fn leave_mode(&mut self) {
        match std::mem::replace(&mut self.mode, Mode::Browsing) {
            Mode::Steering(run, editor) if !editor.text().trim().is_empty() => {
                self.draft = Some((run, editor));
                let text = "The message was not sent; press s to get it back.";
                self.notice = Some(Notice::new(Role::Muted, text));
            }
            Mode::Filtering(_) => self.filter.clear(),
            Mode::Confirming(_) => self.notice = Some(Notice::new(Role::Muted, GOES_ON)),
            Mode::Steering(..) | Mode::Browsing | Mode::Help => {}
        }
    }

    /// Goes one step back; a step back from the list leaves.
    fn back(&mut self) -> Option<Effect> {
        if let Some(opened) = &mut self.opened
            && opened.output.take().is_some()
        {
            return None;
        }
        if self.is_zoomed && self.rows.len() > 1 {
            self.is_zoomed = false;
            self.focus = Focus::List;
        } else if !self.filter.is_empty() {
            self.filter.clear();
        } else {
            return Some(Effect::Leave);
        }
        None
    }

    fn show_all(&mut self) {
        self.scope = Scope::Project(self.project.clone());
        self.is_zoomed = false;
        self.focus = Focus::List;
    }

    fn go(&mut self, rows: isize) {
        match self.focus {
            Focus::List => self.select_by(rows),
            Focus::Window => self.scroll(rows),
        }
    }

    fn switch(&mut self) {
        self.is_zoomed = false;
        self.focus = match self.focus {
            Focus::List => Focus::Window,
            Focus::Window => Focus::List,
        };
    }

    fn page_height(&self) -> isize {
        let height = Layout::of(self).page.height;
        isize::try_from(height.saturating_sub(1).max(1)).unwrap_or(1)
    }

    fn scroll(&mut self, rows: isize) {
        let page = Layout::of(self).page;
        let (columns, height) = (usize::from(page.width), usize::from(page.height));
        let Some(opened) = &mut self.opened else {
            return;
        };
        let place = opened.place();
        let place = if rows < 0 {
            opened.page(columns).up(place, rows.unsigned_abs(), height)
        } else {
            opened
                .page(columns)
                .down(place, rows.unsigned_abs(), height)
        };
        *opened.place_mut() = place;
    }

    fn put(&mut self, place: Place) {
        if let Some(opened) = &mut self.opened {
            *opened.place_mut() = place;
        }
    }

    /// Holds still where it is, or goes to the end and stays there.
    fn follow(&mut self) {
        let place = self.opened.as_ref().map(super::opened::Opened::place);
        match place {
            Some(Place::End) => self.scroll(-1),
            Some(Place::At { .. }) => self.put(Place::End),
            None => {}
        }
    }

    fn show_answer(&mut self) -> Option<Effect> {
        let opened = self.opened.as_mut()?;
        if opened.output.take().is_some() {
            return None;
        }
        Some(Effect::ReadAnswer(opened.run.clone()))
    }

    fn begin_steering(&mut self) {
        match self.selected_row().map(|row| (row.is_running(), &row.run)) {
            Some((true, run)) => {
                let run = run.run.clone();
                let draft = self.draft.take_if(|(meant, _)| *meant == run);
                let editor = draft.map(|(_, editor)| editor).unwrap_or_default();
                self.mode = Mode::Steering(run, editor);
            }
            Some((false, _)) => self.tell_not_running(),
            None => {}
        }
    }

    fn begin_stopping(&mut self) {
        match self.selected_row().map(|row| (row.is_running(), &row.run)) {
            Some((true, run)) => self.mode = Mode::Confirming(run.run.clone()),
            Some((false, _)) => self.tell_not_running(),
            None => {}
        }
    }

    fn tell_not_running(&mut self) {
        if let Some(row) = self.selected_row() {
            let text = format!("{} is over.", row.run.name);
            self.notice = Some(Notice::new(Role::Warning, text));
        }
    }

    fn tell_how_to_resume(&mut self) {
        let Some(row) = self.selected_row() else {
            return;
        };
        let text = if row.is_running() {
            format!(
                "{} is still running; press s to send it a message.",
                row.run.name
            )
        } else {
            how_to_resume(row.run.session.as_str())
        };
        self.notice = Some(Notice::new(Role::Accent, text));
    }

    fn confirm(&mut self, key: KeyEvent) -> Option<Effect> {
        let Mode::Confirming(run) = std::mem::replace(&mut self.mode, Mode::Browsing) else {
            return None;
        };
        let row = self.rows.iter().find(|row| row.run.run == run)?;
        if !matches!(key.code, KeyCode::Char('y' | 'Y' | 'x')) {
            self.notice = Some(Notice::new(Role::Muted, GOES_ON));
            return None;
        }
        let text = format!("Stopping {}...", row.run.name);
        let effect = Effect::Stop(row.run.clone());
        self.notice = Some(Notice::new(Role::Warning, text));
        Some(effect)
    }

    fn edit_filter(&mut self, key: KeyEvent) {
        let Mode::Filtering(editor) = &mut self.mode else {
            return;
        };
        match key.code {
            KeyCode::Enter => self.mode = Mode::Browsing,
            KeyCode::Esc => self.leave_mode(),
            _ => {
                editor.press(key);
                self.filtered();
            }
        }
    }

    /// Filters the list while somebody types, and keeps a row selected.
    fn filtered(&mut self) {
        if let Mode::Filtering(editor) = &self.mode {
            self.filter = editor.text().to_lowercase();
            self.select_by(0);
        }
    }

    fn edit_message(&mut self, key: KeyEvent) -> Option<Effect> {
        let Mode::Steering(run, editor) = &mut self.mode else {
            return None;
        };
        match key.code {
            KeyCode::Esc => self.leave_mode(),
            KeyCode::Enter => {
                let (run, message) = (run.clone(), editor.text());
                self.mode = Mode::Browsing;
                if message.trim().is_empty() {
                    return None;
                }
                let row = self.rows.iter().find(|row| row.run.run == run)?;
                return Some(Effect::Steer(row.run.clone(), message));
            }
            _ => _ = editor.press(key),
        }
        None
    }
}
