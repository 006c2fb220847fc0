//! The life of one sub-agent: launch, listen, stop, end.
//!
//! Everything that can wake a unit is one value of [`Happened`]; the clocks of its ending are in
//! `stopping.rs`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pi_subagents_delegation::child_protocol::{ChildRecord, Command, Question, Response};
use pi_subagents_delegation::{
    AssistantMessage, Decision, Ending, Happening, Message, Runner, Task, TaskPlan,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::Launcher;
use crate::child::{
    Inbox, LaunchedChild, Line, LineMemory, LineReader, Outbox, StderrLines, launch,
};
use crate::completion::{Exit, LastAnswer, Reports, Verdict};
use crate::guards::{Deadline, Repetition};
use crate::keeper::{KeeperLink, Report};
use crate::leftovers::end_leftovers;
use crate::request::{SteerError, UnitEvent, UnitRequest, UnitSaid};
use crate::stopping::{AFTER_ITS_ANSWER, AFTER_ITS_REPORT, Pace, Phase};

/// The id of the command that starts the work.
const PROMPT: &str = "prompt";

/// The id of commands that steer.
const STEER: &str = "steer";

/// Larger records are not sent on in decoded form.
const LARGE_RECORD: usize = 256 << 10;

/// One sub-agent that is about to run.
pub(crate) struct Unit {
    pub(crate) task: Arc<Task>,
    pub(crate) plan: Box<TaskPlan>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) memory: LineMemory,
    pub(crate) events: mpsc::Sender<UnitEvent>,
    pub(crate) requests: mpsc::UnboundedReceiver<UnitRequest>,
}

impl Unit {
    /// Lives the whole life of a run; its last event is the one `Ended`.
    pub(crate) async fn live(self) {
        let launched = launch(&self.launcher, &self.task, &self.plan, self.memory.clone()).await;
        match launched {
            Ok(child) => {
                let (running, started) = Running::new(self, child);
                running.run(started).await;
            }
            Err(error) => {
                let ending = error.ending(&self.task);
                self.tell(Happening::Ended(ending)).await;
            }
        }
    }

    async fn tell(&self, happening: Happening) {
        self.send(UnitSaid::Happened(happening)).await;
    }

    async fn send(&self, what: UnitSaid) {
        let run = self.task.run.clone();
        // The dispatcher outlives its units; if it does not, there is nobody left to tell.
        _ = self.events.send(UnitEvent { run, what }).await;
    }

    async fn tell_record(&self, line: Bytes, record: ChildRecord) {
        if matches!(record, ChildRecord::Delta | ChildRecord::Repetition) {
            return;
        }
        if line.len() <= LARGE_RECORD {
            self.tell(Happening::Said { line, record }).await;
        } else {
            drop(record);
            self.send(UnitSaid::LargeRecord(line)).await;
        }
    }
}

/// A sub-agent whose child has been started.
struct Running {
    unit: Unit,
    /// `None` once it is closed.
    stdin: Option<Outbox>,
    stdout: Inbox<LineReader>,
    stdout_is_open: bool,
    stderr: Inbox<StderrLines>,
    stderr_is_open: bool,
    keeper: KeeperLink,
    keeper_is_there: bool,
    phase: Phase,
    /// How the run ends, once that is known.
    verdict: Option<Ending>,
    exit: Option<Exit>,
    last_answer: LastAnswer,
    reports: Reports,
    deadline: Option<Deadline>,
    repetition: Repetition,
    /// How often the owner said that it is told to end.
    shutdowns: u32,
}

/// Everything that can wake a unit.
enum Happened {
    Output(Option<Vec<Line>>),
    Stderr(Option<Vec<String>>),
    Keeper(Option<Report>),
    Asked(UnitRequest),
    Alarm,
}

