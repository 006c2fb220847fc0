//! Results as commits on a new branch, for people and for programs.

use pi_subagents_git::{AddedCommit, NewBranch};
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::text::{first_of, shell_quoted};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    HeldBackFiles, PrintedConflict, RunMergeOutcome, ToMerge, held_back, message, name_of,
};
use crate::no_result::{NoResult, PrintedNoResult};
use crate::results::failed;
use crate::workspace::place;
use pi_subagents_ground::error::CommandError;

/// A new branch with results.
pub struct BranchReport {
    name: String,
    added: Vec<AddedResult>,
    without: Vec<NoResult>,
    /// The address of the remote repository, without credentials.
    origin: Option<String>,
}

struct AddedResult {
    run: RunId,
    name: String,
    outcome: Added,
}

enum Added {
    Commit(AddedCommit),
    HeldBack(RunMergeOutcome),
}

/// The JSON of `merge --branch`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedBranch<'a> {
    /// The name of the branch; left out if no result fitted, so that there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    /// The result of each run that was named, in their order.
    commits: Vec<PrintedCommit<'a>>,
    /// The commands that publish the branch and propose it.
    publish: Vec<String>,
    /// The runs that have no result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without_result: Vec<PrintedNoResult<'a>>,
}

/// A result on the branch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PrintedCommit<'a> {
    run_id: &'a RunId,
    name: &'a str,
    /// Its commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'a str>,
    /// The conflicts that kept it from the branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<PrintedConflict>,
    /// True if it holds conflict markers or copies of ignored files, so that it was not tried.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    held_back: bool,
}

/// Makes a branch with a commit of each result. A result that does not fit is left out and named.
pub(crate) fn branch(to_merge: ToMerge, name: &str) -> Result<BranchReport, CommandError> {
    let (checkout, results, without) = to_merge.parted();
    let locked = checkout.locked().map_err(|error| failed(&error))?;
    let mut branch = NewBranch::begin(&locked, name).map_err(|error| failed(&error))?;
    let mut added = Vec::new();
    for result in results {
        let held = held_back(&result, HeldBackFiles::Refused).map_err(|error| failed(&error))?;
        let outcome = if let Some(why) = held {
            Added::HeldBack(why)
        } else {
            let commit = branch.add(&result.change, &message(&result.run));
            Added::Commit(commit.map_err(|error| failed(&error))?)
        };
        added.push(AddedResult {
            run: result.run.run.clone(),
            name: name_of(&result.run),
            outcome,
        });
    }
    let report = BranchReport {
        name: name.to_owned(),
        added,
        without,
        origin: checkout.origin().map_err(|error| failed(&error))?,
    };
    if report.commits() > 0 {
        branch.finish().map_err(|error| failed(&error))?;
    }
    Ok(report)
}

impl BranchReport {
    /// Returns how many results are on the branch.
    pub fn commits(&self) -> usize {
        let is_commit =
            |one: &&AddedResult| matches!(one.outcome, Added::Commit(AddedCommit::Commit(_)));
        self.added.iter().filter(is_commit).count()
    }

    /// Returns how many runs were asked for.
    pub fn asked(&self) -> usize {
        self.added.len() + self.without.len()
    }

    /// Says of each run how it ended.
    pub fn lines(&self) -> Vec<String> {
        let added = self.added.iter().map(|one| {
            let name = &one.name;
            match &one.outcome {
                Added::Commit(AddedCommit::Commit(commit)) => {
                    format!("✓ {name}: {} on {}", commit.short(), self.name)
                }
                Added::Commit(AddedCommit::Nothing) => {
                    format!("– {name}: the branch has its changes already")
                }
                Added::Commit(AddedCommit::Conflicts(conflicts)) => {
                    let places = first_of(conflicts.iter().map(place), 3, ", ");
                    format!(
                        "✗ {name}: left out; conflicts with {} in {places}",
                        self.name
                    )
                }
                Added::HeldBack(why) => super::report::outcome_line(name, why),
            }
        });
        added
            .chain(self.without.iter().map(NoResult::line))
            .collect()
    }

    /// Returns the commands that publish the branch and propose it on the forge of its remote
    /// repository.
    pub fn publish(&self) -> Vec<String> {
        let name = shell_quoted(&self.name);
        let mut commands = vec![format!("git push -u origin {name}")];
        let host = self.origin.as_deref().unwrap_or_default();
        if host.contains("github") {
            commands.push(format!("gh pr create --fill --head {name}"));
        } else if host.contains("gitlab") {
            commands.push(format!("glab mr create --fill --source-branch {name}"));
        }
        commands
    }

    /// Describes the same for programs.
    pub fn printed(&self) -> PrintedBranch<'_> {
        let commits = self.added.iter().map(|one| PrintedCommit {
            run_id: &one.run,
            name: &one.name,
            commit: match &one.outcome {
                Added::Commit(AddedCommit::Commit(commit)) => Some(commit.as_str()),
                Added::Commit(_) | Added::HeldBack(_) => None,
            },
            conflicts: match &one.outcome {
                Added::Commit(AddedCommit::Conflicts(conflicts)) => PrintedConflict::all(conflicts),
                Added::Commit(_) | Added::HeldBack(_) => Vec::new(),
            },
            held_back: matches!(one.outcome, Added::HeldBack(_)),
        });
        PrintedBranch {
            branch: (self.commits() > 0).then_some(self.name.as_str()),
            commits: commits.collect(),
            publish: if self.commits() > 0 {
                self.publish()
            } else {
                Vec::new()
            },
            without_result: self.without.iter().map(NoResult::printed).collect(),
        }
    }
}
