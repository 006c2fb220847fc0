//! A task whose run is open, with the plan or the order of its child.

use std::sync::Arc;

use pi_subagents_vocabulary::{Plan, PlannedTask, Refusal, Task, TaskPlan};

/// A task whose run is open.
pub struct OpenedTask {
    pub task: Arc<Task>,
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

/// The tasks of a call, by who does them.
pub struct Sorted {
    /// The tasks that are done on this machine, and those that are refused.
    pub here: Plan,
    /// The tasks that are done on other machines.
    pub elsewhere: Vec<Arc<Task>>,
}

/// Sorts the tasks of a call.
pub fn sorted(tasks: Vec<OpenedTask>) -> Sorted {
    let mut sorted = Sorted {
        here: Plan { tasks: Vec::new() },
        elsewhere: Vec::new(),
    };
    for OpenedTask { task, work } in tasks {
        let work = match work {
            Ok(OpenedWork::Elsewhere) => {
                sorted.elsewhere.push(task);
                continue;
            }
            Ok(OpenedWork::Here(plan)) => Ok(plan),
            Err(refusal) => Err(refusal),
        };
        sorted.here.tasks.push(PlannedTask { task, work });
    }
    sorted
}
