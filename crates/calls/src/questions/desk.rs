//! The questions of one call under way. A door that has a person shows them, one after the other.
//! The call is stuck when every run that is left waits for an answer, no person at the door is to
//! give one, and the caller's model may.

use std::sync::Arc;

use pi_subagents_vocabulary::{
    Answerer, Answerers, EventSink, Happening, Question, QuestionId, RunEvent, RunId, RunSummary,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// A question with the run that asks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestion {
    pub run: RunId,
    /// The name of the task.
    pub name: String,
    pub question: Question,
}

/// The questions of one call. Clones share it.
#[derive(Debug, Clone)]
pub struct QuestionDesk {
    state: Arc<watch::Sender<DeskState>>,
}

#[derive(Debug, Default)]
struct DeskState {
    /// True if a person at the door sees the questions.
    has_person: bool,
    /// The runs of the call, in the order in which they were accepted.
    runs: Vec<DeskRun>,
    /// True once the call was answered while runs of it wait.
    is_left: bool,
}

#[derive(Debug)]
struct DeskRun {
    id: RunId,
    /// The run as it was at its last question or end.
    summary: Arc<RunSummary>,
    open: Vec<DeskQuestion>,
    is_over: bool,
}

#[derive(Debug)]
struct DeskQuestion {
    asked: RunQuestion,
    stage: Stage,
}

/// The way of a question at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A person is to see it.
    New,
    /// A person sees it.
    Shown,
    /// No person at the door answers it now.
    Aside,
}

impl QuestionDesk {
    /// Makes the desk of a door where a person sees the questions.
    pub fn with_person() -> Self {
        Self::of(true)
    }

    /// Makes the desk of a door where only a model reads them.
    pub fn without_person() -> Self {
        Self::of(false)
    }

    fn of(has_person: bool) -> Self {
        let state = DeskState {
            has_person,
            ..DeskState::default()
        };
        Self {
            state: Arc::new(watch::Sender::new(state)),
        }
    }

    /// Makes the desk for those who see the questions of a call; none if no model reads its answer.
    pub(crate) fn of_answerers(answerers: Answerers) -> Option<Self> {
        answerers.model.then(|| Self::of(answerers.person))
    }

    /// Returns the sink that brings the questions of a call here.
    pub(crate) fn sink(&self) -> Box<dyn EventSink> {
        Box::new(DeskSink(self.clone()))
    }

    /// Takes in a question that another process has sent.
    pub fn bring(&self, asked: RunQuestion) {
        self.state.send_modify(|state| {
            let stage = state.first_stage();
            let run = state.run(&asked.run);
            run.open.push(DeskQuestion { asked, stage });
        });
    }

    /// Waits for a question that a person is to see.
    pub async fn next(&self) -> RunQuestion {
        let mut state = self.state.subscribe();
        loop {
            // The sender lives as long as the desk.
            _ = state.wait_for(|state| state.is_any(Stage::New)).await;
            let mut taken = None;
            self.state.send_if_modified(|state| {
                taken = state.take(Stage::New, Stage::Shown);
                taken.is_some()
            });
            if let Some(asked) = taken {
                return asked;
            }
        }
    }

    /// Returns the questions that a person at the door is to answer.
    pub(crate) fn of_person(&self) -> Vec<RunQuestion> {
        let state = self.state.borrow();
        let questions = state.questions();
        let shown = questions.filter(|question| question.stage != Stage::Aside);
        shown.map(|question| question.asked.clone()).collect()
    }

    /// Returns whether a question still waits for its answer.
    pub fn is_open(&self, id: &QuestionId) -> bool {
        let state = self.state.borrow();
        state.questions().any(|question| question.is(id))
    }

    /// Waits until all runs of the call are over.
    pub async fn over(&self) {
        let mut state = self.state.subscribe();
        let is_over =
            |state: &DeskState| !state.runs.is_empty() && state.runs.iter().all(|run| run.is_over);
        // The sender lives as long as the desk.
        _ = state.wait_for(is_over).await;
    }

    /// Leaves a question to others: the person at the door does not answer it now.
    pub fn put_aside(&self, id: &QuestionId) {
        self.state.send_modify(|state| {
            let questions = state.runs.iter_mut().flat_map(|run| &mut run.open);
            for question in questions.filter(|question| question.is(id)) {
                question.stage = Stage::Aside;
            }
        });
    }

    /// Returns whether a person at the door has a question before them, or is about to.
    pub(crate) fn is_with_person(&self, id: &QuestionId) -> bool {
        let state = self.state.borrow();
        let mut questions = state.questions();
        questions.any(|question| question.is(id) && question.stage != Stage::Aside)
    }

