//! # A team for a Rust program
//!
//! The library: sub-agents for a Rust program. The crate `pi-subagents` publishes it.

mod failure;
mod host_servers;
mod merging;
mod options;
mod outcome;
mod tool_names;
mod workspace;

use std::num::NonZeroUsize;
use std::sync::Arc;

use pi_subagents_configuration::Asker;
pub use pi_subagents_git::Conflict;
use pi_subagents_host_tools::HostToolServer;
pub use pi_subagents_host_tools::{HostTools, schemars};
use pi_subagents_records::CallerName;
use pi_subagents_vocabulary::{Definition, Door, EventSink, RunId, RunTerms};

pub use self::failure::{TeamError, TeamErrorKind};
use self::host_servers::serve;
pub use self::merging::{Clash, MergeCheck};
pub use self::options::TeamOptions;
pub use self::outcome::{Delegated, Outcome};
use self::tool_names::check_tools;
pub use self::workspace::{ChangedFile, MergeOutcome, Merged, TaskWorkspace, TaskWorkspaceState};
/// A task for one sub-agent.
///
/// ```
/// use std::time::Duration;
///
/// use pi_subagents::Task;
///
/// let task = Task::new("review", "Look for what could break.")
///     .agent("reviewer")
///     .file("src/main.rs")
///     .timeout(Duration::from_mins(5));
/// ```
pub use pi_subagents_calls::TaskRequest as Task;
use pi_subagents_calls::caller::{Caller, Overrides};
use pi_subagents_calls::elsewhere::Waiting;
use pi_subagents_calls::families::delegation::DelegateCall;
use pi_subagents_calls::service::CallService;
use pi_subagents_calls::watch::Watch;
use pi_subagents_calls::{PreparedCaller, begin};
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
pub use pi_subagents_vocabulary::ForEach;

/// A team of sub-agents, owned by this process.
///
/// It uses the settings, agents and trust of the command line, and writes the same records. Other
/// processes reach its runs with `pi-subagents status`, `steer`, `stop` and `wait`. When this process
/// exits, also by `SIGKILL`, all its sub-agents end.
///
/// The process becomes a subreaper: processes whose parents are gone become its children, so a
/// `wait` for any child may return one that it did not start. The soft limit of open files is raised,
/// and nothing else of the process changes.
///
/// ```no_run
/// use pi_subagents::{Task, Team, TeamOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), pi_subagents::TeamError> {
/// let team = Team::open(TeamOptions::new()).await?;
/// let tasks = [Task::new("purpose", "Say in one sentence what this is.")];
/// for outcome in team.delegate(tasks, Vec::new()).await?.outcomes {
///     let report = outcome.report;
///     println!("{}: {:?} (session: {})", report.name, report.output, report.session_id);
/// }
/// team.close().await;
/// # Ok(())
/// # }
/// ```
pub struct Team {
    service: CallService,
    caller: Caller,
    /// The functions of this program, which are served as long as the team is open.
    _host_tools: Vec<HostToolServer>,
}

impl Team {
    /// Opens a team. It needs the async runtime of tokio, here and as long as it is open.
    pub async fn open(options: TeamOptions) -> Result<Self, TeamError> {
        check_tools(options.tools.as_deref().unwrap_or_default(), options.runner)?;
        let mut places = Places::of_a_program(
            options.cwd.as_deref(),
            options.home.as_deref(),
            options.binary.as_deref(),
            pi_subagents_fleet::guests(),
        )?;
        let settings = Configuration::read_once(&places, options.trusts_project).settings;
        let concurrency = options
            .concurrency
            .map_or(settings.concurrency(Door::CommandLine), NonZeroUsize::get);
        let served = serve(options.host_tools).await?;
        places.variables.extend(served.variables);
        Ok(Self {
            _host_tools: served.running,
            service: CallService::open_in_a_program(&places, concurrency)?,
            caller: Caller {
                name: CallerName::Program,
                trusts_project: options.trusts_project,
                overrides: Overrides {
                    terms: RunTerms {
                        runner: options.runner,
                        model: options.model,
                        fallback_models: options.fallback_models,
                        tools: options.tools,
                        max_turns: options.max_turns,
                        allowance: options.allowance,
                        ..RunTerms::default()
                    },
                    host_servers: served.entries,
                    ..Overrides::default()
                },
                ..Caller::at(places)
            },
        })
    }

    /// Returns the agents that tasks can name, as they are on disk now.
    ///
    /// ```no_run
    /// # fn example(team: &pi_subagents::Team) {
    /// for agent in team.agents() {
    ///     println!("{}: {:?}", agent.name, agent.description);
    /// }
    /// # }
    /// ```
    pub fn agents(&self) -> Vec<Definition> {
        let catalogue = self.service.configuration(&self.caller).catalogue;
        let effective = catalogue.effective(Asker::Delegation);
        effective.into_iter().cloned().collect()
    }

    /// Runs 1 to 16 tasks and waits for them. The sinks get every event of their runs.
    ///
    /// If something is wrong with one task, its outcome says so and the other tasks go on. An error
    /// means that nothing was started. Several calls may be under way at once; together they have at
    /// most as many sub-agents as the team may have.
    ///
    /// # Cancelling
    ///
    /// If the future is dropped, the runs of this call are stopped, and no others: they end as
    /// [`Status::Stopped`](pi_subagents_vocabulary::Status::Stopped), and the sinks are dropped when nothing of
    /// them is left.
    ///
    /// ```no_run
    /// # async fn example(team: &pi_subagents::Team) {
    /// use std::time::Duration;
    ///
    /// use pi_subagents::Task;
    ///
    /// let work = team.delegate([Task::new("long", "Count the stars.")], Vec::new());
    /// if tokio::time::timeout(Duration::from_mins(2), work).await.is_err() {
    ///     println!("It took too long, and is being stopped.");
    /// }
    /// # }
    /// ```
    pub async fn delegate(
        &self,
        tasks: impl IntoIterator<Item = Task>,
        sinks: Vec<Box<dyn EventSink>>,
    ) -> Result<Delegated, TeamError> {
        let tasks = tasks.into_iter().collect();
        let call = DelegateCall::new(tasks).map_err(CommandError::from)?;
        let watch = Watch {
            sinks,
            ..Watch::nobody()
        };
        let asking = PreparedCaller {
            caller: self.caller.clone(),
            configuration: Arc::new(self.service.configuration(&self.caller)),
            waiting: Waiting::Somebody,
            consent: None,
        };
        let ready = begin(&self.service, call, asking).await?;
        Ok(Delegated::new(&ready.run(&self.service, watch).await))
    }

    /// Stops a run and waits until nothing of it is left; `false` if it was not running.
    ///
    /// A sink gets the ids of runs as soon as they are accepted, and how they end.
    ///
    /// ```no_run
    /// # async fn example(team: &pi_subagents::Team, event: &pi_subagents::RunEvent) {
    /// if team.stop(&event.run).await {
    ///     println!("Stopped {}.", event.run);
    /// }
    /// # }
    /// ```
    pub async fn stop(&self, run: &RunId) -> bool {
        self.service.owner.stop_one(run.clone()).await.is_ok()
    }

    /// Closes the team: stops the runs that are under way and waits until nothing of them is left.
    ///
    /// If a team is dropped instead, nobody waits for its runs: they are stopped in order as long as
    /// the runtime lives, and ended at once when it does not.
    ///
    /// ```no_run
    /// # async fn example(team: pi_subagents::Team) {
    /// team.close().await;
    /// # }
    /// ```
    pub async fn close(self) {
        self.service.owner.leave().await;
    }
}