impl Running {
    fn new(unit: Unit, child: LaunchedChild) -> (Self, Happening) {
        let deadline = Deadline::new(Instant::now(), &unit.plan.limits);
        let repetition = Repetition::new(unit.plan.limits.repetitions);
        let reports = Reports::new(unit.plan.completion);
        let running = Self {
            unit,
            stdin: Some(child.stdin),
            stdout: child.stdout,
            stdout_is_open: true,
            stderr: child.stderr,
            stderr_is_open: true,
            keeper: child.keeper,
            keeper_is_there: true,
            phase: Phase::Working,
            verdict: None,
            exit: None,
            last_answer: LastAnswer::default(),
            reports,
            deadline,
            repetition,
            shutdowns: 0,
        };
        (running, Happening::Started(child.started))
    }

    async fn run(mut self, started: Happening) {
        self.unit.tell(started).await;
        self.prompt();
        while !self.is_over() {
            let happened = self.next().await;
            self.handle(happened).await;
        }
        let ending = self.ending();
        self.keeper.ended().await;
        self.unit.tell(Happening::Ended(ending)).await;
    }

    /// Sends the prompt. Pi takes a prompt that begins with a slash for a command and might never
    /// settle; with a newline before it the model reads the same words.
    fn prompt(&mut self) {
        let prompt = std::mem::take(&mut self.unit.plan.prompt);
        let message = match self.unit.plan.runner {
            Runner::Pi if prompt.starts_with('/') => format!("\n{prompt}"),
            Runner::Pi | Runner::Embedded => prompt,
        };
        self.say(&Command::Prompt {
            id: PROMPT.to_owned(),
            message,
        });
    }

    fn is_over(&self) -> bool {
        match self.phase {
            Phase::Draining { until } => {
                !(self.stdout_is_open || self.stderr_is_open) || Instant::now() >= until
            }
            Phase::Working | Phase::Aborting { .. } | Phase::Leaving { .. } | Phase::Ending => {
                false
            }
        }
    }

    async fn next(&mut self) -> Happened {
        let alarm = self.alarm();
        tokio::select! {
            lines = self.stdout.next(), if self.stdout_is_open => Happened::Output(lines),
            lines = self.stderr.next(), if self.stderr_is_open => Happened::Stderr(lines),
            report = self.keeper.next(), if self.keeper_is_there => Happened::Keeper(report),
            Some(request) = self.unit.requests.recv() => Happened::Asked(request),
            () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => Happened::Alarm,
        }
    }

    fn alarm(&self) -> Option<Instant> {
        match self.phase {
            Phase::Working => self.deadline.as_ref().map(Deadline::alarm),
            phase => phase.alarm(),
        }
    }

    async fn handle(&mut self, happened: Happened) {
        match happened {
            Happened::Output(Some(lines)) => {
                for line in lines {
                    self.heard(line).await;
                }
            }
            Happened::Output(None) => self.output_closed().await,
            Happened::Stderr(Some(lines)) => {
                for line in lines {
                    self.unit.tell(Happening::Complained(line)).await;
                }
            }
            Happened::Stderr(None) => self.stderr_is_open = false,
            Happened::Keeper(report) => self.keeper_said(report).await,
            Happened::Asked(UnitRequest::End(decision)) => self.asked_to_end(decision).await,
            Happened::Asked(UnitRequest::Steer { message, answer }) => {
                // Whoever asked may have left.
                _ = answer.send(self.steer(message).await);
            }
            Happened::Alarm => self.alarmed().await,
        }
    }

    async fn heard(&mut self, line: Line) {
        match line {
            Line::ToolReported => self.tool_was_at_work(),
            Line::Text(line) => self.unit.tell(Happening::Printed(line)).await,
            Line::Record { line, record } => {
                let consequence = self.weigh(&record);
                self.unit.tell_record(line, record).await;
                match consequence {
                    Consequence::Decide(decision) if self.phase == Phase::Working => {
                        self.decide(decision).await;
                    }
                    Consequence::None | Consequence::Decide(_) => {}
                    Consequence::Settled => self.settled().await,
                    Consequence::Refused(message) => {
                        self.conclude(Ending::ModelError { message }).await;
                    }
                }
            }
        }
    }

