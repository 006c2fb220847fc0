//! The embedded agent as a command: a child like any other.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use crate::places::find_places;
use pi_subagents_agent::Surroundings;

use pi_subagents_ground::print::Printer;

pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let places = match find_places() {
        Ok(places) => places,
        Err(error) => {
            return Printer::for_people().fail(&error);
        }
    };
    let arguments = arguments.map(|word| text(&word)).collect();
    let code = pi_subagents_agent::run(arguments, Surroundings::from(&places));
    ExitCode::from(code)
}

fn text(word: &OsStr) -> String {
    word.to_string_lossy().into_owned()
}
