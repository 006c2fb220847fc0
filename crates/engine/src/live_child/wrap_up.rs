//! The last answer of a run that has to come to its end: its tools are taken away, it is told why,
//! and it may answer once more. Every rule that lets a run finish in words uses this.

use pi_subagents_vocabulary::child_protocol::Command;
use pi_subagents_vocabulary::{
    AssistantMessage, Decision, Ending, Excess, FINALIZE_TOOL, Happening, Part, Rung, RungStep,
    ToolResult,
};

use super::Running;
use crate::stop_phases::Phase;

/// The id of the commands of a last answer.
const WRAP_UP: &str = "wrap-up";

/// Answers after which a run is ended, even if it seems not to have been told.
const PATIENCE: u32 = 2;

/// The reason of a run that has used up its turns. The child has it before.
const OUT_OF_TURNS: &str = "you have used up your turns";

/// A run that gives its last answer.
#[derive(Debug, Clone)]
pub(crate) struct WrapUp {
    decision: Decision,
    ending: Ending,
    /// The reason that refused calls show.
    reason: String,
    /// True once the model has read the message, or the reason in the place of a result.
    is_told: bool,
    /// The answers since then that call tools.
    answers: u32,
}

/// The end that a run comes to.
#[derive(Debug, Clone)]
pub(crate) struct LastTurn {
    pub(crate) decision: Decision,
    /// The ending of the run, which may say more than the decision.
    pub(crate) ending: Ending,
    /// The reason in a few words.
    pub(crate) reason: String,
}

impl Running<'_> {
    /// Lets a run that has reached a limit answer once more, unless its caller wants no last answer.
    pub(super) async fn limit_reached(&mut self, decision: Decision) {
        if self.phase != Phase::Working || self.progress.wrap_up.is_some() {
            return;
        }
        if self.unit.plan.work.limits.ends_at_once {
            return self.decide(decision).await;
        }
        let reason = match decision {
            Decision::OutOfTurns { .. } => OUT_OF_TURNS,
            Decision::Overspent(Excess::Window { .. }) => {
                "the share of your provider's window is used up"
            }
            _ => "you have used up your budget",
        };
        self.wrap_up(LastTurn {
            decision,
            ending: decision.ending(),
            reason: reason.to_owned(),
        })
        .await;
    }

    /// Lets the child answer once more without tools. It ends with this ending in any case.
    pub(super) async fn wrap_up(&mut self, last: LastTurn) {
        if self.phase != Phase::Working || self.progress.wrap_up.is_some() {
            return;
        }
        let LastTurn {
            decision,
            ending,
            reason,
        } = last;
        let reason = tools_off(&reason);
        // A child that counts its turns refuses the calls of this very answer.
        let is_told = matches!(decision, Decision::OutOfTurns { .. }) && self.counts_its_turns();
        if !is_told {
            self.block_tools(0, &reason);
            self.send(&Command::Steer {
                id: WRAP_UP.to_owned(),
                message: reason.clone(),
            });
        }
        self.unit
            .report(Happening::Rung(Rung {
                step: RungStep::WrappedUp,
                words: reason.clone(),
            }))
            .await;
        self.verdict = Some(ending.clone());
        self.progress.wrap_up = Some(WrapUp {
            decision,
            ending,
            reason,
            is_told: false,
            answers: 0,
        });
    }

    /// Tells a child how many answers it may give before its tools are taken away, so that no tool is
    /// faster than our message about the last one.
    pub(super) fn limit_turns(&mut self) {
        if let Some(answers) = self.progress.turns.left()
            && self.counts_its_turns()
        {
            self.block_tools(answers, &tools_off(OUT_OF_TURNS));
        }
    }

    /// Returns whether the child counts its answers itself, by its own means or by our extension.
    fn counts_its_turns(&self) -> bool {
        let here = &self.unit.plan.here;
        here.runner.counts_its_turns() && (here.runner.has_our_flags() || here.wrap_up.is_some())
    }

    /// Takes the tools away after this number of answers, if the child can do that. A pi without our
    /// extension cannot: then its next call ends the run.
    fn block_tools(&mut self, after: u32, reason: &str) {
        let (id, here) = (WRAP_UP.to_owned(), &self.unit.plan.here);
        let reason = reason.to_owned();
        let command = match &here.wrap_up {
            Some(name) => Some(Command::Prompt {
                id,
                message: format!("/{name} {after} {reason}"),
            }),
            None if here.runner.has_our_flags() => Some(Command::BlockTools { id, after, reason }),
            None => None,
        };
        if let Some(command) = command {
            self.send(&command);
        }
    }

    /// Returns whether an answer of the child belongs to the last turn.
    pub(super) fn is_about_wrap_up(id: Option<&str>) -> bool {
        id == Some(WRAP_UP)
    }
}

/// Returns the words with which tools are taken away.
fn tools_off(reason: &str) -> String {
    format!(
        "Tools are off: {reason}. Answer now, without calling tools: say what is done and what is missing."
    )
}

impl WrapUp {
    /// Notes a message to the model: it may be ours.
    pub(crate) fn note_prompt(&mut self, parts: &[Part]) {
        self.is_told |= parts
            .iter()
            .any(|part| matches!(part, Part::Text(words) if words.contains(self.reason.as_str())));
    }

    /// Notes a result: it may be the refusal.
    pub(crate) fn note_result(&mut self, result: &ToolResult) {
        if result.is_error {
            self.note_prompt(&result.parts);
        }
    }

    /// Returns the decision to end a run that calls tools although it was told not to.
    pub(crate) fn note_answer(&mut self, answer: &AssistantMessage) -> Option<Decision> {
        answer
            .tool_calls()
            .find(|call| call.name != FINALIZE_TOOL)?;
        self.answers += 1;
        (self.is_told || self.answers >= PATIENCE).then_some(self.decision)
    }

    /// Returns whether this is what a decision leads to.
    pub(crate) fn is_for(&self, decision: Decision) -> bool {
        self.decision == decision
    }

    /// Returns the ending of the run.
    pub(crate) fn ending(&self) -> Ending {
        self.ending.clone()
    }
}