    /// Returns the changes from now on.
    pub(crate) fn changes(&self) -> DeskChanges {
        DeskChanges(self.state.subscribe())
    }

    /// Waits until nobody at the door can answer what is left of the call, but its model can.
    /// Returns the runs as they are, in their order.
    pub(crate) async fn stuck(&self) -> Vec<Arc<RunSummary>> {
        let mut state = self.state.subscribe();
        // The sender lives as long as the desk.
        _ = state.wait_for(DeskState::is_stuck).await;
        self.state.borrow().summaries()
    }

    /// Notes that the call was answered while runs of it wait.
    pub(crate) fn leave(&self) {
        self.state.send_modify(|state| state.is_left = true);
    }

    /// Returns whether the call was answered while runs of it wait.
    pub fn is_left(&self) -> bool {
        self.state.borrow().is_left
    }

    /// Returns whether a run of the call waits here or goes on.
    pub(crate) fn has(&self, run: &RunId) -> bool {
        let state = self.state.borrow();
        state
            .runs
            .iter()
            .any(|known| known.id == *run && !known.is_over)
    }
}

/// The changes of a desk.
pub(crate) struct DeskChanges(watch::Receiver<DeskState>);

impl DeskChanges {
    /// Waits for the next change, which may have come already; for ever once the desk is gone.
    pub(crate) async fn next(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl DeskState {
    fn first_stage(&self) -> Stage {
        if self.has_person {
            Stage::New
        } else {
            Stage::Aside
        }
    }

    fn run(&mut self, id: &RunId) -> &mut DeskRun {
        let place = self.runs.iter().position(|run| run.id == *id);
        let place = place.unwrap_or_else(|| {
            self.runs.push(DeskRun {
                id: id.clone(),
                summary: Arc::default(),
                open: Vec::new(),
                is_over: false,
            });
            self.runs.len() - 1
        });
        &mut self.runs[place]
    }

    fn questions(&self) -> impl Iterator<Item = &DeskQuestion> {
        self.runs.iter().flat_map(|run| &run.open)
    }

    fn is_any(&self, stage: Stage) -> bool {
        self.questions().any(|question| question.stage == stage)
    }

    /// Moves the first question of a stage to another one, and returns it.
    fn take(&mut self, from: Stage, to: Stage) -> Option<RunQuestion> {
        let mut questions = self.runs.iter_mut().flat_map(|run| &mut run.open);
        let question = questions.find(|question| question.stage == from)?;
        question.stage = to;
        Some(question.asked.clone())
    }

    fn is_stuck(&self) -> bool {
        let mut left = self.runs.iter().filter(|run| !run.is_over).peekable();
        let may_be_answered =
            |question: &DeskQuestion| question.asked.question.answerer == Answerer::Parent;
        left.peek().is_some()
            && left.all(DeskRun::is_aside)
            && self.questions().any(may_be_answered)
    }

    fn summaries(&self) -> Vec<Arc<RunSummary>> {
        let summaries = self.runs.iter().map(|run| Arc::clone(&run.summary));
        summaries.collect()
    }

    fn take_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        let first_stage = self.first_stage();
        let name = summary.task.as_ref().map_or("", |task| &task.name);
        for event in events {
            let run = self.run(&event.run);
            match &event.happening {
                Happening::Asked(question) => run.open.push(DeskQuestion {
                    asked: RunQuestion {
                        run: event.run.clone(),
                        name: name.to_owned(),
                        question: question.clone(),
                    },
                    stage: first_stage,
                }),
                Happening::Answered(answered) => {
                    run.open.retain(|question| !question.is(&answered.id));
                }
                Happening::Ended(_) => {
                    run.open.clear();
                    run.is_over = true;
                }
                _ => {}
            }
        }
        if let Some(event) = events.first() {
            self.run(&event.run).summary = Arc::new(summary.clone());
        }
    }
}

impl DeskRun {
    /// Returns whether it waits, and only for answers that no person at the door gives now.
    fn is_aside(&self) -> bool {
        let mut open = self.open.iter();
        !self.open.is_empty() && open.all(|question| question.stage == Stage::Aside)
    }
}

impl DeskQuestion {
    fn is(&self, id: &QuestionId) -> bool {
        self.asked.question.id == *id
    }
}

/// Brings the questions of a call to its desk.
struct DeskSink(QuestionDesk);

impl EventSink for DeskSink {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        if events.iter().any(matters) {
            let state = &self.0.state;
            state.send_modify(|state| state.take_events(events, summary));
        }
    }
}

/// Returns whether an event changes what is asked. All others are many, and a summary is large.
fn matters(event: &RunEvent) -> bool {
    matches!(
        event.happening,
        Happening::Accepted(_) | Happening::Asked(_) | Happening::Answered(_) | Happening::Ended(_)
    )
}
