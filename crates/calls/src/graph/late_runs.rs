//! The runs of maps whose items stand in the result of another run: opened while their call is under
//! way, by the same functions that opened the call.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;
use pi_subagents_runs::review::note_pick;
use pi_subagents_runs::workspace::{Workspace, settle};
use pi_subagents_vocabulary::{
    BaseChoice, CompletedAttempt, FedPrompt, Isolation, MapOpener, PickedAttempt, PlannedTask,
    Refusal, RunId, Task, Timestamp, WeighedAttempts,
};
use serde_json::Value;

use super::attempt_judge::{AttemptJudge, changes_of, pick_smallest};
use super::unfolded_call::with_item;
use crate::budget::CallBudgets;
use crate::call::Call;
use crate::call_ground::CallGround;
use crate::opened_task::plan_here;
use crate::request::TaskRequest;

/// Opens the runs of maps.
pub(crate) struct LateRuns<C> {
    pub(crate) ground: Arc<CallGround>,
    /// A call of the family, without tasks.
    pub(crate) call: C,
    /// The maps, by the numbers of their tasks.
    pub(crate) maps: HashMap<usize, TaskRequest>,
    /// The judges of attempts, by the numbers of the tasks that are tried.
    pub(crate) judges: HashMap<usize, AttemptJudge>,
    pub(crate) budgets: CallBudgets,
    pub(crate) opened: Mutex<Vec<RunId>>,
    pub(crate) picked: Mutex<Vec<PickedAttempt>>,
}

impl<C> fmt::Debug for LateRuns<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LateRuns").finish_non_exhaustive()
    }
}

impl<C> LateRuns<C> {
    fn ids(&self) -> MutexGuard<'_, Vec<RunId>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Call + Sync> LateRuns<C> {
    fn open_requests(&self, requests: Vec<TaskRequest>) -> Result<Vec<PlannedTask>, CommandError> {
        let call = self.call.with_tasks(requests);
        let late = self.ground.open_late(&call, &self.budgets)?;
        let mut planned = plan_here(late.tasks).tasks;
        // Every run of the map has the same; the answer to the call is not worded yet, and reads them
        // from the first one.
        if let Some(first) = planned.first_mut() {
            first.warnings = late.warnings;
        }
        Ok(planned)
    }
}

impl<C> LateRuns<C> {
    fn outcomes(&self) -> MutexGuard<'_, Vec<PickedAttempt>> {
        self.picked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Call + Sync> MapOpener for LateRuns<C> {
    fn weigh(
        &self,
        task: usize,
        attempts: &[CompletedAttempt],
    ) -> (WeighedAttempts, Option<PlannedTask>) {
        let changes = changes_of(attempts);
        let Some(judge) = self.judges.get(&task) else {
            return (pick_smallest(attempts, &changes), None);
        };
        let request = judge.about(attempts, &changes);
        let opened = self.open_requests(vec![request]);
        match opened.map(|planned| planned.into_iter().next()) {
            Ok(Some(planned)) => {
                self.ids().push(planned.task.run.clone());
                (WeighedAttempts::Judged, Some(planned))
            }
            Ok(None) => (
                WeighedAttempts::Nobody("there is no judge".to_owned()),
                None,
            ),
            Err(error) => {
                let problem = error.sentence();
                let reason = format!("the judge could not begin: {problem}");
                (WeighedAttempts::Nobody(reason), None)
            }
        }
    }

    fn workspace(&self, directory: &Path) -> Option<Value> {
        workspace_value(directory)
    }

    fn note_picked(&self, picked: PickedAttempt) {
        note_pick(&self.ground.index, &picked);
        self.outcomes().push(picked);
    }

    fn picked(&self) -> Vec<PickedAttempt> {
        self.outcomes().clone()
    }

    fn open(&self, task: usize, items: Option<Vec<Value>>) -> Vec<PlannedTask> {
        let Some(map) = self.maps.get(&task) else {
            return Vec::new();
        };
        let requests = match &items {
            // It never begins; its record says why.
            None => Ok(vec![TaskRequest {
                base: None,
                ..map.clone()
            }]),
            Some(items) if map.for_each.is_none() => {
                let based = items.iter().map(|place| with_base(map, place));
                based.collect::<Result<Vec<_>, _>>()
            }
            Some(items) => {
                let items = items.iter().enumerate();
                let one = |(number, item): (usize, &Value)| with_item(map, item, number);
                let filled = items.map(one).collect::<Result<Vec<_>, _>>();
                filled.map_err(|problem| {
                    format!("The prompt of {} cannot be filled: {problem}", map.name)
                })
            }
        };
        let opened = match requests {
            Ok(requests) => {
                let opened = self.open_requests(requests);
                opened.map_err(|error| error.sentence())
            }
            Err(problem) => Err(problem),
        };
        let runs = opened.unwrap_or_else(|message| refused(map, message).into_iter().collect());
        self.ids()
            .extend(runs.iter().map(|planned| planned.task.run.clone()));
        runs
    }

    fn opened(&self) -> Vec<RunId> {
        self.ids().clone()
    }
}

/// Returns the worktree of a run as a prompt may name its parts.
pub(crate) fn workspace_value(directory: &Path) -> Option<Value> {
    serde_json::to_value(Workspace::read(directory)?).ok()
}

/// Returns a task whose worktree begins with the result of a run that is over. Fails if that had
/// none.
fn with_base(task: &TaskRequest, place: &Value) -> Result<TaskRequest, String> {
    let name = &task.name;
    let none = || format!("{name} cannot begin: the task of its base had no worktree.");
    let run = place["run"].as_str().and_then(|run| RunId::parse(run).ok());
    let directory = place["directory"].as_str().map(Path::new);
    let (run, directory) = run.zip(directory).ok_or_else(none)?;
    let workspace = settle(directory, &run).ok_or_else(none)?;
    let left = workspace.left.map(|left| left.result);
    let commit = left.or_else(|| Some(workspace.base?.commit));
    let mut request = task.clone();
    request.base = Some(BaseChoice::Revision(commit.ok_or_else(none)?));
    request.terms.isolation = Some(Isolation::Worktree);
    Ok(request)
}

/// Returns a run without a record, for a map whose runs could not be opened.
fn refused(map: &TaskRequest, message: String) -> Option<PlannedTask> {
    let run = random::new_run_id().ok()?;
    let session = random::new_session_id().ok()?;
    let cwd = map.cwd.clone().unwrap_or_default();
    let task = Task {
        accepted_at: Some(Timestamp::now()),
        ..Task::new(run, session, map.name.clone(), map.prompt.clone(), cwd)
    };
    Some(PlannedTask {
        place: map.place(),
        fed: None::<FedPrompt>,
        ..PlannedTask::alone(Arc::new(task), Err(Refusal { message }))
    })
}
