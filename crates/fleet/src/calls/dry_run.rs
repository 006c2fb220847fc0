//! Describes what would travel to a fleet, for a person who wants to know it before.

use pi_subagents_vocabulary::WorkspaceChoice;
use schemars::JsonSchema;
use serde::Serialize;

use super::package;
use super::published_project::Published;
use crate::runs::connection::{connect, unreachable};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::destination::FleetDestination;
use pi_subagents_ground::error::CommandError;

/// A call that has not left.
pub struct DryRun {
    destination: FleetDestination,
    /// The workers that take runs of the pool.
    workers: Vec<String>,
    /// The parts of the project that would be sent, a line each.
    files: Vec<String>,
    /// The number of its bytes.
    bytes: u64,
}

impl DryRun {
    /// Finds out what would travel to a destination. Nothing is sent.
    pub async fn look(
        caller: &Caller,
        destination: FleetDestination,
    ) -> Result<Self, CommandError> {
        let settings = &destination.fleet;
        let fleet = connect(settings, &caller.places).await?;
        let cwd = caller.working_directory();
        let (files, bytes) = match destination.workspace {
            WorkspaceChoice::Bundle => {
                let packed = Box::pin(package::pack(&fleet, &cwd, settings)).await?;
                (packed.described(), packed.bytes())
            }
            WorkspaceChoice::Clone => {
                let published = Published::look(&cwd).await?;
                let clone = format!("clone       {} at {}", published.url, published.commit);
                let left_out = published.left_out();
                let left_out = left_out.map(|files| format!("left out    {files}"));
                ([clone].into_iter().chain(left_out).collect(), 0)
            }
            WorkspaceChoice::Shared => {
                let line = format!(
                    "directory   {}, which the workers must see too",
                    cwd.display()
                );
                (vec![line], 0)
            }
            WorkspaceChoice::None => (vec!["directory   an empty one".to_owned()], 0),
        };
        let workers = fleet.workers().await.map_err(unreachable)?;
        fleet.close().await;
        let takes = |pools: &[String]| pools.contains(&destination.pool);
        let workers = workers.into_iter().filter(|(_, card)| takes(&card.pools));
        Ok(Self {
            workers: workers.map(|(name, _)| name).collect(),
            destination,
            files,
            bytes,
        })
    }

    /// Describes it for a person.
    pub fn lines(&self) -> Vec<String> {
        let workers = match self.workers.as_slice() {
            [] => "which no worker takes runs of at the moment".to_owned(),
            names => format!("with the workers {}", names.join(", ")),
        };
        let again = match self.destination.retries {
            0 => "never begun again".to_owned(),
            1 => "begun again once if its worker is lost".to_owned(),
            number => format!("begun again up to {number} times if its worker is lost"),
        };
        let mut lines = vec![
            format!("pool        {}, {workers}", self.destination.pool),
            format!(
                "priority    {}, {again}",
                self.destination.priority.as_str()
            ),
        ];
        lines.extend(self.files.iter().cloned());
        lines
    }

    /// Describes it for a program.
    pub fn printed(&self) -> DryRunResult<'_> {
        DryRunResult {
            pool: &self.destination.pool,
            priority: self.destination.priority.as_str(),
            retries: u64::from(self.destination.retries),
            workspace: self.destination.workspace.as_str(),
            workers: &self.workers,
            files: &self.files,
            bytes: self.bytes,
        }
    }
}

/// The JSON of `--dry-run`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DryRunResult<'a> {
    /// The pool of the fleet.
    pool: &'a str,
    priority: &'a str,
    /// How often the task is tried again after a worker was lost.
    retries: u64,
    /// How the files get there.
    workspace: &'a str,
    /// The workers that take runs of the pool.
    workers: &'a [String],
    /// The parts of the project that would be sent, a line each.
    files: &'a [String],
    /// The number of their bytes.
    bytes: u64,
}
