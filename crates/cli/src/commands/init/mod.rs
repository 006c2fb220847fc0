//! `init`: finds what is on this machine and offers to set it up, one question for each change.
//! `init --undo` takes the changes back. The reasons are in `docs/design/init.md`.
//!
//! `changes` says to `uninstall` what was done. `survey` looks, `proposals` decides what to offer, `dialog` asks and acts, `journal` remembers every
//! changed file, and `undo` puts the files back. The texts of clients are edited by pure rules in
//! `client`, `json_insertion` and `toml_insertion`.

mod changes;
mod client;
mod dialog;
mod diff;
mod file_state;
mod insertion;
mod journal;
mod json_insertion;
mod page;
mod pi_install;
mod proposals;
mod shell_file;
mod survey;
mod test_call;
mod toml_insertion;
mod undo;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use pi_subagents_definition_commands::ask::{AtTerminal, Person as _};
use pi_subagents_definition_commands::visible_agents::VisibleAgents;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_vocabulary::Door;

pub(in crate::commands) use self::changes::InitChanges;
pub(in crate::commands) use self::client::{McpClient, SERVER};
use self::dialog::Dialog;
use self::journal::Journal;
use self::proposals::InitPlan;
use self::survey::Survey;
pub(in crate::commands) use self::survey::client_files;
use crate::places::find_places;

#[derive(Args)]
pub(crate) struct InitArgs {
    /// Put back every file that init has changed, and remove those that it has made
    #[arg(long)]
    undo: bool,
}

/// Offers to set everything up, or takes it back.
pub(crate) fn run(args: &InitArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let journal = Journal::of(&places.agent_dir);
    if args.undo {
        return undo::run(&journal, &places.home, printer);
    }
    let seen = VisibleAgents::from(places.clone(), false, Door::CommandLine);
    let survey = Survey::take(&seen);
    let person = AtTerminal { places: &places };
    if person.is_there() {
        let dialog = Dialog {
            person: &person,
            places: &places,
            journal: &journal,
            printer,
        };
        return dialog.lead(survey);
    }
    let plan = InitPlan::of(&survey);
    printer.data(&page::whole(&plan));
    printer.note("Nothing was written: init asks before each change, and there is no terminal. Run it in one: pi-subagents init");
    Ok(ExitCode::SUCCESS)
}

/// Writes a path as people type it, with `~` for the home directory.
pub(in crate::commands) fn tilde(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}
