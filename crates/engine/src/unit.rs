//! The life of one sub-agent: its child is launched, lived with and, where it exits without the
//! report it owes, launched again.

use std::sync::Arc;

use bytes::Bytes;
use pi_subagents_delegation::child_protocol::{ChildRecord, ResponseData};
use pi_subagents_delegation::{Decision, Ending, Happening, Runner, Task, TaskPlan, Timestamp};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::Launcher;
use crate::child::{
    LaunchError, LaunchedChild, LineMemory, SessionLock, Speech, launch, lock_session,
};
use crate::clock;
use crate::completion::{LastAnswer, Reports};
use crate::guards::{Deadline, Repetition, Spending};
use crate::model_check::ModelCheck;
use crate::request::{SteerError, UnitEvents, UnitRequest, UnitSaid};
use crate::room::{Patience, Place, Room};
use crate::running::{Outcome, Running};
use crate::tool_check::ToolCheck;

/// Larger records are not sent on in decoded form.
const LARGE_RECORD: usize = 256 << 10;

/// How many events are told at once at most: a child that says much is followed in few steps.
const EVENTS_AT_ONCE: usize = 128;

/// One sub-agent that is about to run.
pub(crate) struct Unit {
    pub(crate) task: Arc<Task>,
    pub(crate) plan: Box<TaskPlan>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) memory: LineMemory,
    pub(crate) room: Arc<Room>,
    pub(crate) speech: Speech,
    pub(crate) events: mpsc::Sender<UnitEvents>,
    /// What has happened and is not told yet; a unit that waits for anything has told all.
    pub(crate) untold: Vec<(Timestamp, UnitSaid)>,
    pub(crate) requests: mpsc::UnboundedReceiver<UnitRequest>,
}

/// What a run knows over all its children.
#[derive(Debug)]
pub(crate) struct Course {
    /// What the next child is told first.
    pub(crate) prompt: String,
    /// What must be found out before that.
    pub(crate) check: Option<ModelCheck>,
    /// What must be found out when the child tells of its tools.
    pub(crate) tools: Option<ToolCheck>,
    pub(crate) last_answer: LastAnswer,
    pub(crate) reports: Reports,
    /// Runs from the start of the first child.
    pub(crate) deadline: Option<Deadline>,
    pub(crate) repetition: Repetition,
    pub(crate) spending: Spending,
    /// How often the owner said that it is told to end.
    pub(crate) shutdowns: u32,
}

impl Course {
    /// The course of a run whose first child has just started.
    pub(crate) fn begin(task: &Task, plan: &mut TaskPlan) -> Self {
        Self {
            prompt: first_prompt(plan),
            check: ModelCheck::of(plan),
            tools: ToolCheck::of(plan, task.known_tools.as_ref()),
            last_answer: LastAnswer::default(),
            reports: Reports::new(plan.completion),
            deadline: Deadline::new(Instant::now(), &plan.limits),
            repetition: Repetition::new(plan.limits.repetitions),
            spending: Spending::new(plan.limits.allowance),
            shutdowns: 0,
        }
    }
}

/// Pi takes a prompt that begins with a slash for a command and might never settle; with a
/// newline before it the model reads the same words.
fn first_prompt(plan: &mut TaskPlan) -> String {
    let prompt = std::mem::take(&mut plan.prompt);
    match plan.runner {
        Runner::Pi if prompt.starts_with('/') => format!("\n{prompt}"),
        Runner::Pi | Runner::Embedded => prompt,
    }
}

impl Unit {
    /// Lives the whole life of a run; its last event is the one `Ended`.
    pub(crate) async fn live(mut self) {
        let ending = self.course().await;
        self.tell(Happening::Ended(ending)).await;
        self.tell_all().await;
    }

    /// The session is locked over all children of the run, so that nobody writes in between.
    async fn course(&mut self) -> Ending {
        let lock = match lock_session(&self.task, &self.plan).await {
            Ok(lock) => lock,
            Err(error) => return error.ending(&self.task),
        };
        match self.children(lock.as_ref()).await {
            Ok(ending) => {
                if let Some(lock) = lock {
                    lock.release();
                }
                ending
            }
            Err(error) => error.ending(&self.task),
        }
    }

