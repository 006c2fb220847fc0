//! A sub-agent whose child lives: reads its output, steers it, ends it.
//!
//! Everything that can wake it is one value of [`Wake`]. The child's records are handled
//! in `records.rs`, its end in `ending.rs`; the clocks of the end are in `stop_phases.rs`.

mod dialogs;
mod ending;
mod log;
mod model_switch;
mod payment;
mod records;
mod wrap_up;

use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::Command;
use pi_subagents_vocabulary::{Ending, Happening, Started};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use crate::child::{Inbox, LaunchedChild, Line, LineReader, Outbox, StderrLines};
use crate::completion::Exit;
use crate::guards::Deadline;
use crate::keeper::{KeeperLink, Report};
use crate::model_check::ModelCheck;
use crate::pause::Pause;
use crate::request::UnitRequest;
use crate::run_progress::RunProgress;
use crate::stop_phases::Phase;
use crate::to_child::{NotSent, ToChild};
use crate::unit::Unit;
pub(crate) use dialogs::random;
use payment::EmptyPurse;
pub(crate) use wrap_up::WrapUp;

/// The id of commands that start work.
const PROMPT: &str = "prompt";

/// The id of commands that steer.
const STEER: &str = "steer";

/// The outcome of a child for its run.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The run is over.
    Over(Ending),
    /// The run goes on with another child on the same session, and with this prompt.
    Again(String),
}

/// A sub-agent whose child has been started.
pub(crate) struct Running<'a> {
    unit: &'a mut Unit,
    progress: &'a mut RunProgress,
    started: Started,
    /// `None` once it is closed.
    stdin: Option<Outbox>,
    stdout: Inbox<LineReader>,
    stdout_is_open: bool,
    stderr: Inbox<StderrLines>,
    stderr_is_open: bool,
    keeper: KeeperLink,
    keeper_is_there: bool,
    phase: Phase,
    /// The ending of the run, once it is known.
    verdict: Option<Ending>,
    exit: Option<Exit>,
    /// The correction that was sent to the child and not accepted yet.
    correction: Option<String>,
    /// The deadline that the keeper knows.
    known_deadline: Option<Instant>,
    pause: Pause,
    /// The wait for a budget that is used up.
    empty_purse: Option<EmptyPurse>,
}

/// Everything that can wake a unit.
enum Wake {
    Output(Option<Vec<Line>>),
    Stderr(Option<Vec<String>>),
    Keeper(Option<Report>),
    Asked(UnitRequest),
    Alarm,
}

impl<'a> Running<'a> {
    pub(crate) fn new(
        unit: &'a mut Unit,
        progress: &'a mut RunProgress,
        mut child: LaunchedChild,
    ) -> Self {
        child
            .stdout
            .splitter_mut()
            .feed_partial(unit.partial.clone());
        Self {
            unit,
            progress,
            started: child.started,
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
            correction: None,
            known_deadline: None,
            pause: Pause::No,
            empty_purse: None,
        }
    }

    /// Works with the child until all of its processes are gone.
    pub(crate) async fn run(mut self) -> Outcome {
        self.unit.report(Happening::Started(self.started)).await;
        self.send_deadline();
        match &self.progress.check {
            Some(_) => self.send(&ModelCheck::question()),
            None => self.prompt(),
        }
        while !self.is_over() {
            self.unit.send_events().await;
            let wake = self.next().await;
            wake.log(&self.unit.task.run);
            let before = self.phase;
            self.handle(wake).await;
            self.phase.log_change(before, &self.unit.task.run);
        }
        let outcome = self.outcome().await;
        self.unit.send_events().await;
        self.keeper.ended().await;
        outcome
    }

    fn prompt(&mut self) {
        self.limit_turns();
        let message = std::mem::take(&mut self.progress.prompt);
        self.send_prompt(message);
    }

    fn send_prompt(&mut self, message: String) {
        if let Some(models) = &mut self.progress.models {
            models.undelivered = Some(message.clone());
        }
        let id = PROMPT.to_owned();
        self.send(&Command::Prompt { id, message });
    }

    fn is_over(&self) -> bool {
        match self.phase {
            Phase::Draining { until } => {
                !(self.stdout_is_open || self.stderr_is_open) || Instant::now() >= until
            }
            Phase::Working
            | Phase::Aborting { .. }
            | Phase::Leaving { .. }
            | Phase::Ending { .. } => false,
        }
    }

