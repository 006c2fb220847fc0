//! A child that asks: its questions are events, its clocks stand while it waits, and what somebody
//! answers is sent to it. Nothing is answered by us.

use pi_subagents_os::{Machine as _, System};
use pi_subagents_vocabulary::child_protocol::{Command, Dialog};
use pi_subagents_vocabulary::{Decision, DecisionKind, Ending, Happening, Question, QuestionKind};
use tokio::time::Instant;

use super::Running;
use crate::questions::{AnswerToChild, DialogFate, Moment};
use crate::stop_phases::{Pace, Phase};
use crate::to_child::{GivenReply, NotSent};

impl Running<'_> {
    /// Passes a dialog of the child on to those who may answer it. It is cancelled where there is
    /// nobody, because the child would wait for ever.
    pub(super) async fn asked(&mut self, dialog: Dialog) {
        if self.phase != Phase::Working {
            return self.cancel(dialog).await;
        }
        let moment = Moment {
            at: self.unit.clock.now(),
            now: Instant::now(),
        };
        match self.progress.questions.weigh(&dialog, random(), moment) {
            DialogFate::Asked(question) => {
                self.send_deadline();
                self.unit.report(Happening::Asked(*question)).await;
            }
            DialogFate::Answered(command) => self.send(&command),
            DialogFate::Nobody => self.cancel(dialog).await,
        }
    }

    /// Cancels a dialog that nobody sees.
    async fn cancel(&mut self, dialog: Dialog) {
        let title = dialog.title.unwrap_or(dialog.method);
        let warning = format!("an extension asked \"{title}\": cancelled, nobody can answer here");
        self.send(&Command::CancelDialog { id: dialog.id });
        self.unit.report(Happening::Warned(warning)).await;
    }

    /// Gives the child the answer of somebody.
    pub(super) async fn answer(&mut self, given: GivenReply) -> Result<(), NotSent> {
        let run = self.unit.task.run.clone();
        if self.phase != Phase::Working || self.stdin.is_none() {
            return Err(NotSent::Ending(run));
        }
        let answer = self.progress.questions.take(&run, &given)?;
        if let Some(reply) = answer.budget {
            self.unit.report(Happening::Answered(answer.answered)).await;
            self.budget_answered(reply).await;
        } else {
            self.answered(answer).await;
        }
        Ok(())
    }

    async fn answered(&mut self, answer: AnswerToChild) {
        if let Some(command) = &answer.command {
            self.send(command);
        }
        self.unit.report(Happening::Answered(answer.answered)).await;
        self.go_on_after_wait();
    }

    /// Lets the clocks go on, if nothing is open any more; they have as much time left as before.
    fn go_on_after_wait(&mut self) {
        let Some(wait) = self.progress.questions.take_wait(Instant::now()) else {
            return;
        };
        if let Some(deadline) = &mut self.progress.deadline {
            deadline.paused(wait);
        }
        self.send_deadline();
    }

    /// Notes that the child waits for nothing any more.
    pub(super) async fn withdraw_questions(&mut self) {
        for answer in self.progress.questions.withdrawn() {
            self.answered(answer).await;
        }
    }

    /// Lets questions lapse whose time has passed, and parks a run that has waited long enough.
    pub(super) async fn look_at_questions(&mut self, now: Instant) {
        for answer in self.progress.questions.lapsed(now) {
            self.answered(answer).await;
        }
        if let Some(question) = self.progress.questions.to_park(now).cloned() {
            self.park(&question).await;
        }
    }

    /// Ends a run that has waited long enough. Its session stays, and its question stays open. The
    /// call that a dialog is about is never made.
    async fn park(&mut self, question: &Question) {
        self.verdict = Some(Ending::Parked {
            question: question.id.clone(),
            text: question.line(),
        });
        self.unit
            .report(Happening::Stopping(DecisionKind::Park))
            .await;
        if question.kind == QuestionKind::Dialog {
            let dialogs = self.progress.questions.open_dialogs();
            let dialogs: Vec<String> = dialogs.map(str::to_owned).collect();
            for id in dialogs {
                self.send(&Command::CancelDialog { id });
            }
        }
        self.send(&Command::Abort);
        self.phase = Phase::aborting(Instant::now(), Pace::of(Decision::Stop));
    }
}

/// Returns a number for the id of a question.
pub(crate) fn random() -> u32 {
    let mut bytes = [0; 8];
    // Without it, the questions of a run still have different numbers.
    _ = System::random(&mut bytes);
    u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
