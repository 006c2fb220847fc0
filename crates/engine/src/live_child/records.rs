//! The records of a child, and their consequences for the run.

use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::{ChildRecord, Command, Dialog, Response};
use pi_subagents_vocabulary::{
    AssistantMessage, Decision, Ending, Excess, FINALIZE_TOOL, Happening, Message, ProviderWindow,
    Rung, RungStep, ToolCall,
};
use tokio::time::Instant;

use super::Running;
use super::wrap_up::LastTurn;
use crate::child::Line;
use crate::completion::Verdict;
use crate::guards::{NEARLY_SPENT, SpendingRung, StuckStep};
use crate::model_check::Checked;
use crate::reports::{EndedCall, ReportSeen};
use crate::stop_phases::{AFTER_ITS_REPORT, Phase};
use crate::tool_check::HadTools;

/// The tools that change nothing.
const READING_TOOLS: [&str; 5] = ["read", "grep", "find", "ls", FINALIZE_TOOL];

/// The id of the messages to a model that is stuck.
const LADDER: &str = "ladder";

/// The consequence of a record.
enum Consequence {
    None,
    Decide(Decision),
    /// The run is stuck, or seems to be.
    Stuck(StuckStep),
    /// The run has reached a limit, and would go on.
    LimitReached(Decision),
    /// The run has used up what it may consume, and would go on.
    Overspent(Excess),
    /// The run has used most of what it may consume.
    NearlySpent,
    Settled,
    /// The child did not take the prompt.
    Refused(String),
    /// An extension waits for an answer.
    Asked(Dialog),
    /// Our own extension waits for this answer.
    Answer {
        id: String,
        value: String,
    },
    /// A call has ended that may be the report.
    Reported(ReportSeen),
    /// The child answered the question about its model.
    Checked(Checked),
    /// The child waits to ask a model again that has nothing to give.
    WaitsInVain,
    /// The child answered a command of a change of its model.
    Switched(Response),
    /// The child listed its tools.
    Equipped(HadTools),
    /// The child did not take a message to its model.
    NotSteered(String),
}

