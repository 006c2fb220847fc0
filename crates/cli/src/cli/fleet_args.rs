//! The options for the place where runs work, and for their way to a fleet.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pi_subagents_vocabulary::{Place, Priority, WorkspaceChoice};

use pi_subagents_calls::caller::FleetWishes;

/// Options of every command that starts runs.
#[derive(Args, Clone, Default)]
pub(super) struct FleetArgs {
    /// Where the sub-agents work: local, fleet, or fleet:POOL for the workers of a pool [default: the setting subagents.fleet.on, or local]
    #[arg(long, value_name = "PLACE", value_parser = parse_place)]
    on: Option<Place>,
    /// Which tasks of a fleet come first [default: the setting subagents.fleet.priority, or normal]
    #[arg(long, value_parser = priority_parser())]
    priority: Option<Priority>,
    /// How often a fleet begins a task again after its worker was lost; 0 for tasks that must not act twice [default: the setting subagents.fleet.retries, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    retries: Option<u32>,
    /// How the files of the project get to a worker of a fleet [default: the setting subagents.fleet.workspace, or bundle]
    #[arg(long, value_parser = workspace_parser())]
    workspace: Option<WorkspaceChoice>,
}

/// The option of commands that can say what would travel to a fleet.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct DryRunArgs {
    /// Print what would be sent to the fleet, and start nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

impl FleetArgs {
    /// Returns the wishes for all tasks.
    pub(super) fn wishes(&self) -> FleetWishes {
        FleetWishes {
            on: self.on.clone(),
            priority: self.priority,
            retries: self.retries,
            workspace: self.workspace,
        }
    }
}

fn parse_place(text: &str) -> Result<Place, String> {
    Place::from_word(text).ok_or_else(|| {
        "a place is local, fleet, or fleet:POOL with a pool of letters, digits, - and _".to_owned()
    })
}

fn priority_parser() -> impl TypedValueParser<Value = Priority> {
    PossibleValuesParser::new(Priority::ALL.map(Priority::as_str))
        .try_map(|word| Priority::from_word(&word).ok_or("there is no such priority"))
}

/// Offers the words of [`WorkspaceChoice`], each with its help.
fn workspace_parser() -> impl TypedValueParser<Value = WorkspaceChoice> {
    let described = WorkspaceChoice::ALL.map(|choice| {
        PossibleValue::new(choice.as_str()).help(match choice {
            WorkspaceChoice::Bundle => {
                "Send the last commits and what is not committed, as git objects"
            }
            WorkspaceChoice::Clone => {
                "Send nothing: the worker clones the commit from its origin, with its own credentials"
            }
            WorkspaceChoice::Shared => {
                "Send nothing: the worker has the same directory under the same path"
            }
            WorkspaceChoice::None => "Send nothing: the sub-agent works in an empty directory",
        })
    });
    PossibleValuesParser::new(described)
        .try_map(|word| WorkspaceChoice::from_word(&word).ok_or("there is no such workspace"))
}
