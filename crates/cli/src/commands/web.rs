//! `web`: all runs on a page in the browser.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::places::find_places;
use clap::Args;
use pi_subagents_records::CallerName;

use pi_subagents_calls::start_from_screen::ScreenStarter;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_runs::ask_which::ask_which;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::page_address::Power;
use pi_subagents_runs::typed_ids::TypedIds;
use pi_subagents_runs::upkeep::tend_records;
use pi_subagents_web::WebOptions;

#[derive(Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
pub(crate) struct WebArgs {
    /// Runs to show first: ids or their beginnings, last, last~2, or names of tasks or agents; several are compared
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Port of 127.0.0.1 on which the page is served; 0 picks a free one [default: 41733, or a free one if that is taken]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Serve the page on this socket instead of a port, for ssh -L; only you can open it
    #[arg(long, value_name = "PATH", conflicts_with_all = ["port", "open"])]
    socket: Option<PathBuf>,
    /// Only look: the page can neither steer, stop nor continue runs, nor merge or discard their changes
    #[arg(long)]
    read_only: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Revoke the access of every page that is open or was opened before, and print an address for a new one
    #[arg(long)]
    new_token: bool,
    /// Show the finished runs of the project of this directory [default: the project of the current directory]
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    project: Option<PathBuf>,
    /// Show the finished runs of all projects
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &WebArgs) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let options = WebOptions {
        port: args.port,
        socket: args.socket.as_ref().map(|path| places.cwd.join(path)),
        power: if args.read_only {
            Power::ReadOnly
        } else {
            Power::Full
        },
        renews: args.new_token,
        opens: args.open,
        view: view(args, &places)?,
    };
    let starter = ScreenStarter::new(places.clone(), CallerName::Page);
    block_on(pi_subagents_web::run(places, options, starter))
}

/// Returns the project of a directory that somebody has named.
fn project_of(directory: &Path, places: &Places) -> Result<PathBuf, CommandError> {
    let directory = places.cwd.join(directory);
    if directory.is_dir() {
        return Ok(places.seen_from(directory).project);
    }
    let message = format!("--project: {} is not a directory", directory.display());
    Err(CommandError::usage(message).hint("pi-subagents web --all shows the runs of all projects."))
}

/// Returns the part of the address that names the first view of the page.
fn view(args: &WebArgs, places: &Places) -> Result<String, CommandError> {
    let mut view = String::new();
    if args.all {
        view.push_str("&all=1");
    } else {
        let project = match &args.project {
            Some(directory) => project_of(directory, places)?,
            None => places.project.clone(),
        };
        view.push_str("&project=");
        view.push_str(&encoded(&project.to_string_lossy()));
    }
    let index = KnownIndex::of(places);
    tend_records(&index, places);
    let typed = TypedIds::running(&index, places, Printer::for_people());
    let mut runs = Vec::new();
    for id in &args.ids {
        let found = typed
            .runs(id)
            .map_err(|error| ask_which(&error, |run| format!("pi-subagents web {run}")))?;
        runs.extend(found.last().map(|run| run.run.to_string()));
    }
    match runs.as_slice() {
        [] => {}
        [run] => view.extend(["&run=", run]),
        runs => view.extend(["&compare=", &runs.join(",")]),
    }
    Ok(view)
}

/// Encodes a text for an address.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let bytes = text.bytes().map(|byte| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    });
    bytes.collect()
}