impl Running<'_> {
    pub(super) async fn handle_line(&mut self, line: Line) {
        match line {
            Line::ToolReported => self.tool_was_at_work(),
            Line::Text(line) => self.unit.report(Happening::Printed(line)).await,
            Line::Record { line, record } => {
                self.pay(record.usage()).await;
                let consequence = self.weigh(&record);
                self.unit.report_record(line, record).await;
                self.follow(consequence).await;
            }
        }
    }

    /// Returns the consequence of a record for the run, apart from being an event.
    fn weigh(&mut self, record: &ChildRecord) -> Consequence {
        let rung = self.progress.spending.judge(record);
        match record {
            ChildRecord::MessageEnded(Message::Assistant(answer)) => {
                self.weigh_answer(answer, rung)
            }
            ChildRecord::MessageEnded(Message::User(parts)) => {
                if let Some(wrap_up) = &mut self.progress.wrap_up {
                    wrap_up.note_prompt(parts);
                }
                Consequence::None
            }
            ChildRecord::MessageEnded(Message::ToolResult(result)) => {
                if let Some(wrap_up) = &mut self.progress.wrap_up {
                    wrap_up.note_result(result);
                    return Consequence::None;
                }
                let step = self.progress.cycles.note_result(result);
                step.map_or(Consequence::None, Consequence::Stuck)
            }
            ChildRecord::MessageEnded(Message::System(change)) => {
                let check = self.progress.tools.take();
                check.map_or(Consequence::None, |check| {
                    Consequence::Equipped(check.compare(change))
                })
            }
            ChildRecord::ToolStarted {
                call_id,
                tool,
                arguments,
            } => {
                self.tool_was_at_work();
                self.progress.reports.begun(call_id, tool, arguments);
                Consequence::None
            }
            ChildRecord::ToolProgressed { .. } => {
                self.tool_was_at_work();
                Consequence::None
            }
            ChildRecord::ToolEnded {
                call_id,
                tool,
                is_error,
                details,
                ..
            } => {
                self.tool_was_at_work();
                if !is_error && !READING_TOOLS.contains(&tool.as_str()) {
                    self.progress.gates.note_deed();
                }
                if self.has_reported() {
                    return Consequence::None;
                }
                Consequence::Reported(self.progress.reports.ended(EndedCall {
                    id: call_id,
                    tool,
                    is_error: *is_error,
                    details: details.as_ref(),
                }))
            }
            ChildRecord::Retrying {
                delay_ms, error, ..
            } => self.weigh_retry(Duration::from_millis(*delay_ms), error),
            ChildRecord::Settled => Consequence::Settled,
            ChildRecord::Responded(response) => self.weigh_response(response),
            ChildRecord::Asked(dialog) if !dialog.is_waiting() => {
                if let Some(windows) = ProviderWindow::told_by(dialog) {
                    self.progress.spending.note_windows(windows);
                }
                Consequence::None
            }
            ChildRecord::Asked(dialog) => match self.progress.answer(dialog) {
                Some(value) => Consequence::Answer {
                    id: dialog.id.clone(),
                    value,
                },
                None => Consequence::Asked(dialog.clone()),
            },
            _ => Consequence::None,
        }
    }

    fn weigh_answer(
        &mut self,
        answer: &AssistantMessage,
        rung: Option<SpendingRung>,
    ) -> Consequence {
        self.progress.last_answer.note(answer);
        if let Some(models) = &mut self.progress.models {
            models.note_answer(answer);
        }
        if let Some(wrap_up) = &mut self.progress.wrap_up {
            let decision = wrap_up.note_answer(answer);
            return decision.map_or(Consequence::None, Consequence::Decide);
        }
        let (reports, pollers) = (&self.progress.reports, &self.progress.pollers);
        let may_repeat = |call: &ToolCall| reports.bound(&call.name) || pollers.contain(call);
        self.progress.cycles.note_answer(answer, may_repeat);
        let decided = answer
            .tool_calls()
            .filter(|call| !may_repeat(call))
            .find_map(|call| self.progress.repetition.observe(call));
        let out_of_turns = self.progress.turns.observe(answer);
        match (decided, rung, out_of_turns) {
            (Some(decision), ..) => Consequence::Decide(decision),
            (None, Some(SpendingRung::Passed(excess)), _) => {
                Consequence::Decide(Decision::Overspent(excess))
            }
            (None, Some(SpendingRung::Reached(excess)), _) => Consequence::Overspent(excess),
            (None, _, Some(decision)) => Consequence::LimitReached(decision),
            (None, Some(SpendingRung::Near), None) => Consequence::NearlySpent,
            (None, None, None) => Consequence::None,
        }
    }

    fn weigh_retry(&mut self, delay: Duration, error: &str) -> Consequence {
        let models = self.progress.models.as_mut();
        if models.is_some_and(|models| models.is_retry_useless(delay, error)) {
            return Consequence::WaitsInVain;
        }
        Consequence::None
    }

    fn weigh_response(&mut self, response: &Response) -> Consequence {
        if Self::is_about_wrap_up(response.id.as_deref()) {
            return Consequence::None;
        }
        if self.is_switching(response) {
            return Consequence::Switched(response.clone());
        }
        match (&response.error, response.command.as_str()) {
            (Some(error), "prompt") => Consequence::Refused(error.clone()),
            (None, "prompt") => {
                self.correction = None;
                if let Some(models) = &mut self.progress.models {
                    models.undelivered = None;
                }
                Consequence::None
            }
            (Some(error), "steer") => Consequence::NotSteered(error.clone()),
            (Some(_) | None, _) => match &mut self.progress.check {
                Some(check) => Consequence::Checked(check.answered(response)),
                None => Consequence::None,
            },
        }
    }

    async fn follow(&mut self, consequence: Consequence) {
        match consequence {
            Consequence::Decide(decision) if self.phase == Phase::Working => {
                self.decide(decision).await;
            }
            Consequence::Stuck(step) if self.phase == Phase::Working => self.climb(step).await,
            Consequence::LimitReached(decision) => self.limit_reached(decision).await,
            Consequence::Overspent(excess) => self.overspent(excess).await,
            Consequence::NearlySpent if self.phase == Phase::Working => {
                self.climb(StuckStep::Steer(NEARLY_SPENT.to_owned())).await;
            }
            Consequence::Settled => self.settled().await,
            Consequence::Refused(message) if self.phase == Phase::Working => {
                self.prompt_refused(message).await;
            }
            Consequence::Refused(message) => {
                self.conclude(Ending::ModelError { message }).await;
            }
            Consequence::WaitsInVain if self.phase == Phase::Working => {
                self.send(&Command::AbortRetry);
            }
            Consequence::Switched(response) if self.phase == Phase::Working => {
                self.switch(response).await;
            }
            // The run is ending already.
            Consequence::None
            | Consequence::Decide(_)
            | Consequence::Stuck(_)
            | Consequence::NearlySpent
            | Consequence::WaitsInVain
            | Consequence::Switched(_) => {}
            Consequence::Asked(dialog) => self.asked(dialog).await,
            Consequence::Answer { id, value } => {
                self.send(&Command::AnswerDialog { id, value });
            }
            Consequence::Reported(seen) => self.report_seen(seen).await,
            Consequence::Checked(checked) => self.checked(checked).await,
            Consequence::Equipped(had) => self.equipped(had).await,
            Consequence::NotSteered(error) => {
                let warning = format!("the message did not reach the model: {error}");
                self.unit.report(Happening::Warned(warning)).await;
            }
        }
    }

    /// Takes a step of the ladder.
    async fn climb(&mut self, step: StuckStep) {
        let (step, words) = match step {
            StuckStep::Warn(words) => (RungStep::Warned, words),
            StuckStep::Steer(words) => {
                let id = LADDER.to_owned();
                let message = words.clone();
                self.send(&Command::Steer { id, message });
                (RungStep::Steered, words)
            }
            StuckStep::WrapUp(words) => return self.wrap_up_loop(words).await,
        };
        self.unit
            .report(Happening::Rung(Rung { step, words }))
            .await;
    }

    async fn wrap_up_loop(&mut self, words: String) {
        let times = self.progress.cycles.times();
        self.wrap_up(LastTurn {
            decision: Decision::Looped { times },
            reason: format!("you repeat the same calls ({words})"),
            ending: Ending::Looped {
                times,
                evidence: Some(format!("{words}; it was told twice")),
            },
        })
        .await;
    }

    fn tool_was_at_work(&mut self) {
        if let Some(deadline) = &mut self.progress.deadline {
            deadline.tool_was_at_work(Instant::now());
        }
    }

    async fn checked(&mut self, checked: Checked) {
        match checked {
            Checked::NotYet => return,
            Checked::Ask(command) => {
                self.send(&command);
                return;
            }
            Checked::Fine => {}
            Checked::Doubtful(warning) => self.unit.report(Happening::Warned(warning)).await,
            Checked::Wrong(ending) => return self.wrong_model(ending).await,
        }
        self.progress.check = None;
        if self.phase == Phase::Working {
            self.prompt();
        }
    }

    /// Ends a run whose child would ask another model, unless a model that was named takes over.
    async fn wrong_model(&mut self, ending: Ending) {
        self.progress.check = None;
        let message = ending.message().unwrap_or_default();
        let prompt = std::mem::take(&mut self.progress.prompt);
        let takes_over = match &mut self.progress.models {
            Some(models) if self.phase == Phase::Working => {
                models.undelivered = Some(prompt);
                // The words of our own check name the provider that is not known or has no key.
                models.note_failure(&format!("unknown provider: {message}"));
                self.fall_back().await
            }
            Some(_) | None => false,
        };
        if !takes_over {
            self.conclude(ending).await;
        }
    }

    async fn equipped(&mut self, had: HadTools) {
        match had {
            HadTools::Fine => {}
            HadTools::Some(warning) => self.unit.report(Happening::Warned(warning)).await,
            HadTools::None(message) => self.conclude(Ending::ModelError { message }).await,
        }
    }

    async fn settled(&mut self) {
        if let Phase::Aborting { pace, .. } = self.phase {
            self.leave(pace).await;
            return;
        }
        self.withdraw_questions().await;
        if let Some(wrap_up) = &self.progress.wrap_up {
            let ending = wrap_up.ending();
            return self.conclude(ending).await;
        }
        // A child settles after a command of a change too.
        if self.switch_alarm().is_some() {
            return;
        }
        if self.phase == Phase::Working && self.fall_back().await {
            return;
        }
        match self.progress.reports.judge(&self.progress.last_answer) {
            Verdict::Over(Ending::ModelError { .. }) => {
                let ending = self.progress.judge_answer();
                self.conclude(ending).await;
            }
            Verdict::Over(ending) => self.conclude(ending).await,
            Verdict::Unreported if self.phase == Phase::Working => self.correct().await,
            // A child that is leaving cannot be corrected any more; its end decides.
            Verdict::Unreported => {}
        }
    }

    async fn correct(&mut self) {
        match self.progress.reports.correct() {
            Ok(correction) => {
                self.send_prompt(correction.clone());
                self.correction = Some(correction.clone());
                self.unit.report(Happening::Corrected(correction)).await;
            }
            Err(ending) => self.conclude(ending).await,
        }
    }

    async fn report_seen(&mut self, seen: ReportSeen) {
        if let Some(checked) = seen.checked {
            self.unit.report(Happening::Reported(checked)).await;
        }
        if let Some(ending) = seen.ending {
            self.reported(ending);
        }
    }

    /// Returns whether a report of this child has decided how the run ends. A child that called
    /// another tool beside its report may report again before it is aborted, and that changes
    /// nothing.
    fn has_reported(&self) -> bool {
        matches!(
            self.verdict,
            Some(Ending::Completed | Ending::ReportedError { .. } | Ending::SchemaNotMet { .. })
        )
    }

    /// Ends the turn of a child that has reported. The turn ends by itself, unless the model called
    /// another tool beside the report.
    fn reported(&mut self, ending: Ending) {
        self.verdict.get_or_insert(ending);
        if self.phase != Phase::Working {
            return;
        }
        let goes_on = matches!(self.verdict, Some(Ending::SchemaNotMet { .. }));
        if goes_on || self.progress.last_answer.called_several() {
            self.send(&Command::Abort);
        }
        self.phase = Phase::aborting(Instant::now(), AFTER_ITS_REPORT);
    }
}