    async fn children(&mut self, lock: Option<&SessionLock>) -> Result<Ending, LaunchError> {
        let mut course = None;
        loop {
            let (child, place) = match self.launched(lock).await? {
                Ok(child) => child,
                Err(decision) => return Ok(self.decided(decision).await),
            };
            let course = course.get_or_insert_with(|| Course::begin(&self.task, &mut self.plan));
            match Running::new(self, course, child).run().await {
                Outcome::Over(ending) => return Ok(ending),
                Outcome::Again(prompt) => course.prompt = prompt,
            }
            drop(place);
            if let Some(decision) = self.told_to_end() {
                return Ok(self.decided(decision).await);
            }
        }
    }

    /// Starts a child. Where there is no room for it, it waits until another one has ended, or
    /// somebody wants the end of the run.
    async fn launched(
        &mut self,
        lock: Option<&SessionLock>,
    ) -> Result<Result<(LaunchedChild, Place), Decision>, LaunchError> {
        let mut patience = Patience::new();
        loop {
            let memory = self.memory.clone();
            match launch(&self.launcher, &self.task, &self.plan, memory, lock).await {
                Ok(child) => return Ok(Ok((child, self.room.take()))),
                Err(error) if error.is_for_want_of_room() => {
                    if !patience.wait_for(&self.room).await {
                        return Err(error.explained());
                    }
                }
                Err(error) => return Err(error),
            }
            if let Some(decision) = self.told_to_end() {
                return Ok(Err(decision));
            }
        }
    }

    /// Somebody wants the end while there is no child.
    async fn decided(&mut self, decision: Decision) -> Ending {
        self.tell(Happening::Stopping(decision)).await;
        decision.ending()
    }

    /// Whether somebody asked for the end while there was no child.
    fn told_to_end(&mut self) -> Option<Decision> {
        while let Ok(request) = self.requests.try_recv() {
            match request {
                UnitRequest::End(decision) => return Some(decision),
                // A child that is started after a pause has all its time.
                UnitRequest::Pause { .. } | UnitRequest::Resume { .. } => {}
                UnitRequest::Steer { answer, .. } => {
                    let run = self.task.run.clone();
                    // Whoever asked may have left.
                    _ = answer.send(Err(SteerError::NotStarted(run)));
                }
            }
        }
        None
    }

    pub(crate) async fn tell(&mut self, happening: Happening) {
        self.add(UnitSaid::Happened(happening)).await;
    }

    pub(crate) async fn tell_record(&mut self, line: Bytes, record: ChildRecord) {
        if !is_worth_telling(&record) {
            return;
        }
        if line.len() <= LARGE_RECORD {
            self.tell(Happening::Said { line, record }).await;
        } else {
            drop(record);
            self.add(UnitSaid::LargeRecord(line)).await;
        }
    }

    async fn add(&mut self, said: UnitSaid) {
        self.untold.push((clock::now(), said));
        if self.untold.len() >= EVENTS_AT_ONCE {
            self.tell_all().await;
        }
    }

    /// Hands what has happened to the dispatcher; waits while that has enough to do.
    pub(crate) async fn tell_all(&mut self) {
        if self.untold.is_empty() {
            return;
        }
        let run = self.task.run.clone();
        let what = std::mem::take(&mut self.untold);
        // The dispatcher outlives its units; if it does not, there is nobody left to tell.
        _ = self.events.send(UnitEvents { run, what }).await;
    }
}

/// Pieces and repetitions are not told, and neither is a list of all models there are.
fn is_worth_telling(record: &ChildRecord) -> bool {
    match record {
        ChildRecord::Delta | ChildRecord::Repetition => false,
        ChildRecord::Responded(response) => !matches!(response.data, ResponseData::Models(_)),
        _ => true,
    }
}
