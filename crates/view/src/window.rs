//! The rolling view of one run: a fold over its events.

use std::time::Duration;

use pi_subagents_vocabulary::{
    Activity, Happening, ModelChoice, PartialMessage, RunEvent, RunId, RunSummary, SessionId,
    Status, ThinkingLevel, Timestamp, ToolResult,
};

use crate::facts::RunFacts;
use crate::held_call::HeldCall;
use crate::history::History;
use crate::item_lines::{Piece, lines_of};
use crate::preview::PreviewContext;
use crate::story::{Story, What};
use crate::todos::Todos;
use crate::{Room, TodoProgress, WindowLine};

/// One run as people see it: its header's facts, its newest lines, its clock.
///
/// Everything in it is read from the run's events, so a window of a recorded run equals the one
/// that was seen live; only the partial message comes from elsewhere, and does not stay.
#[derive(Debug, Clone)]
pub struct Window {
    run: RunId,
    context: PreviewContext,
    planned: ModelChoice,
    facts: RunFacts,
    story: Story,
    history: History,
    todos: Todos,
    /// The number of its model's answers that are in its lines.
    answers: usize,
    partial: Option<PartialMessage>,
    is_stopping: bool,
}

impl Window {
    /// Makes the window of a run about which nothing is known yet.
    ///
    /// The directory in `context` is replaced by that of the task, once it is accepted.
    pub fn new(run: RunId, context: PreviewContext) -> Self {
        let width = context.width();
        Self {
            run,
            context,
            planned: ModelChoice::Inherit,
            facts: RunFacts::default(),
            story: Story::default(),
            history: History::new(Room::ROLLING, width),
            todos: Todos::default(),
            answers: 0,
            partial: None,
            is_stopping: false,
        }
    }

    /// Returns the same window with more or less room.
    #[must_use]
    pub fn with_room(self, room: Room) -> Self {
        Self {
            history: History::new(room, self.context.width()),
            ..self
        }
    }

    pub(crate) fn set_preview_width(&mut self, width: usize) {
        self.context.width = width;
        self.history.set_width(self.context.width());
    }

    /// Adds events of the run, and the run's summary after the last of them.
    pub fn apply(&mut self, events: &[RunEvent], summary: &RunSummary) {
        for event in events {
            self.add(event);
        }
        self.facts.last_sign = events.last().map(|event| event.at).or(self.facts.last_sign);
        self.facts.update(summary);
    }

    fn add(&mut self, event: &RunEvent) {
        match &event.happening {
            Happening::Accepted(task) => {
                self.context.cwd.clone_from(&task.cwd);
                if let Some(definition) = &task.definition {
                    self.planned.clone_from(&definition.model);
                }
            }
            Happening::Stopping(_) => self.is_stopping = true,
            Happening::Said { record, .. } => self.todos.take(record),
            _ => {}
        }
        for item in self.story.apply(event) {
            self.add_item(&item.what);
        }
    }

    fn add_item(&mut self, what: &What<'_>) {
        match what {
            What::Done {
                call,
                is_error,
                details,
            } => {
                let end = |call: &mut HeldCall| call.state.end(*is_error, *details);
                // A call that is not held any more has no line.
                _ = self.history.change_call(call, end);
            }
            What::Answer(result) => self.answered(result),
            What::Turn(_) => {
                self.answers += 1;
                self.partial
                    .take_if(|partial| partial.number < self.answers);
            }
            What::Ended(ending) => {
                let is_completed = ending.status() == Status::Completed;
                self.history.close_calls(is_completed);
            }
            _ => {}
        }
        for piece in lines_of(what, &self.context, self.history.room()) {
            match piece {
                Piece::Words(lines) => lines.into_iter().for_each(|line| self.history.push(line)),
                Piece::Call { id, preview } => self.history.push_call(HeldCall::new(id, preview)),
            }
        }
    }

    /// Takes the message that its model is writing, in place of the one before. Returns whether
    /// that changes anything: a message that is in the lines already is not shown twice.
    pub fn show_partial(&mut self, partial: PartialMessage) -> bool {
        if partial.number < self.answers {
            return false;
        }
        let says_something = !partial.text.is_empty() || partial.activity != Activity::Writing;
        let partial = says_something.then_some(partial);
        let is_new = self.partial != partial;
        self.partial = partial;
        is_new
    }