    /// What a record means for the run, beside being told to everybody.
    fn weigh(&mut self, record: &ChildRecord) -> Consequence {
        match record {
            ChildRecord::MessageEnded(Message::Assistant(answer)) => self.weigh_answer(answer),
            ChildRecord::ToolStarted { .. } | ChildRecord::ToolProgressed { .. } => {
                self.tool_was_at_work();
                Consequence::None
            }
            ChildRecord::ToolEnded {
                tool,
                is_error,
                details,
                ..
            } => {
                self.tool_was_at_work();
                if !is_error && let Some(ending) = self.reports.ending(tool, details.as_ref()) {
                    self.reported(ending);
                }
                Consequence::None
            }
            ChildRecord::Settled => Consequence::Settled,
            ChildRecord::Responded(response) => weigh_response(response),
            ChildRecord::Asked(question) => {
                self.cancel(question);
                Consequence::None
            }
            _ => Consequence::None,
        }
    }

    fn weigh_answer(&mut self, answer: &AssistantMessage) -> Consequence {
        self.last_answer.heard(answer);
        answer
            .tool_calls()
            .find_map(|call| self.repetition.observe(call))
            .map_or(Consequence::None, Consequence::Decide)
    }

    fn tool_was_at_work(&mut self) {
        if let Some(deadline) = &mut self.deadline {
            deadline.tool_was_at_work(Instant::now());
        }
    }

    /// Nobody sees the dialogs of a child, and the child would wait for ever.
    fn cancel(&mut self, question: &Question) {
        if question.is_waiting() {
            let id = question.id.clone();
            self.say(&Command::CancelQuestion { id });
        }
    }

    async fn settled(&mut self) {
        if let Phase::Aborting { pace, .. } = self.phase {
            self.leave(pace).await;
            return;
        }
        match self.reports.judge(&self.last_answer) {
            Verdict::Over(ending) => self.conclude(ending).await,
            Verdict::AskAgain(correction) if self.phase == Phase::Working => {
                self.say(&Command::Prompt {
                    id: PROMPT.to_owned(),
                    message: correction.clone(),
                });
                self.unit.tell(Happening::Steered(correction)).await;
            }
            // A child that exited cannot be told any more.
            Verdict::AskAgain(_) => {}
        }
    }

    /// The child has reported. Its turn ends by itself unless its model called other tools too.
    fn reported(&mut self, ending: Ending) {
        self.verdict.get_or_insert(ending);
        if self.phase == Phase::Working {
            self.phase = Phase::aborting(Instant::now(), AFTER_ITS_REPORT);
        }
    }

    /// The run is over for us; the child needs only to exit. It may have exited already: then we
    /// heard of that before we read its last words, and they count all the same.
    async fn conclude(&mut self, ending: Ending) {
        self.verdict.get_or_insert(ending);
        if self.phase == Phase::Working {
            self.leave(AFTER_ITS_ANSWER).await;
        }
    }

    /// Ends a run that would go on.
    async fn decide(&mut self, decision: Decision) {
        self.verdict = Some(decision.ending());
        self.unit.tell(Happening::Stopping(decision)).await;
        self.say(&Command::Abort);
        self.phase = Phase::aborting(Instant::now(), Pace::of(decision));
    }

    /// Somebody asks for the end of the run; whoever asks again is in a hurry, and a second
    /// shutdown waits for nothing.
    async fn asked_to_end(&mut self, decision: Decision) {
        let is_shutdown = matches!(decision, Decision::Shutdown { .. });
        self.shutdowns += u32::from(is_shutdown);
        let grace = if self.shutdowns > 1 {
            Duration::ZERO
        } else {
            Pace::of(decision).grace
        };
        match self.phase {
            Phase::Working => self.decide(decision).await,
            Phase::Aborting { .. } | Phase::Leaving { .. } => self.end_tree(grace).await,
            Phase::Ending if is_shutdown => self.keeper.stop(grace),
            Phase::Ending | Phase::Draining { .. } => {}
        }
    }

