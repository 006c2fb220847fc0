//! Does the rest of a call: the tasks of it that have not completed, once more from their beginning.
//! Everything it needs is in the records of its runs.

use std::collections::HashMap;
use std::ops::ControlFlow;

use pi_subagents_ground::error::CommandError;
use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_vocabulary::{Advice, CallOfRun, CallPlace, NeedResult, Status};
use serde_json::Value;

use crate::caller::Caller;
use crate::families::delegation::DelegateCall;
use crate::graph::{DoneTasks, workspace_value};
use crate::request::TaskRequest;

/// The rest of a call, and who asks for it.
pub struct RestOfCall {
    /// The caller, in the project of the call.
    pub caller: Caller,
    pub call: DelegateCall,
}

/// The runs of a call, as their records have them.
#[derive(Default)]
struct RecordedCall {
    tasks: Option<Value>,
    /// The results of the runs that have completed.
    done: HashMap<CallPlace, NeedResult>,
    /// A run that is not over.
    under_way: Option<IndexedRun>,
}

impl RestOfCall {
    /// Finds out what is left of the call of a run.
    pub fn of(run: &IndexedRun, index: &KnownIndex, caller: Caller) -> Result<Self, CommandError> {
        let record = RecordedRun::read(&run.directory).map_err(|error| {
            CommandError::failed("the record of the run could not be read").because(&error)
        })?;
        let call = record.task.call.as_ref().ok_or_else(|| {
            CommandError::usage(format!(
                "run {} belongs to no call that can be done again",
                run.run
            ))
            .advise("", Advice::Resume(run.run.to_string()), " continues it.")
        })?;
        let recorded = RecordedCall::read(call, run, index)?;
        if let Some(busy) = recorded.under_way {
            let id = busy.run.to_string();
            return Err(
                CommandError::failed(format!("run {id} of this call is still running")).advise(
                    "",
                    Advice::Wait(id),
                    " waits for its end.",
                ),
            );
        }
        let caller = Caller {
            places: caller.places.seen_from(run.project.clone()),
            ..caller
        };
        let tasks = tasks_of(recorded.tasks, &caller)?;
        let call = DelegateCall::of_rest(
            tasks,
            DoneTasks {
                call: Some(call.id.clone()),
                results: recorded.done,
            },
        );
        Ok(Self { caller, call })
    }
}

/// Reads the tasks of a call. What its caller says now counts more than what was said then.
fn tasks_of(recorded: Option<Value>, caller: &Caller) -> Result<Vec<TaskRequest>, CommandError> {
    let lost = || {
        CommandError::failed("the record with the tasks of this call was removed")
            .hint("Make the call once more.")
    };
    let tasks: Vec<TaskRequest> =
        serde_json::from_value(recorded.ok_or_else(lost)?).map_err(|error| {
            CommandError::failed("the tasks of this call cannot be read").because(&error)
        })?;
    let overrides = &caller.overrides;
    let cwd = overrides
        .cwd
        .as_ref()
        .map(|cwd| caller.places.cwd.join(cwd));
    let again = tasks.into_iter().map(|mut task| {
        task.terms = overrides.terms.clone().or(task.terms);
        task.base = overrides.base.clone().or(task.base);
        task.cwd = cwd.clone().or(task.cwd);
        task
    });
    Ok(again.collect())
}

impl RecordedCall {
    /// Reads all runs of a call, those of the call itself and those that have done a part of it
    /// since.
    fn read(call: &CallOfRun, run: &IndexedRun, index: &KnownIndex) -> Result<Self, CommandError> {
        let mut recorded = Self::default();
        let runs = index
            .runs()
            .map_err(|error| CommandError::failed(error.to_string()))?;
        // Ids begin with the time, and no run of a call is older than the call.
        let may_belong = |other: &&IndexedRun| {
            other.project == run.project && other.run.as_str() >= call.id.as_str()
        };
        for one in runs.iter().filter(may_belong) {
            if recorded.take(call, one).is_break() {
                break;
            }
        }
        Ok(recorded)
    }

    /// Takes in a run if it belongs to the call.
    fn take(&mut self, call: &CallOfRun, run: &IndexedRun) -> ControlFlow<()> {
        // A run whose record is gone has nothing that could be used.
        let Ok(record) = RecordedRun::read(&run.directory) else {
            return ControlFlow::Continue(());
        };
        let Some(of_run) = record
            .task
            .call
            .as_ref()
            .filter(|of_run| of_run.id == call.id)
        else {
            return ControlFlow::Continue(());
        };
        if self.tasks.is_none() {
            self.tasks.clone_from(&of_run.tasks);
        }
        if run.is_open() && record.end.is_none() {
            self.under_way = Some(run.clone());
            return ControlFlow::Break(());
        }
        if record.status() == Status::Completed {
            let whole = run.directory.result();
            let workspace = workspace_value(run.directory.path());
            let result = NeedResult::of(&record.report(), Some(&whole)).with_workspace(workspace);
            self.done.insert(of_run.place, result);
        }
        ControlFlow::Continue(())
    }
}
