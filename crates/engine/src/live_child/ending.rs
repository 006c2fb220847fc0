//! The end of a child's life: the requests to end it, the reports of its keeper, and the
//! consequences for the run.

use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::Command;
use pi_subagents_vocabulary::{Decision, Ending, Happening};
use tokio::time::Instant;

use super::{Outcome, Running, WrapUp};
use crate::completion::Exit;
use crate::keeper::{GRACE_WITHOUT_OWNER as GRACE_OF_KEEPER, Report};
use crate::stop_phases::{AFTER_ITS_ANSWER, Pace, Phase, Trust};
use crate::sweep::end_inherited;

impl Running<'_> {
    /// Notes how the run ends, and lets the child exit. It may have exited already: then its exit was
    /// reported before we read its last records, and these count all the same.
    pub(super) async fn conclude(&mut self, ending: Ending) {
        self.verdict.get_or_insert(ending);
        if self.phase == Phase::Working {
            self.leave(AFTER_ITS_ANSWER).await;
        }
    }

    /// Ends a run that would go on.
    pub(super) async fn decide(&mut self, decision: Decision) {
        // A run that gives its last answer ends as it was going to, unless something else ends it.
        let is_last = |wrap_up: &&WrapUp| wrap_up.is_for(decision);
        let known = self.progress.wrap_up.as_ref().filter(is_last);
        let ending = || self.progress.with_evidence(decision.ending());
        self.verdict = Some(known.map_or_else(ending, WrapUp::ending));
        self.unit.report(Happening::Stopping(decision.kind())).await;
        self.send(&Command::Abort);
        self.phase = Phase::aborting(Instant::now(), Pace::of(decision));
    }

    /// Ends the run because somebody asks for it. A second request shortens the time it takes, and a
    /// second shutdown kills at once.
    pub(super) async fn asked_to_end(&mut self, decision: Decision) {
        self.leave_purse();
        let is_shutdown = matches!(decision, Decision::Shutdown(_));
        self.progress.shutdowns += u32::from(is_shutdown);
        let grace = if self.progress.shutdowns > 1 {
            Duration::ZERO
        } else {
            Pace::of(decision).grace
        };
        match self.phase {
            Phase::Working => self.decide(decision).await,
            Phase::Aborting { .. } | Phase::Leaving { .. } => self.end_tree(grace).await,
            Phase::Ending { .. } if is_shutdown => self.end_tree(grace).await,
            Phase::Ending { .. } | Phase::Draining { .. } => {}
        }
    }

    pub(super) async fn alarmed(&mut self) {
        if self.empty_purse.is_some() {
            return self.look_into_purse().await;
        }
        match self.phase {
            Phase::Working => {
                let now = Instant::now();
                let is_waiting = self.progress.questions.are_open();
                if is_waiting {
                    self.look_at_questions(now).await;
                }
                let deadline = self.progress.deadline.as_ref().filter(|_| !is_waiting);
                if self.phase != Phase::Working {
                    return;
                }
                if let Some(decision) = deadline.and_then(|deadline| deadline.check(now)) {
                    self.decide(decision).await;
                } else {
                    self.send_deadline();
                    self.switch_is_late(now).await;
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
            Phase::Ending { keeper, .. } => self.keeper_is_late(keeper).await,
            Phase::Draining { .. } => {}
        }
    }

    /// Takes the next step against a keeper that does not report that the tree is gone.
    async fn keeper_is_late(&mut self, keeper: Trust) {
        let next = match keeper {
            Trust::Ordered => {
                self.keeper.rouse();
                Trust::Roused
            }
            Trust::Roused => {
                self.keeper.kill();
                Trust::Killed
            }
            Trust::Killed => return self.keeper_died().await,
        };
        self.phase = Phase::without_keeper(Instant::now(), next);
    }

    /// Lets a child leave that has closed its output. Most of the time it is exiting.
    pub(super) async fn output_closed(&mut self) {
        self.stdout_is_open = false;
        if self.phase == Phase::Working {
            self.leave(AFTER_ITS_ANSWER).await;
        }
    }

    pub(super) async fn leave(&mut self, pace: Pace) {
        self.close_stdin().await;
        // From here on we wait for its report.
        self.keeper.rouse();
        self.phase = Phase::leaving(Instant::now(), pace);
    }

    async fn end_tree(&mut self, grace: Duration) {
        self.close_stdin().await;
        self.keeper.stop(grace);
        self.phase = Phase::ending(Instant::now(), grace);
    }

    pub(super) async fn keeper_reported(&mut self, report: Option<Report>) {
        match report {
            Some(Report::Exited { code, signal }) => {
                self.exit = Some(Exit::new(code, signal));
                self.close_stdin().await;
                self.phase = Phase::ending(Instant::now(), Duration::ZERO);
            }
            Some(Report::Gone { .. }) => self.tree_is_gone(),
            Some(Report::Paused) => self.pause.tree_stopped(),
            Some(Report::Stopping) => {
                self.verdict.get_or_insert(Ending::Stopped);
                self.keeper_ends_tree().await;
            }
            Some(Report::Overdue) => {
                self.overdue().await;
                self.keeper_ends_tree().await;
            }
            Some(Report::Noted { text }) => self.unit.report(Happening::Warned(text)).await,
            Some(
                Report::Started { .. } | Report::NotConfined { .. } | Report::CouldNotStart { .. },
            ) => {}
            None => self.keeper_died().await,
        }
    }

    /// Notes that the run timed out. We were stopped while the deadline passed, and the keeper ended
    /// the run in our place.
    async fn overdue(&mut self) {
        let limit = self.unit.plan.work.limits.timeout.unwrap_or_default();
        let decision = Decision::TimedOut { limit };
        if self.verdict.is_none() {
            self.verdict = Some(decision.ending());
            self.unit.report(Happening::Stopping(decision.kind())).await;
        }
    }

    async fn keeper_ends_tree(&mut self) {
        self.close_stdin().await;
        if !matches!(self.phase, Phase::Ending { .. } | Phase::Draining { .. }) {
            self.phase = Phase::ending(Instant::now(), GRACE_OF_KEEPER);
        }
    }

    /// Ends the processes of a dead keeper: the owner has inherited them.
    async fn keeper_died(&mut self) {
        self.unit.send_events().await;
        self.close_stdin().await;
        end_inherited(&self.unit.launcher, &self.unit.task.run).await;
        self.verdict.get_or_insert_with(|| Ending::Lost {
            reason: "its supervisor was killed".to_owned(),
        });
        self.tree_is_gone();
    }

    fn tree_is_gone(&mut self) {
        self.keeper_is_there = false;
        self.phase = Phase::draining(Instant::now());
    }

    pub(super) async fn outcome(&mut self) -> Outcome {
        if let Some(verdict) = self.verdict.take() {
            return Outcome::Over(verdict);
        }
        let exit = self.exit.unwrap_or(Exit::Unknown);
        if !self.can_go_on(exit) {
            return Outcome::Over(self.judge(exit));
        }
        self.withdraw_questions().await;
        if let Some(unheard) = self.correction.take() {
            return Outcome::Again(unheard);
        }
        match self.progress.reports.correct() {
            Ok(correction) => {
                let corrected = Happening::Corrected(correction.clone());
                self.unit.report(corrected).await;
                Outcome::Again(correction)
            }
            Err(never_finalized) if exit == Exit::Code(0) => Outcome::Over(never_finalized),
            Err(_) => Outcome::Over(self.judge(exit)),
        }
    }

    /// Returns whether another child could still give the report: the session must hold the task,
    /// and pi writes no session before the first answer.
    fn can_go_on(&self, exit: Exit) -> bool {
        self.progress.reports.are_needed()
            && exit.is_known()
            && self.progress.last_answer.is_there()
            && self.unit.plan.here.session.file().is_some()
    }

    fn judge(&mut self, exit: Exit) -> Ending {
        exit.judge(self.stderr.splitter().last_words())
    }
}
