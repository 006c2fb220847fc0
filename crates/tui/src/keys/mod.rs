//! Handles keys: one file for each place where they are pressed. The help shows the same table.

pub(crate) mod help;
mod line;
mod list;
mod mouse;
pub(crate) mod table;
mod window;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pi_subagents_records::IndexedRun;
use pi_subagents_view::Role;
use pi_subagents_vocabulary::RunId;

use self::help::HelpPage;
use super::clipboard::copied;
use super::message::{AnswerUse, Effect, Notice};
use super::model::{Focus, Leaving, Mode, Model, Purpose, Question};

/// The number of rows of the help that a page key goes on.
const HELP_PAGE: usize = 10;

impl Model {
    pub(super) fn pressed(&mut self, key: KeyEvent) -> Option<Effect> {
        self.touched();
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (&self.mode, key.code) {
            (_, KeyCode::Char('z')) if is_control => Some(Effect::Pause),
            (Mode::Browsing, KeyCode::Char('c')) if is_control => Some(Effect::Leave),
            (_, KeyCode::Char('c')) if is_control => {
                self.leave_mode();
                None
            }
            (Mode::Browsing, _) => self.browse(key, is_control),
            (Mode::Help(top), code) => {
                self.mode = read_help(*top, HelpPage::of(self).last_top(), code);
                None
            }
            (Mode::Confirming(_), code) => self.confirm(code),
            (Mode::Typing(..), _) => self.edit(key),
        }
    }

    /// Notes that somebody is there. A person who presses keys wants to stay.
    pub(super) fn touched(&mut self) {
        self.notice = None;
        self.leaving = Leaving::WhenTold;
        self.has_been_touched = true;
    }

    fn browse(&mut self, key: KeyEvent, is_control: bool) -> Option<Effect> {
        match key.code {
            KeyCode::Char('o') if is_control && self.focus == Focus::Window => {
                self.toggle_marked();
                None
            }
            KeyCode::Char(_) if is_control => None,
            KeyCode::Tab => {
                self.switch();
                None
            }
            KeyCode::Char('?') => {
                self.mode = Mode::Help(0);
                None
            }
            KeyCode::Char('a') => Some(self.show_more_or_fewer()),
            KeyCode::Char('o') => self.show_answer(),
            KeyCode::Char('i') => self.show_receipt(),
            KeyCode::Char('d') => self.show_changes(),
            KeyCode::Char('m') => self.begin_merging(),
            KeyCode::Char('D') => {
                self.begin_discarding();
                None
            }
            KeyCode::Char('w') => Some(Effect::OpenPage(self.selected_row()?.run.clone())),
            KeyCode::Char('s') => {
                self.begin_steering();
                None
            }
            KeyCode::Char('!') => {
                self.begin_answering();
                None
            }
            KeyCode::Char('r') => {
                self.begin_resuming();
                None
            }
            KeyCode::Char('x') => {
                self.begin_stopping();
                None
            }
            KeyCode::Char('y') => self.copy_id(),
            KeyCode::Char('Y') => {
                let run = self.selected_row()?.run.clone();
                Some(Effect::ReadAnswer(run, AnswerUse::Copy))
            }
            KeyCode::Char('M') => Some(self.switch_mouse()),
            code => match self.focus {
                Focus::List => self.press_in_list(code),
                Focus::Window => self.press_in_window(code),
            },
        }
    }

    fn switch(&mut self) {
        self.is_zoomed = false;
        self.focus = match self.focus {
            Focus::List if self.opened.is_some() => Focus::Window,
            Focus::List | Focus::Window => Focus::List,
        };
    }

    fn show_answer(&mut self) -> Option<Effect> {
        let opened = self.opened.as_mut()?;
        if opened.hide_answer() {
            return None;
        }
        let run = opened.run.clone();
        Some(Effect::ReadAnswer(run, AnswerUse::Show))
    }

    /// Shows what was seen of the run at once. Git may know its files better, and is asked.
    fn show_receipt(&mut self) -> Option<Effect> {
        let opened = self.opened.as_mut()?;
        if opened.hide_answer() {
            return None;
        }
        if !opened.show_receipt() {
            let text = format!("Nothing has been seen of {}.", opened.run.name);
            self.notice = Some(Notice::new(Role::Muted, text));
            return None;
        }
        Some(Effect::ReadChangedFiles(opened.run.clone()))
    }

    fn show_changes(&mut self) -> Option<Effect> {
        let opened = self.opened.as_mut()?;
        if opened.hide_answer() {
            return None;
        }
        Some(Effect::ReadDiff(opened.run.clone()))
    }

    /// Has the run compared with its checkout; the question comes after that.
    fn begin_merging(&mut self) -> Option<Effect> {
        let run = self.finished_run("merge")?;
        let text = format!("Comparing {} with its checkout...", run.name);
        self.notice = Some(Notice::new(Role::Muted, text));
        Some(Effect::CheckMerge(run))
    }

    fn begin_discarding(&mut self) {
        if let Some(run) = self.finished_run("discard") {
            self.mode = Mode::Confirming(Question::Discard(run.run));
        }
    }

