//! A line that somebody types: a filter, words to look for, a message, a prompt.

use crossterm::event::{KeyCode, KeyEvent};
use pi_subagents_view::Role;

use crate::message::{Effect, Notice};
use crate::model::{Mode, Model, Purpose};
use pi_subagents_calls::start_from_screen::WantedRun;

impl Model {
    /// Asks for a line. An unsent draft for the same purpose is there again.
    pub(super) fn begin_typing(&mut self, purpose: Purpose) {
        let draft = self.draft.take_if(|(meant, _)| *meant == purpose);
        let mut editor = draft.map(|(_, editor)| editor).unwrap_or_default();
        match &purpose {
            Purpose::Filter => {
                self.is_zoomed = false;
                editor.insert(self.list.filter());
            }
            Purpose::Search => {
                if let Some(opened) = &mut self.opened {
                    opened.begin_search();
                }
            }
            Purpose::Steer(_) | Purpose::Answer(_) | Purpose::Resume(_) | Purpose::Start => {}
        }
        self.mode = Mode::Typing(purpose, editor);
    }

    pub(crate) fn pasted(&mut self, text: &str) {
        if let Mode::Typing(_, editor) = &mut self.mode {
            editor.insert(text);
            self.typed();
        }
    }

    pub(super) fn edit(&mut self, key: KeyEvent) -> Option<Effect> {
        let Mode::Typing(purpose, editor) = &mut self.mode else {
            return None;
        };
        match key.code {
            KeyCode::Esc => self.leave_mode(),
            KeyCode::Enter => return self.send(),
            KeyCode::Tab | KeyCode::BackTab if *purpose == Purpose::Start => {
                self.choose_definition(key.code == KeyCode::Tab);
            }
            _ => {
                editor.press(key);
                self.typed();
            }
        }
        None
    }

    /// Goes back to the list and the window. A message that somebody has typed to a run is kept for
    /// them.
    pub(super) fn leave_mode(&mut self) {
        match std::mem::replace(&mut self.mode, Mode::Browsing) {
            Mode::Typing(Purpose::Filter, _) => {
                self.list.set_filter("");
                self.select_again();
            }
            Mode::Typing(Purpose::Search, _) => {
                if let Some(opened) = &mut self.opened {
                    opened.cancel_search();
                }
            }
            Mode::Typing(purpose, editor) if !editor.text().trim().is_empty() => {
                let text = format!(
                    "This was not sent; press {} to get it back.",
                    key_of(&purpose)
                );
                self.draft = Some((purpose, editor));
                self.notice = Some(Notice::new(Role::Muted, text));
            }
            Mode::Confirming(question) => {
                self.notice = Some(Notice::new(Role::Muted, question.left()));
            }
            Mode::Typing(..) | Mode::Browsing | Mode::Help(_) => {}
        }
    }

    /// Filters or searches while somebody types.
    fn typed(&mut self) {
        let Mode::Typing(purpose, editor) = &self.mode else {
            return;
        };
        let words = editor.text();
        match purpose {
            Purpose::Filter => {
                self.list.set_filter(&words);
                self.select_again();
            }
            Purpose::Search => {
                let size = self.page_size();
                if let Some(opened) = &mut self.opened {
                    opened.search(&words, size);
                }
            }
            Purpose::Steer(_) | Purpose::Answer(_) | Purpose::Resume(_) | Purpose::Start => {}
        }
    }

    fn send(&mut self) -> Option<Effect> {
        let Mode::Typing(purpose, editor) = std::mem::replace(&mut self.mode, Mode::Browsing)
        else {
            return None;
        };
        let words = editor.text();
        match purpose {
            Purpose::Filter => {
                // A person who ends a filter means the run that it has found.
                if self.selected.is_some() {
                    self.chosen.clone_from(&self.selected);
                }
                None
            }
            Purpose::Search => {
                self.end_search_line(&words);
                None
            }
            _ if words.trim().is_empty() => None,
            Purpose::Steer(run) => {
                let run = self.list.row(&run)?.run.clone();
                Some(Effect::Steer(run, words))
            }
            Purpose::Answer(run) => {
                let row = self.list.row(&run)?;
                let question = Box::new(row.question()?.clone());
                Some(Effect::Answer(row.run.clone(), question, words))
            }
            Purpose::Resume(run) => {
                let run = Box::new(self.list.row(&run)?.run.clone());
                let text = format!("Resuming {}...", run.name);
                self.notice = Some(Notice::new(Role::Muted, text));
                Some(Effect::Start(WantedRun::Resumed { run, prompt: words }))
            }
            Purpose::Start => {
                let definition = self.definition().to_owned();
                let text = format!("Starting {definition}...");
                self.notice = Some(Notice::new(Role::Muted, text));
                Some(Effect::Start(WantedRun::New {
                    definition,
                    prompt: words,
                }))
            }
        }
    }

    fn end_search_line(&mut self, words: &str) {
        let Some(opened) = &mut self.opened else {
            return;
        };
        let search = opened.sheet().search.as_ref();
        let is_found = search.is_some_and(|search| search.found.is_some());
        if !is_found {
            opened.cancel_search();
        }
        if !is_found && !words.is_empty() {
            let text = format!("\"{words}\" is not in the text.");
            self.notice = Some(Notice::new(Role::Warning, text));
        }
    }

    fn choose_definition(&mut self, is_next: bool) {
        let (names, place) = &mut self.definitions;
        let count = names.len().max(1);
        let step = if is_next { 1 } else { count - 1 };
        *place = (*place + step) % count;
    }
}

/// Returns the key that begins to type for this purpose.
fn key_of(purpose: &Purpose) -> &'static str {
    match purpose {
        Purpose::Filter | Purpose::Search => "/",
        Purpose::Steer(_) => "s",
        Purpose::Answer(_) => "!",
        Purpose::Resume(_) => "r",
        Purpose::Start => "n",
    }
}

impl Purpose {
    /// Returns the text before the line that is typed.
    pub(crate) fn question(&self, model: &Model) -> String {
        let name = |run| {
            let row = model.list.row(run);
            row.map_or(run.as_str(), |row| &row.run.name).to_owned()
        };
        match self {
            Self::Filter => "Only runs with: ".to_owned(),
            Self::Search => "Search for: ".to_owned(),
            Self::Steer(run) => format!("Say to {}: ", name(run)),
            Self::Answer(run) => {
                let question = model.list.row(run).and_then(|row| row.question());
                let options = question.map_or(0, |question| question.options.len());
                match options {
                    0 => format!("Answer {}: ", name(run)),
                    _ => format!("Answer {} (1 to {options}): ", name(run)),
                }
            }
            Self::Resume(run) => format!("Continue {}: ", name(run)),
            Self::Start if model.definitions.0.len() > 1 => {
                format!("New run of {} (Tab: another): ", model.definition())
            }
            Self::Start => format!("New run of {}: ", model.definition()),
        }
    }
}
