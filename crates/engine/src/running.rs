//! A sub-agent whose child lives: listen, stop, end.
//!
//! Everything that can wake it is one value of [`Happened`]; the clocks of its ending are in
//! `stopping.rs`.

use std::sync::Arc;
use std::time::Duration;

use pi_subagents_delegation::child_protocol::{ChildRecord, Command, Question, Response};
use pi_subagents_delegation::{AssistantMessage, Decision, Ending, Happening, Message, Started};
use tokio::time::{Instant, sleep_until};

use crate::child::{Inbox, LaunchedChild, Line, LineReader, Outbox, StderrLines};
use crate::completion::{Exit, Verdict};
use crate::guards::Deadline;
use crate::keeper::{KeeperLink, Report};
use crate::leftovers::end_leftovers;
use crate::model_check::{Checked, ModelCheck};
use crate::request::{SteerError, UnitRequest};
use crate::stopping::{AFTER_ITS_ANSWER, AFTER_ITS_REPORT, Pace, Phase};
use crate::unit::{Course, Unit};

/// The id of commands that start work.
const PROMPT: &str = "prompt";

/// The id of commands that steer.
const STEER: &str = "steer";

/// How a child left its run.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The run is over.
    Over(Ending),
    /// It goes on with another child on the same session, which is told this.
    Again(String),
}

/// A sub-agent whose child has been started.
pub(crate) struct Running<'a> {
    unit: &'a mut Unit,
    course: &'a mut Course,
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
    /// How the run ends, once that is known.
    verdict: Option<Ending>,
    exit: Option<Exit>,
    /// What the child was told and has not taken yet.
    correction: Option<String>,
}

/// Everything that can wake a unit.
enum Happened {
    Output(Option<Vec<Line>>),
    Stderr(Option<Vec<String>>),
    Keeper(Option<Report>),
    Asked(UnitRequest),
    Alarm,
}

impl<'a> Running<'a> {
    pub(crate) fn new(unit: &'a mut Unit, course: &'a mut Course, child: LaunchedChild) -> Self {
        Self {
            unit,
            course,
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
        }
    }

    /// Lives with the child until nothing of it is left.
    pub(crate) async fn run(mut self) -> Outcome {
        self.unit.tell(Happening::Started(self.started)).await;
        match &self.course.check {
            Some(_) => self.say(&ModelCheck::question()),
            None => self.prompt(),
        }
        while !self.is_over() {
            let happened = self.next().await;
            self.handle(happened).await;
        }
        let outcome = self.outcome().await;
        self.keeper.ended().await;
        outcome
    }

    fn prompt(&mut self) {
        let message = std::mem::take(&mut self.course.prompt);
        self.say_prompt(message);
    }

