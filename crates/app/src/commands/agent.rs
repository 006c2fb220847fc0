//! The embedded agent as a command: a child like any other.

use std::ffi::OsString;
use std::process::ExitCode;

use pi_subagents_agent::Surroundings;

use crate::places::Places;
use crate::print::Printer;

/// Its name on the command line.
pub(crate) const NAME: &str = "agent";

pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let places = match Places::find() {
        Ok(places) => places,
        Err(error) => {
            return Printer::for_people().fail(&error);
        }
    };
    let text = |word: OsString| word.to_string_lossy().into_owned();
    let code = pi_subagents_agent::run(
        arguments.map(text).collect(),
        Surroundings {
            cwd: places.cwd,
            home: places.home,
            agent_dir: places.agent_dir,
            variables: places
                .variables
                .into_iter()
                .map(|(name, value)| (text(name), text(value)))
                .collect(),
        },
    );
    ExitCode::from(code)
}
