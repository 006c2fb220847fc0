//! A call that starts runs, from its arguments to its answer. Each family implements [`Call`] with
//! its differences.

use std::sync::Arc;

use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::RunSummary;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tracing::info;

use super::answer::{Answer, Outcomes, Worktrees};
use super::open_run::Opening;
use super::resolve::Family;
use super::window_record::WindowRecord;
use crate::caller::Caller;
use crate::elsewhere::{Departure, work_here};
use crate::followed::Followed;
use crate::opened_task::{OpenedTask, sorted};
use crate::preview::preview_context;
use crate::service::CallService;
use crate::sweeper;
use crate::tmux::Panes;
use crate::watch::Watch;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::workspace::{Workspace, matrix_of_call, settle};
use pi_subagents_vocabulary::Door;

/// A call of a family, read and found to fit.
pub trait Call {
    /// The traits of its family.
    const FAMILY: Family;

    /// The notes for its answer, beside the facts that its runs know.
    type Notes;

    /// Resolves its tasks and opens their runs.
    fn open_runs(&self, opening: &Opening<'_>) -> Result<Opened<Self::Notes>, CommandError>;

    /// Counts its tasks.
    fn task_count(&self) -> usize;

    /// Counts the files that its tasks were given, in the order of the tasks.
    fn file_counts(&self) -> impl Iterator<Item = usize>;

    /// Words its answer.
    fn word(&self, outcomes: &Outcomes, notes: &Self::Notes) -> Worded;
}

/// The answer to a call in the words of its family.
pub struct Worded {
    /// The text that the caller's model reads.
    pub(crate) text: String,
    /// This is true if the text contains the answers of the sub-agents.
    pub(crate) has_answers: bool,
    /// The fields that the family adds to the details.
    pub(crate) details: Map<String, Value>,
    /// Notices for a person who does not read the text.
    pub(crate) notices: Vec<String>,
}

/// The tasks of a call whose runs are open, with the notes for its answer.
pub struct Opened<Notes> {
    pub(crate) tasks: Vec<OpenedTask>,
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: Notes,
}

/// A call whose runs are open, ready to run.
pub struct ReadyCall<C: Call> {
    call: C,
    opened: Opened<C::Notes>,
    /// The settings for showing a tool call in one line.
    context: PreviewContext,
    lines_per_window: usize,
    panes: Panes,
    door: Door,
    /// The directory of its caller.
    places: Places,
    /// The way to other machines, if it works there.
    departure: Option<Box<dyn Departure>>,
}

impl<C: Call> ReadyCall<C> {
    /// Resolves a call and opens its runs: from here on they have a directory and a record. A call
    /// for a fleet brings the way there.
    pub fn new(
        service: &CallService,
        call: C,
        (caller, configuration): (&Caller, &Configuration),
        departure: Option<Box<dyn Departure>>,
    ) -> Result<Self, CommandError> {
        let _alone = service.open_alone();
        let settings = &configuration.settings;
        let opening = Opening::new(C::FAMILY, (caller, configuration), &service.owner);
        let mut opened = call.open_runs(&opening.towards(departure.as_deref()))?;
        let about_files = departure.iter().flat_map(|departure| departure.warnings());
        opened.warnings.extend(about_files.cloned());
        let (tasks, warnings) = (opened.tasks.len(), opened.warnings.len());
        info!(door = ?caller.door, tasks, warnings, "call resolved");
        Ok(Self {
            call,
            opened,
            context: preview_context(caller, settings),
            lines_per_window: settings.max_lines_per_window,
            panes: Panes::of(&caller.places, settings),
            door: caller.door,
            places: caller.places.clone(),
            departure,
        })
    }

    /// Returns its tasks with everything resolved, in their order.
    pub(crate) fn tasks(&self) -> &[OpenedTask] {
        &self.opened.tasks
    }

    /// Returns the warnings that a person should read.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.opened.warnings
    }

    /// Runs it and waits for its end.
    pub async fn run(self, service: &CallService, watch: Watch) -> Answer {
        let Opened {
            tasks,
            mut warnings,
            notes,
        } = self.opened;
        let details = watch.details;
        let windows = watch.wants_windows().then(|| {
            WindowRecord::new(
                self.context.clone(),
                self.call.file_counts(),
                self.lines_per_window,
            )
        });
        let followed = Followed::new(watch, windows.as_ref(), self.context);
        let runs = match self.departure {
            None => {
                let work = work_here(&service.owner, &self.places, sorted(tasks).here);
                service.run(work, &self.panes, followed).await
            }
            Some(departure) => {
                let work = departure.work(tasks, &service.owner);
                service.run(work, &self.panes, followed).await
            }
        };
        let worktrees = settled(&runs).await;
        let runs = with_files(runs, &worktrees);
        sweeper::start_if_due(&self.places, &service.owner.known_children);
        warnings.extend(self.panes.problem());
        let outcomes = Outcomes::new(runs, warnings, &service.owner.recorder, self.door);
        let outcomes = outcomes.with_worktrees(worktrees);
        let worded = self.call.word(&outcomes, &notes);
        Answer {
            outcomes,
            windows,
            details,
            worded,
        }
    }
}

/// Puts the files that git found into the receipts of runs that had worktrees of their own.
fn with_files(runs: Vec<Arc<RunSummary>>, worktrees: &Worktrees) -> Vec<Arc<RunSummary>> {
    let with_files = |run: Arc<RunSummary>| {
        let task = run.task.as_ref();
        let workspace = task.and_then(|task| worktrees.of_runs.get(&task.run));
        match workspace.and_then(Workspace::changed_paths) {
            Some(paths) => {
                let mut run = RunSummary::clone(&run);
                run.witness.take_worktree(paths);
                Arc::new(run)
            }
            None => run,
        }
    };
    runs.into_iter().map(with_files).collect()
}

/// Keeps the results of runs in worktrees of their own.
async fn settled(runs: &[Arc<RunSummary>]) -> Worktrees {
    let tasks = runs
        .iter()
        .filter_map(|run| Some((run.task.clone()?, run.started_at.is_some())));
    let tasks: Vec<_> = tasks.collect();
    let settled = spawn_blocking(move || {
        let found = tasks.iter().filter_map(|(task, has_begun)| {
            let workspace = settle(task.directory.as_deref()?, &task.run)?;
            // The error of a run whose worktree could not be made says all there is to say.
            has_begun.then_some((task, workspace))
        });
        let found: Vec<_> = found.collect();
        let named = found
            .iter()
            .map(|(task, one)| (task.name.clone(), one.clone()));
        let matrix = matrix_of_call(&named.collect::<Vec<_>>());
        let of_runs = found.into_iter().map(|(task, one)| (task.run.clone(), one));
        Worktrees {
            of_runs: of_runs.collect(),
            matrix,
        }
    });
    // The next command looks at what this one could not look at.
    settled.await.unwrap_or_default()
}
