//! `keep`: a worktree that is never removed by itself.

use std::process::ExitCode;

use clap::Args;
use pi_subagents_delegation::text::one_line;
use pi_subagents_sessions::Store;

use crate::doors::command_line::commands::control::conversations_of;
use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::typed::TypedIds;
use crate::runs::workspace::Workspace;

#[derive(Args)]
pub(crate) struct KeepArgs {
    /// Runs or sessions: ids or their beginnings, last, last~2, or names of tasks or definitions
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Let it be removed again when it is old
    #[arg(long)]
    undo: bool,
}

/// Notes that worktrees are kept, or that they are not.
pub(crate) fn keep(args: &KeepArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = Places::find()?;
    let store = Store::new(&places.agent_dir);
    let typed = TypedIds::newest(&store, &places, printer);
    let runs = conversations_of(typed, &args.ids, "keep")?;
    let mut names = Vec::new();
    for run in runs {
        let directory = run.directory.path();
        // A worktree that was merged or discarded is gone.
        let workspace = Workspace::read(directory).filter(|workspace| workspace.path.is_dir());
        let Some(mut workspace) = workspace else {
            continue;
        };
        workspace.is_kept = !args.undo;
        workspace.write(directory).map_err(|error| {
            CommandError::failed(format!("{} cannot be noted", run.run)).because(&error)
        })?;
        names.push(one_line(&run.name));
    }
    if names.is_empty() {
        return Err(CommandError::no_answer(
            "it has no worktree that could be kept",
        ));
    }
    names.dedup();
    for name in names {
        printer.data(&if args.undo {
            format!("{name}: its worktree goes a week after its run")
        } else {
            format!("{name}: its worktree stays until it is merged or discarded")
        });
    }
    Ok(ExitCode::SUCCESS)
}