    /// Returns the selected run if it is over; says so if it is not.
    fn finished_run(&mut self, verb: &str) -> Option<IndexedRun> {
        let row = self.selected_row()?;
        let run = row.run.clone();
        if row.is_running() {
            let text = format!(
                "{} is still running; there is nothing to {verb} yet.",
                run.name
            );
            self.notice = Some(Notice::new(Role::Warning, text));
            return None;
        }
        Some(run)
    }

    fn begin_steering(&mut self) {
        match self.selected_row().map(|row| (row.is_running(), &row.run)) {
            Some((true, run)) => self.begin_typing(Purpose::Steer(run.run.clone())),
            Some((false, run)) => {
                let text = format!("{} has finished; press r to resume it.", run.name);
                self.notice = Some(Notice::new(Role::Warning, text));
            }
            None => {}
        }
    }

    fn begin_answering(&mut self) {
        match self.selected_row().map(|row| (row.question(), &row.run)) {
            Some((Some(_), run)) => self.begin_typing(Purpose::Answer(run.run.clone())),
            Some((None, run)) => {
                let text = format!("{} asks nothing.", run.name);
                self.notice = Some(Notice::new(Role::Muted, text));
            }
            None => {}
        }
    }

    fn begin_resuming(&mut self) {
        match self.selected_row().map(|row| (row.is_running(), &row.run)) {
            Some((false, run)) => self.begin_typing(Purpose::Resume(run.run.clone())),
            Some((true, run)) => {
                let text = format!(
                    "{} is still running; press s to send it a message.",
                    run.name
                );
                self.notice = Some(Notice::new(Role::Warning, text));
            }
            None => {}
        }
    }

    fn begin_stopping(&mut self) {
        match self.selected_row().map(|row| (row.is_running(), &row.run)) {
            Some((true, run)) => self.mode = Mode::Confirming(Question::Stop(run.run.clone())),
            Some((false, run)) => {
                let text = format!("{} has finished.", run.name);
                self.notice = Some(Notice::new(Role::Warning, text));
            }
            None => {}
        }
    }

    fn copy_id(&mut self) -> Option<Effect> {
        let id = self.selected_row()?.run.run.to_string();
        self.notice = Some(copied(&id));
        Some(Effect::Copy(id))
    }

    fn switch_mouse(&mut self) -> Effect {
        self.uses_mouse = !self.uses_mouse;
        let text = if self.uses_mouse {
            "The mouse scrolls, selects and opens here; with Shift it still marks text."
        } else {
            "The terminal has the mouse, to mark and copy text; press M to use it here."
        };
        self.notice = Some(Notice::new(Role::Muted, text));
        Effect::UseMouse(self.uses_mouse)
    }

    fn confirm(&mut self, code: KeyCode) -> Option<Effect> {
        let Mode::Confirming(question) = std::mem::replace(&mut self.mode, Mode::Browsing) else {
            return None;
        };
        let run = self.list.row(question.run())?.run.clone();
        if !question.is_yes(code) {
            self.notice = Some(Notice::new(Role::Muted, question.left()));
            return None;
        }
        let (role, verb) = match question {
            Question::Stop(_) => (Role::Warning, "Stopping"),
            Question::Merge(_) => (Role::Muted, "Merging"),
            Question::Discard(_) => (Role::Warning, "Discarding"),
        };
        self.notice = Some(Notice::new(role, format!("{verb} {}...", run.name)));
        Some(match question {
            Question::Stop(_) => Effect::Stop(run),
            Question::Merge(_) => Effect::Merge(run),
            Question::Discard(_) => Effect::Discard(run),
        })
    }
}

impl Question {
    /// Returns the run that it is about.
    pub(crate) fn run(&self) -> &RunId {
        match self {
            Self::Stop(run) | Self::Merge(run) | Self::Discard(run) => run,
        }
    }

    /// Returns whether a key means yes: `y`, or the key that has asked.
    fn is_yes(&self, code: KeyCode) -> bool {
        let asked = match self {
            Self::Stop(_) => 'x',
            Self::Merge(_) => 'm',
            // Shift is held for a while by those who mean something else.
            Self::Discard(_) => 'y',
        };
        matches!(code, KeyCode::Char(key) if key == 'y' || key == 'Y' || key == asked)
    }

    /// Says what is so if the answer is no.
    pub(super) fn left(&self) -> &'static str {
        match self {
            Self::Stop(_) => "It continues.",
            Self::Merge(_) => "Nothing was merged.",
            Self::Discard(_) => "Nothing was discarded.",
        }
    }
}

/// Scrolls the help up to its last line. Any other key closes it.
fn read_help(top: usize, last: usize, code: KeyCode) -> Mode {
    // The screen may have grown since the last key.
    let top = top.min(last);
    let scrolled = match code {
        KeyCode::Down | KeyCode::Char('j') => top + 1,
        KeyCode::Up | KeyCode::Char('k') => top.saturating_sub(1),
        KeyCode::PageDown | KeyCode::Char(' ') => top + HELP_PAGE,
        KeyCode::PageUp => top.saturating_sub(HELP_PAGE),
        _ => return Mode::Browsing,
    };
    Mode::Help(scrolled.min(last))
}
