//! A task whose run is open, with the plan or the order of its child.

use std::sync::Arc;

use pi_subagents_vocabulary::{Plan, PlannedTask, Refusal, Task, TaskPlan};

use crate::fleet::Order;

/// A task whose run is open.
pub(crate) struct OpenedTask {
    pub(crate) task: Arc<Task>,
    /// The way in which it will be done, or the reason why it will not.
    pub(crate) work: Result<OpenedWork, Refusal>,
}

/// The way in which a task will be done.
pub(crate) enum OpenedWork {
    /// By a child on this machine.
    Here(Box<TaskPlan>),
    /// By a worker of a fleet that takes this order.
    Fleet(Box<Order>),
}

/// The tasks of a call, by who does them.
pub(crate) struct Sorted {
    /// The tasks that are done on this machine, and those that are refused.
    pub(crate) here: Plan,
    pub(crate) fleet: Vec<(Arc<Task>, Order)>,
}

/// Sorts the tasks of a call.
pub(crate) fn sorted(tasks: Vec<OpenedTask>) -> Sorted {
    let mut sorted = Sorted {
        here: Plan { tasks: Vec::new() },
        fleet: Vec::new(),
    };
    for OpenedTask { task, work } in tasks {
        let work = match work {
            Ok(OpenedWork::Fleet(order)) => {
                sorted.fleet.push((task, *order));
                continue;
            }
            Ok(OpenedWork::Here(plan)) => Ok(plan),
            Err(refusal) => Err(refusal),
        };
        sorted.here.tasks.push(PlannedTask { task, work });
    }
    sorted
}
