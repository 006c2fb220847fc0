//! The run whose window is open: all of it, from the beginning, and where its reader is.

use pi_subagents_delegation::child_protocol::ChildRecord;
use pi_subagents_delegation::{Happening, Message, RunEvent, text};
use pi_subagents_sessions::IndexedRun;
use pi_subagents_windows::{Line, Page, Place, PreviewContext, Role, Room, Window};

/// The run whose window is open.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    /// The so many-th window that was opened.
    pub(crate) number: u64,
    pub(crate) run: IndexedRun,
    pub(crate) window: Window,
    /// How many answers of its model are in the record.
    pub(crate) answers: usize,
    /// What its model says right now.
    pub(crate) saying: Option<Saying>,
    pub(crate) place: Place,
    /// What it answered, where that is shown instead of what happened.
    pub(crate) output: Option<Output>,
    pub(crate) is_gone: bool,
}

/// What a model says and has not said to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Saying {
    /// How many answers came before this one.
    pub(crate) message: usize,
    pub(crate) text: String,
    /// What it does beside speaking.
    pub(crate) act: Option<String>,
}

/// What a run answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) text: String,
    pub(crate) place: Place,
}

impl Opened {
    pub(crate) fn new(number: u64, run: IndexedRun, context: PreviewContext) -> Self {
        let window = Window::new(run.run.clone(), context);
        Self {
            number,
            run,
            window: window.with_room(Room::WHOLE),
            answers: 0,
            saying: None,
            place: Place::End,
            output: None,
            is_gone: false,
        }
    }

    pub(crate) fn heard(&mut self, event: &RunEvent) {
        self.answers += usize::from(is_answer(event));
        self.window.apply(event);
    }

    /// The page that is read: what happened, or what it answered.
    pub(crate) fn page(&self, columns: usize) -> Page<'_> {
        match &self.output {
            Some(output) => {
                let lines = output.text.lines().map(|line| Line::new(Role::Plain, line));
                Page::of_lines(lines.collect(), columns)
            }
            None => Page::of_window(&self.window, &self.said_now(), columns),
        }
    }

    pub(crate) fn place(&self) -> Place {
        self.output
            .as_ref()
            .map_or(self.place, |output| output.place)
    }

    pub(crate) fn place_mut(&mut self) -> &mut Place {
        match &mut self.output {
            Some(output) => &mut output.place,
            None => &mut self.place,
        }
    }

    /// What stands below the record: a message that is in it already is not said once more.
    fn said_now(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some(saying) = self
            .saying
            .as_ref()
            .filter(|saying| saying.message >= self.answers && !self.window.status().is_over())
        {
            let words = saying.text.lines().filter(|line| !line.trim().is_empty());
            lines.extend(words.map(|line| Line::new(Role::Plain, line)));
            if let Some(act) = &saying.act {
                lines.push(Line::new(Role::Muted, &format!("({act}...)")));
            }
        }
        if self.is_gone {
            lines.push(Line::new(
                Role::Warning,
                "The record of this run was deleted; what stood in it is shown as far as it was read.",
            ));
        }
        lines
    }
}

/// Tells whether an event is an answer of the model, of which each is a turn.
pub(crate) fn is_answer(event: &RunEvent) -> bool {
    matches!(
        &event.happening,
        Happening::Said {
            record: ChildRecord::MessageEnded(Message::Assistant(_)),
            ..
        }
    )
}

impl Output {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text::clean(text),
            place: Place::BEGINNING,
        }
    }
}
