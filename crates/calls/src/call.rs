//! A call that starts runs, from its arguments to its answer. Each family implements [`Call`] with
//! its differences.

use std::path::Path;
use std::sync::Arc;

use pi_subagents_records::RunDir;
use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::{BudgetLimits, MapOpener, Plan, PlannedGraph, Refusal, RunSummary};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tracing::info;

use super::answer::{Answer, Outcomes, Worktrees};
use super::open_run::{ChildConversation, Opening};
use super::resolve::{Family, ResolvedTask, Resolver, check_definition};
use super::window_record::WindowRecord;
use crate::PreparedCaller;
use crate::call_sinks::Followed;
use crate::elsewhere::{Departure, work_here};
use crate::first_requests::FirstRequest;
use crate::graph::{CallBounds, CallGraph};
use crate::opened_task::{OpenedTask, plan_here};
use crate::owner::Owner;
use crate::preview::preview_context;
use crate::questions::QuestionDesk;
use crate::request::TaskRequest;
use crate::service::CallService;
use crate::sweeper;
use crate::tmux::Panes;
use crate::unbegun_runs::UnbegunRuns;
use crate::watch::{Details, Watch};
use crate::work::CallWork;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::workspace::{Workspace, matrix_of_call, settle};
use pi_subagents_vocabulary::Counts;
use pi_subagents_vocabulary::Door;

/// A call of a family, read and found to fit.
pub trait Call: Send + Sync + Sized + 'static {
    /// The traits of its family.
    const FAMILY: Family;

    /// The conversation that a task goes on with.
    type Session: Send;

    /// The notes for its answer, beside the facts that its runs know.
    type Notes: Send + 'static;

    /// Fails if a task of this family cannot name an agent so.
    fn check_agent(
        name: &str,
        configuration: &Configuration,
        door: Door,
    ) -> Result<(), CommandError> {
        check_definition(name, Self::FAMILY.asker, configuration, door)
    }

    /// Resolves its tasks. It only reads, and brings up to date what it reads; nothing is made for
    /// the call.
    fn resolve(
        &self,
        resolver: &Resolver<'_>,
        index: &KnownIndex,
    ) -> Result<ResolvedCall<Self>, CommandError>;

    /// Fails if a conversation that was free when the call was resolved is in use by now.
    fn check_free(
        &self,
        sessions: &[Self::Session],
        index: &KnownIndex,
    ) -> Result<(), CommandError>;

    /// Prepares the prompt of a child and the place of its conversation.
    fn converse(
        &self,
        opening: &Opening<'_>,
        session: &Self::Session,
        beginning: &OpenedRun<'_>,
    ) -> Result<ChildConversation, Refusal>;

    /// Returns what the first request of a task sends.
    fn first_request(
        &self,
        resolver: &Resolver<'_>,
        session: &Self::Session,
        task: &ResolvedTask,
    ) -> FirstRequest;

    /// Returns the call with one task for each run, and what waits for what. It fails if that cannot
    /// be done; nothing was made for the call then.
    fn unfold(self, bounds: &CallBounds<'_>) -> Result<(Self, CallGraph), CommandError>;

    /// Returns a call with the same words for everything, and these tasks.
    fn with_tasks(&self, tasks: Vec<TaskRequest>) -> Self;

    /// Returns the limits that the call itself sets for all its runs together.
    fn budget(&self) -> BudgetLimits {
        BudgetLimits::default()
    }

    /// Counts the files that its tasks were given, in the order of the tasks.
    fn file_counts(&self) -> impl Iterator<Item = usize>;

    /// Words its answer.
    fn word(&self, outcomes: &Outcomes, notes: &Self::Notes) -> Worded;
}

/// A call whose tasks are resolved, in their order.
pub struct ResolvedCall<C: Call> {
    pub(crate) tasks: Vec<ResolvedTask>,
    /// The conversation of each task.
    pub(crate) sessions: Vec<C::Session>,
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: C::Notes,
}

impl<C: Call> ResolvedCall<C> {
    /// Returns whether no task of the call can begin.
    pub(crate) fn is_refused(&self) -> bool {
        self.tasks.iter().all(|task| task.work.is_err())
    }
}

/// A task whose run has just been opened.
pub struct OpenedRun<'a> {
    /// Its place in the call.
    pub(crate) number: usize,
    /// The directory that it names.
    pub(crate) cwd: &'a Path,
    /// The directory of its run, if it could be made.
    pub(crate) directory: Option<&'a RunDir>,
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
pub(crate) struct Opened<Notes> {
    pub(crate) tasks: Vec<OpenedTask>,
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: Notes,
}

/// A call whose runs are open, ready to run.
pub struct ReadyCall<C: Call> {
    pub(crate) call: C,
    pub(crate) opened: Opened<C::Notes>,
    /// The settings for showing a tool call in one line.
    context: PreviewContext,
    lines_per_window: usize,
    panes: Panes,
    door: Door,
    /// The directory of its caller.
    places: Places,
    /// The way to other machines, if it works there.
    departure: Option<Box<dyn Departure>>,
    /// The order in which its runs may begin, if some wait for others.
    pub(crate) graph: Option<PlannedGraph>,
    /// The counts of the background runs with these, if they are background runs.
    pub(crate) counts: Option<Counts>,
    /// Closes its runs if it is dropped before they begin; none if it has opened no run.
    pub(crate) unbegun: Option<UnbegunRuns>,
}

