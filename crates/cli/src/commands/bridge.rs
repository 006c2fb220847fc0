//! The hidden command that is the child of a run which an agent of others does.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::places::find_places;
use pi_subagents_bridge::BridgePlace;
use pi_subagents_ground::print::Printer;

pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let places = match find_places() {
        Ok(places) => places,
        Err(error) => return Printer::for_people().fail(&error),
    };
    let variables = places
        .variables
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    let arguments = arguments.map(|word| word.to_string_lossy().into_owned());
    let place = BridgePlace {
        program: places.program,
        cwd: places.cwd,
        variables: variables.collect(),
    };
    ExitCode::from(pi_subagents_bridge::run(arguments.collect(), &place))
}
