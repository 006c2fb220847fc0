//! Opens the page in the browser of the person. The address with its token is never an argument of a
//! process, which every user of the machine could read: the browser is given a file that leads there.

use std::io;
use std::process::{Command, Stdio};

use pi_subagents_files::{Audience, replace};
use pi_subagents_os::{Machine as _, System, start};
use pi_subagents_pi_files::on_path;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

const OPENER: &str = System::OPENER;

/// Returns whether there is a program that opens the page.
pub fn can_open(places: &Places) -> bool {
    let path = places.variable("PATH").unwrap_or_default();
    on_path(OPENER, path).is_some()
}

/// Opens an address in the browser.
pub(super) fn open(url: &str, places: &Places) -> Result<(), CommandError> {
    let file = places.agent_dir.join("subagents-web-open.html");
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>pi-subagents</title>\n"
    );
    let failed = |error: &io::Error| {
        CommandError::failed(format!("could not open the page with {OPENER}"))
            .because(error)
            .hint("Open the printed address in a browser yourself.")
    };
    replace(&file, page.as_bytes(), Audience::Private).map_err(|error| failed(&error))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "the person's own browser is no sub-agent"
    )]
    let mut opener = Command::new(OPENER);
    opener
        .arg(&file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // It ends when the browser has taken the file over; nobody waits for that.
    start(&mut opener).map(drop).map_err(|error| failed(&error))
}