    fn say_prompt(&mut self, message: String) {
        let id = PROMPT.to_owned();
        self.say(&Command::Prompt { id, message });
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
            Phase::Working => self.course.deadline.as_ref().map(Deadline::alarm),
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
                self.follow(consequence).await;
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
                if !is_error
                    && let Some(ending) = self.course.reports.ending(tool, details.as_ref())
                {
                    self.reported(ending);
                }
                Consequence::None
            }
            ChildRecord::Settled => Consequence::Settled,
            ChildRecord::Responded(response) => self.weigh_response(response),
            ChildRecord::Asked(question) if question.is_waiting() => {
                Consequence::Asked(question.clone())
            }
            _ => Consequence::None,
        }
    }

    fn weigh_answer(&mut self, answer: &AssistantMessage) -> Consequence {
        self.course.last_answer.heard(answer);
        answer
            .tool_calls()
            .find_map(|call| self.course.repetition.observe(call))
            .map_or(Consequence::None, Consequence::Decide)
    }

    fn weigh_response(&mut self, response: &Response) -> Consequence {
        match (&response.error, response.command.as_str()) {
            (Some(error), "prompt") => Consequence::Refused(error.clone()),
            (None, "prompt") => {
                self.correction = None;
                Consequence::None
            }
            (Some(_) | None, _) => match &mut self.course.check {
                Some(check) => Consequence::Checked(check.heard(response)),
                None => Consequence::None,
            },
        }
    }

    async fn follow(&mut self, consequence: Consequence) {
        match consequence {
            Consequence::Decide(decision) if self.phase == Phase::Working => {
                self.decide(decision).await;
            }
            Consequence::None | Consequence::Decide(_) => {}
            Consequence::Settled => self.settled().await,
            Consequence::Refused(message) => {
                self.conclude(Ending::ModelError { message }).await;
            }
            Consequence::Asked(question) => self.cancel(question).await,
            Consequence::Checked(checked) => self.checked(checked).await,
        }
    }

    fn tool_was_at_work(&mut self) {
        if let Some(deadline) = &mut self.course.deadline {
            deadline.tool_was_at_work(Instant::now());
        }
    }

    /// Nobody sees the dialogs of a child, and the child would wait for ever.
    async fn cancel(&mut self, question: Question) {
        let title = question.title.unwrap_or(question.method);
        let warning = format!("an extension asked \"{title}\": cancelled, nobody can answer here");
        self.say(&Command::CancelQuestion { id: question.id });
        self.unit.tell(Happening::Warned(warning)).await;
    }

    async fn checked(&mut self, checked: Checked) {
        match checked {
            Checked::NotYet => return,
            Checked::Ask(command) => {
                self.say(&command);
                return;
            }
            Checked::Fine => {}
            Checked::Doubtful(warning) => self.unit.tell(Happening::Warned(warning)).await,
            Checked::Wrong(ending) => return self.conclude(ending).await,
        }
        self.course.check = None;
        if self.phase == Phase::Working {
            self.prompt();
        }
    }

    async fn settled(&mut self) {
        if let Phase::Aborting { pace, .. } = self.phase {
            self.leave(pace).await;
            return;
        }
        match self.course.reports.judge(&self.course.last_answer) {
            Verdict::Over(ending) => self.conclude(ending).await,
            Verdict::Unreported if self.phase == Phase::Working => self.correct().await,
            // A child that is leaving cannot be told any more; what follows is seen at its end.
            Verdict::Unreported => {}
        }
    }

    async fn correct(&mut self) {
        match self.course.reports.correct() {
            Ok(correction) => {
                self.say_prompt(correction.clone());
                self.correction = Some(correction.clone());
                self.unit.tell(Happening::Corrected(correction)).await;
            }
            Err(ending) => self.conclude(ending).await,
        }
    }

    /// The child has reported. Its turn ends by itself, unless its model called something beside
    /// the report.
    fn reported(&mut self, ending: Ending) {
        self.verdict.get_or_insert(ending);
        if self.phase != Phase::Working {
            return;
        }
        if self.course.last_answer.called_several() {
            self.say(&Command::Abort);
        }
        self.phase = Phase::aborting(Instant::now(), AFTER_ITS_REPORT);
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
        self.course.shutdowns += u32::from(is_shutdown);
        let grace = if self.course.shutdowns > 1 {
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
                let deadline = self.course.deadline.as_ref();
                if let Some(decision) = deadline.and_then(|deadline| deadline.check(now)) {
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
        if self.course.check.is_some() {
            return Err(SteerError::NotStarted(self.unit.task.run.clone()));
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

    async fn outcome(&mut self) -> Outcome {
        if let Some(verdict) = self.verdict.take() {
            return Outcome::Over(verdict);
        }
        let exit = self.exit.unwrap_or(Exit::Unknown);
        if !self.can_go_on(exit) {
            return Outcome::Over(self.judge(exit));
        }
        if let Some(unheard) = self.correction.take() {
            return Outcome::Again(unheard);
        }
        match self.course.reports.correct() {
            Ok(correction) => {
                let told = Happening::Corrected(correction.clone());
                self.unit.tell(told).await;
                Outcome::Again(correction)
            }
            Err(never_finalized) if exit == Exit::Code(0) => Outcome::Over(never_finalized),
            Err(_) => Outcome::Over(self.judge(exit)),
        }
    }

    /// Tells whether another child could still give the report: the session must hold the task,
    /// and pi writes none before the first answer.
    fn can_go_on(&self, exit: Exit) -> bool {
        self.course.reports.are_needed()
            && exit.is_known()
            && self.course.last_answer.is_there()
            && self.unit.plan.session.file().is_some()
    }

    fn judge(&mut self, exit: Exit) -> Ending {
        exit.judge(self.stderr.splitter().last_words())
    }
}

/// What follows from a record.
enum Consequence {
    None,
    Decide(Decision),
    Settled,
    /// The child did not take the prompt.
    Refused(String),
    /// An extension waits for an answer.
    Asked(Question),
    /// The child answered what was asked about its model.
    Checked(Checked),
}

#[cfg(test)]
#[path = "running_tests.rs"]
mod tests;