    async fn alarmed(&mut self) {
        match self.phase {
            Phase::Working => {
                let now = Instant::now();
                if let Some(decision) = self.deadline.as_ref().and_then(|d| d.check(now)) {
                    self.decide(decision).await;
                }
            }
            Phase::Aborting { pace, .. } => self.leave(pace).await,
            Phase::Leaving { pace, .. } => {
                if self.verdict.is_none() {
                    self.verdict = Some(Ending::Lost {
                        reason: "it closed its output and lived on".to_owned(),
                    });
                }
                self.end_tree(pace.grace).await;
            }
            Phase::Ending | Phase::Draining { .. } => {}
        }
    }

    /// A child that closes its output can say nothing more; most of the time it is exiting.
    async fn output_closed(&mut self) {
        self.stdout_is_open = false;
        if self.phase == Phase::Working {
            self.leave(AFTER_ITS_ANSWER).await;
        }
    }

    async fn leave(&mut self, pace: Pace) {
        self.close_stdin().await;
        self.phase = Phase::leaving(Instant::now(), pace);
    }

    async fn end_tree(&mut self, grace: Duration) {
        self.close_stdin().await;
        self.keeper.stop(grace);
        self.phase = Phase::Ending;
    }

    async fn keeper_said(&mut self, report: Option<Report>) {
        match report {
            Some(Report::Exited { code, signal }) => {
                self.exit = Some(Exit::new(code, signal));
                self.close_stdin().await;
                self.phase = Phase::Ending;
            }
            Some(Report::Gone { .. }) => self.tree_is_gone(),
            Some(Report::Started { .. } | Report::CouldNotStart { .. }) => {}
            None => self.keeper_died().await,
        }
    }

    /// The owner inherits what a dead keeper kept, and ends it in its place.
    async fn keeper_died(&mut self) {
        self.close_stdin().await;
        let run = self.unit.task.run.clone();
        let launcher = Arc::clone(&self.unit.launcher);
        // The task cannot fail: it does not panic and nobody aborts it.
        _ = tokio::task::spawn_blocking(move || {
            end_leftovers(&run);
            launcher.own_children.end_strangers();
        })
        .await;
        self.verdict.get_or_insert_with(|| Ending::Lost {
            reason: "its keeper was killed".to_owned(),
        });
        self.tree_is_gone();
    }

    fn tree_is_gone(&mut self) {
        self.keeper_is_there = false;
        self.phase = Phase::draining(Instant::now());
    }

    async fn steer(&mut self, message: String) -> Result<(), SteerError> {
        if self.phase != Phase::Working || self.stdin.is_none() {
            return Err(SteerError::Ending(self.unit.task.run.clone()));
        }
        self.say(&Command::Steer {
            id: STEER.to_owned(),
            message: message.clone(),
        });
        self.unit.tell(Happening::Steered(message)).await;
        Ok(())
    }

    fn say(&mut self, command: &Command) {
        if let Some(stdin) = &self.stdin {
            stdin.send(command);
        }
    }

    async fn close_stdin(&mut self) {
        if let Some(stdin) = self.stdin.take() {
            stdin.close().await;
        }
    }

    fn ending(&mut self) -> Ending {
        if let Some(verdict) = self.verdict.take() {
            return verdict;
        }
        let stderr = self.stderr.splitter().last_words();
        self.exit.unwrap_or(Exit::Unknown).judge(stderr)
    }
}

/// What follows from a record.
enum Consequence {
    None,
    Decide(Decision),
    Settled,
    /// The child did not take the prompt.
    Refused(String),
}

fn weigh_response(response: &Response) -> Consequence {
    match (&response.error, response.command.as_str()) {
        (Some(error), "prompt") => Consequence::Refused(error.clone()),
        (Some(_) | None, _) => Consequence::None,
    }
}

#[cfg(test)]
#[path = "unit_tests.rs"]
mod tests;
