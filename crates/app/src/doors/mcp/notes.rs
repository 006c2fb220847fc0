//! Notes for a person who starts the server, and for a model about the directory it works in.

use std::io::{IsTerminal as _, stdin};
use std::net::SocketAddr;
use std::path::Path;

use crate::calls::caller::Caller;
use crate::places::Places;
use crate::print::Printer;

const WAITING: &str = "\
pi-subagents mcp speaks the Model Context Protocol. It waits for a client on stdin and answers on stdout.
Clients start it themselves, for example:  claude mcp add pi-subagents -- pi-subagents mcp
Ctrl-C ends it.";

/// Prints on stderr the facts that a client hides from its person.
pub(super) fn to_a_person(caller: &Caller, http: Option<SocketAddr>) {
    let printer = Printer::for_people();
    if http.is_none() && stdin().is_terminal() {
        printer.note(WAITING);
    }
    if let Some(note) = no_project(&caller.places) {
        printer.note(&format!("! {note}"));
    }
}

/// Returns a note if nobody would work in our directory.
pub(super) fn no_project(places: &Places) -> Option<String> {
    let Places { cwd, home, .. } = places;
    let is_nowhere = cwd == Path::new("/") || cwd == home || *cwd == std::env::temp_dir();
    is_nowhere.then(|| {
        format!(
            "This server was started in {}, which is no project: sub-agents work there, and no definitions of a project are found. Set the working directory of the server in the client's configuration, start it with --cwd DIR, or give each task a cwd.",
            cwd.display()
        )
    })
}