    /// Forgets the partial message of its model.
    pub fn drop_partial(&mut self) {
        self.partial = None;
    }

    /// Returns the message that its model is writing now, while the run goes on.
    pub fn partial(&self) -> Option<&PartialMessage> {
        self.partial
            .as_ref()
            .filter(|_| self.status() == Status::Running)
    }

    /// Returns how many answers its model has given.
    pub fn answers(&self) -> usize {
        self.answers
    }

    fn answered(&mut self, result: &ToolResult) {
        let is_held = self
            .history
            .change_call(&result.call_id, |call| call.answer(result));
        if !is_held {
            self.history.push_answer(result);
        }
    }

    /// Returns the id of the run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Returns the facts of the run's summary that its header and other views show.
    pub fn facts(&self) -> &RunFacts {
        &self.facts
    }

    /// Returns the name of its task, or its id if the task is not known.
    pub fn name(&self) -> &str {
        match &self.facts.task {
            Some(task) => &task.name,
            None => self.run.as_str(),
        }
    }

    /// Returns the session it belongs to.
    pub fn session(&self) -> Option<&SessionId> {
        self.facts.task.as_ref().map(|task| &task.session)
    }

    /// Returns the name of the definition it uses.
    pub fn definition(&self) -> Option<&str> {
        let used = self.facts.task.as_ref()?.definition.as_ref()?;
        Some(&used.name)
    }

    /// Returns the run's state.
    pub fn status(&self) -> Status {
        self.facts.status
    }

    /// Returns whether we decided to end it and it is not over yet.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping && !self.status().is_over()
    }

    /// Returns the provider that answered, else the requested one.
    pub fn provider(&self) -> Option<&str> {
        self.facts.provider.as_deref().or(match &self.planned {
            ModelChoice::Named { provider, .. } => provider.as_deref(),
            ModelChoice::Inherit => None,
        })
    }

    /// Returns the model that answered, else the requested one.
    pub fn model(&self) -> Option<&str> {
        self.facts.model.as_deref().or(match &self.planned {
            ModelChoice::Named { model, .. } => model.as_deref(),
            ModelChoice::Inherit => None,
        })
    }

    /// Returns how much the model may think, if somebody chose it.
    pub fn thinking(&self) -> Option<ThinkingLevel> {
        match &self.planned {
            ModelChoice::Named { thinking, .. } => *thinking,
            ModelChoice::Inherit => None,
        }
    }

    /// Returns the number of the child's tools, if the child listed all of them.
    pub fn tools(&self) -> Option<usize> {
        self.facts.tools
    }

    /// Returns whether one of its tools works.
    pub(crate) fn is_calling(&self) -> bool {
        self.history.has_open_call()
    }

    /// Returns the progress of its list of todos.
    pub fn todos(&self) -> Option<TodoProgress> {
        self.todos.progress()
    }

    /// Returns the time limit of its task.
    pub fn timeout(&self) -> Option<Duration> {
        self.facts.task.as_ref()?.timeout
    }

    /// Returns how long it has run, or ran; `None` for a run that never started.
    pub fn elapsed(&self, now: Timestamp) -> Option<Duration> {
        let started = self.facts.started_at?;
        let end = self.facts.ended_at.unwrap_or(now);
        Some(Duration::try_from(end.duration_since(started)).unwrap_or_default())
    }

    /// Returns the error of a run that is over.
    pub fn error(&self) -> Option<String> {
        self.facts.ending.as_ref()?.message()
    }

    /// Returns the newest lines, at most `limit`, oldest first.
    pub fn lines(&self, limit: usize) -> impl Iterator<Item = &WindowLine> {
        self.history.newest(limit)
    }

    /// Returns one of the held lines, counted from the oldest.
    pub fn line(&self, place: usize) -> Option<&WindowLine> {
        self.history.get(place)
    }

    /// Returns all lines that are held, oldest first.
    pub fn all_lines(&self) -> impl DoubleEndedIterator<Item = &WindowLine> + ExactSizeIterator {
        self.history.iter()
    }
}
