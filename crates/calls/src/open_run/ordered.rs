//! The parts of a task from which its order to a worker is made.

use pi_subagents_vocabulary::{Completion, Task};

use super::opening::{Ready, completion};
use crate::resolve::ResolvedWork;

/// A task that can be started on a worker.
pub struct Ordered<'a> {
    pub task: &'a Task,
    pub work: ResolvedWork,
    /// The whole prompt.
    pub prompt: String,
    pub completion: Completion,
}

impl<'a> Ordered<'a> {
    /// Puts together a task that is ready.
    pub(super) fn of(task: &'a Task, ready: Ready) -> Self {
        let completion = completion(&ready.work);
        Self {
            task,
            work: ready.work,
            prompt: ready.conversation.prompt,
            completion,
        }
    }
}