impl<C: Call> ReadyCall<C> {
    /// Makes a call ready whose runs have been opened.
    pub(crate) fn new(
        call: C,
        opened: Opened<C::Notes>,
        asking: &PreparedCaller,
        departure: Option<Box<dyn Departure>>,
    ) -> Self {
        let PreparedCaller {
            caller,
            configuration,
            ..
        } = asking;
        let settings = &configuration.settings;
        Self {
            call,
            opened,
            context: preview_context(caller, settings),
            lines_per_window: settings.max_lines_per_window,
            panes: Panes::of(&caller.places, settings),
            door: caller.door,
            places: caller.places.clone(),
            departure,
            graph: None,
            counts: None,
            unbegun: None,
        }
    }

    /// Returns the work of its runs, for an owner whom nobody watches.
    pub(crate) fn into_work(mut self, owner: &Owner) -> CallWork<'_> {
        self.begin_runs();
        let planned = PlannedCall {
            tasks: self.opened.tasks,
            graph: self.graph,
        };
        work_of(planned, self.departure, owner, &self.places)
    }

    /// Notes that its runs begin, so that they are not closed as runs that nobody begins.
    fn begin_runs(&mut self) {
        if let Some(unbegun) = &mut self.unbegun {
            unbegun.begin();
        }
    }

    /// Returns its tasks with everything resolved, in their order.
    pub(crate) fn tasks(&self) -> &[OpenedTask] {
        &self.opened.tasks
    }

    /// Returns the directories of its caller.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the warnings that a person should read before the runs cost anything.
    pub fn warnings(&self) -> &[String] {
        &self.opened.warnings
    }

    /// Runs it and waits for its end.
    pub async fn run(self, service: &CallService, watch: Watch) -> Answer {
        let (worded, work) = self.begin_work(service, watch);
        let runs = work.await;
        worded.answer(service, runs).await
    }

    /// Runs it and waits for its end. If nobody at its door can answer what is left of it, the early
    /// answer goes to the channel, and there is none at the end.
    pub(crate) async fn run_until_stuck(
        self,
        service: &CallService,
        watch: Watch,
        desk: &QuestionDesk,
        early: oneshot::Sender<Answer>,
    ) -> Option<Answer> {
        let (worded, work) = self.begin_work(service, watch);
        tokio::pin!(work);
        let waiting = tokio::select! {
            runs = &mut work => return Some(worded.answer(service, runs).await),
            waiting = desk.stuck() => waiting,
        };
        desk.leave();
        info!("call is answered with its questions");
        let answer = worded.answer(service, waiting).await;
        // Nobody may wait for it any more.
        _ = early.send(answer);
        settled(&work.await).await;
        None
    }

    /// Begins its runs; returns what its answer needs, and the work of its runs.
    fn begin_work(
        mut self,
        service: &CallService,
        watch: Watch,
    ) -> (
        WordedCall<C>,
        impl Future<Output = Vec<Arc<RunSummary>>> + Send,
    ) {
        self.begin_runs();
        let Opened {
            tasks,
            warnings,
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
        let opener = self.graph.as_ref().map(|graph| Arc::clone(&graph.opener));
        let planned = PlannedCall {
            tasks,
            graph: self.graph,
        };
        let work = work_of(planned, self.departure, &service.owner, &self.places);
        let panes = Arc::new(self.panes);
        let worded = WordedCall {
            call: self.call,
            notes,
            warnings,
            opener,
            windows,
            details,
            panes: Arc::clone(&panes),
            door: self.door,
            places: self.places,
        };
        let work = async move { service.run(work, &panes, followed).await };
        (worded, work)
    }
}

/// The values from which the answer of a call under way is made.
struct WordedCall<C: Call> {
    call: C,
    notes: C::Notes,
    warnings: Vec<String>,
    /// Knows the outcomes of attempts, if tasks of the call wait for others.
    opener: Option<Arc<dyn MapOpener>>,
    windows: Option<WindowRecord>,
    details: Details,
    panes: Arc<Panes>,
    door: Door,
    places: Places,
}

impl<C: Call> WordedCall<C> {
    /// Returns the answer about runs as they are now.
    async fn answer(self, service: &CallService, runs: Vec<Arc<RunSummary>>) -> Answer {
        let worktrees = settled(&runs).await;
        let runs = with_files(runs, &worktrees);
        sweeper::start_if_due(&self.places, &service.owner.known_children);
        let mut warnings = self.warnings;
        warnings.extend(self.panes.problem());
        let outcomes = Outcomes::new(
            runs,
            warnings,
            &service.owner.recorder,
            self.door,
            &self.places.project,
        );
        let picked = self.opener.map(|opener| opener.picked());
        let outcomes = outcomes
            .with_worktrees(worktrees)
            .with_picked(picked.unwrap_or_default());
        let worded = self.call.word(&outcomes, &self.notes);
        Answer {
            outcomes,
            windows: self.windows,
            details: self.details,
            worded,
            shown: Vec::new(),
        }
    }
}

/// The tasks of a call, with the order in which they may begin.
struct PlannedCall {
    tasks: Vec<OpenedTask>,
    graph: Option<PlannedGraph>,
}

/// Returns the work of tasks whose runs are open, here or in a fleet.
fn work_of<'a>(
    planned: PlannedCall,
    departure: Option<Box<dyn Departure>>,
    owner: &'a Owner,
    places: &Places,
) -> CallWork<'a> {
    match departure {
        None => {
            let plan = Plan {
                graph: planned.graph,
                ..plan_here(planned.tasks)
            };
            work_here(owner, places, plan)
        }
        Some(departure) => departure.work(planned.tasks, owner),
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
    // A run that waits for an answer still works in its worktree.
    let tasks = runs
        .iter()
        .filter(|run| !run.questions.is_waiting() || run.ending.is_some())
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
