//! The parts of a task from which its order to a worker is made.

use pi_subagents_vocabulary::{Completion, Refusal, RunnerChoice, Task};

use super::opening::{Ready, completion, without_departure};
use crate::resolve::{ChosenProgram, ResolvedWork};

/// A task that can be started on a worker.
pub struct Ordered<'a> {
    pub task: &'a Task,
    pub work: ResolvedWork,
    pub runner: RunnerChoice,
    /// The whole prompt.
    pub prompt: String,
    pub completion: Completion,
}

impl<'a> Ordered<'a> {
    /// Puts together a task that is ready, if it was resolved for a worker.
    pub(super) fn of(task: &'a Task, ready: Ready) -> Result<Self, Refusal> {
        let completion = completion(&ready.work);
        let ChosenProgram::OnWorker(runner) = ready.work.program else {
            return Err(without_departure());
        };
        Ok(Self {
            task,
            work: ready.work,
            runner,
            prompt: ready.conversation.prompt,
            completion,
        })
    }
}
