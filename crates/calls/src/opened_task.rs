//! A task whose run is open, with the plan or the order of its child.

use std::sync::Arc;

use pi_subagents_vocabulary::{CallPlace, FedPrompt, Plan, PlannedTask, Refusal, Task, TaskPlan};

/// A task whose run is open.
pub struct OpenedTask {
    pub task: Arc<Task>,
    pub place: CallPlace,
    /// Its prompt, if it gets the results of other tasks.
    pub fed: Option<FedPrompt>,
    /// The way in which it will be done, or the reason why it will not.
    pub work: Result<OpenedWork, Refusal>,
}

/// The way in which a task will be done.
pub enum OpenedWork {
    /// By a child on this machine.
    Here(Box<TaskPlan>),
    /// On another machine, to which the departure of its call takes it along.
    Elsewhere,
}

/// Returns the plan of the tasks that are done on this machine or refused. The departure of their
/// call has the others.
pub fn plan_here(tasks: Vec<OpenedTask>) -> Plan {
    let here = tasks.into_iter().filter_map(|opened| {
        let OpenedTask {
            task,
            place,
            fed,
            work,
        } = opened;
        let work = match work {
            Ok(OpenedWork::Elsewhere) => return None,
            Ok(OpenedWork::Here(plan)) => Ok(plan),
            Err(refusal) => Err(refusal),
        };
        Some(PlannedTask {
            task,
            work,
            place,
            fed,
            warnings: Vec::new(),
        })
    });
    Plan::of(here.collect())
}