    async fn next(&mut self) -> Wake {
        let alarm = self.alarm();
        tokio::select! {
            lines = self.stdout.next(), if self.stdout_is_open => Wake::Output(lines),
            lines = self.stderr.next(), if self.stderr_is_open => Wake::Stderr(lines),
            report = self.keeper.next(), if self.keeper_is_there => Wake::Keeper(report),
            Some(request) = self.unit.requests.recv() => Wake::Asked(request),
            () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => Wake::Alarm,
        }
    }

    fn alarm(&self) -> Option<Instant> {
        match self.phase {
            _ if self.pause.stops_clocks() => self.empty_purse.as_ref().map(EmptyPurse::alarm),
            // The keeper gets a new deadline when the last one has passed, and not before: a
            // deadline moves with every sign of a tool.
            Phase::Working => {
                let asking = self.progress.questions.alarm();
                let all = [self.known_deadline, self.switch_alarm(), asking];
                all.into_iter().flatten().min()
            }
            phase => phase.alarm(),
        }
    }

    async fn handle(&mut self, wake: Wake) {
        match wake {
            Wake::Output(Some(lines)) => {
                for line in lines {
                    self.handle_line(line).await;
                }
            }
            Wake::Output(None) => self.output_closed().await,
            Wake::Stderr(Some(lines)) => {
                for line in lines {
                    self.unit.report(Happening::Complained(line)).await;
                }
            }
            Wake::Stderr(None) => self.stderr_is_open = false,
            Wake::Keeper(report) => self.keeper_reported(report).await,
            Wake::Asked(UnitRequest::End(decision)) => self.asked_to_end(decision).await,
            Wake::Asked(UnitRequest::Pause { paused }) => self.pause(paused),
            Wake::Asked(UnitRequest::Resume { pause }) if self.empty_purse.is_some() => {
                self.wait_longer(pause);
            }
            Wake::Asked(UnitRequest::Resume { pause }) => self.resume(pause),
            Wake::Asked(UnitRequest::Send { what, answer }) => {
                let sent = self.send_to_child(what).await;
                self.unit.send_events().await;
                // The asker may have left.
                _ = answer.send(sent);
            }
            Wake::Alarm => self.alarmed().await,
        }
    }

    async fn send_to_child(&mut self, what: ToChild) -> Result<(), NotSent> {
        match what {
            ToChild::Message(message) => self.steer(message).await,
            ToChild::Answer(given) => self.answer(given).await,
        }
    }

    async fn steer(&mut self, message: String) -> Result<(), NotSent> {
        if self.phase != Phase::Working || self.stdin.is_none() {
            return Err(NotSent::Ending(self.unit.task.run.clone()));
        }
        if self.progress.check.is_some() {
            return Err(NotSent::NotStarted(self.unit.task.run.clone()));
        }
        self.send(&Command::Steer {
            id: STEER.to_owned(),
            message: message.clone(),
        });
        self.unit.report(Happening::Steered(message)).await;
        Ok(())
    }

    /// Sends the keeper the time that the run has left. A run that waits for an answer has as much
    /// as it needs.
    fn send_deadline(&mut self) {
        if self.progress.questions.are_open() {
            self.known_deadline = None;
            return self.keeper.send_deadline(Duration::MAX);
        }
        self.known_deadline = self.progress.deadline.as_ref().map(Deadline::alarm);
        if let Some(ends_at) = self.known_deadline {
            let left = ends_at.saturating_duration_since(Instant::now());
            self.keeper.send_deadline(left);
            debug!(run = %self.unit.task.run, left_s = left.as_secs_f64(), "deadline");
        }
    }

    fn pause(&mut self, paused: mpsc::Sender<()>) {
        self.pause = if self.keeper_is_there {
            self.keeper.pause();
            Pause::Asked(paused)
        } else {
            Pause::Yes
        };
    }

    /// Goes on after a pause; all clocks have as much time left as before it.
    fn resume(&mut self, pause: Duration) {
        self.pause = Pause::No;
        self.phase = self.phase.after_pause(pause);
        // The time of a wait counts as a whole when the wait is over.
        if let Some(deadline) = &mut self.progress.deadline
            && !self.progress.questions.are_open()
        {
            deadline.paused(pause);
        }
        self.keeper.resume();
        self.send_deadline();
    }

    fn send(&mut self, command: &Command) {
        if let Some(stdin) = &self.stdin {
            stdin.send(command);
        }
    }

    async fn close_stdin(&mut self) {
        if let Some(stdin) = self.stdin.take() {
            stdin.close().await;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
