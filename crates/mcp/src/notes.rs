//! Notes for a person who starts the server, and for a model about the directory it works in.

use std::path::Path;

use pi_subagents_calls::caller::Caller;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;

/// Prints on stderr the facts that a client hides from its person.
pub(super) fn to_a_person(caller: &Caller) {
    if let Some(note) = no_project(&caller.places) {
        Printer::for_people().note(&format!("! {note}"));
    }
}

/// Returns a note if nobody would work in our directory.
pub(super) fn no_project(places: &Places) -> Option<String> {
    let Places { cwd, home, .. } = places;
    let is_nowhere = cwd == Path::new("/") || cwd == home || *cwd == std::env::temp_dir();
    is_nowhere.then(|| {
        format!(
            "This server was started in {}, which is not a project: sub-agents work there, and no agents of a project are found. Set the working directory of the server in the client's configuration, start it with --cwd DIR, or give each task a cwd.",
            cwd.display()
        )
    })
}
