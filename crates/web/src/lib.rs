//! # The page in the browser
//!
//! `web`: all runs of this user on a page in the browser.
//!
//! The page and its protocol are in the crate `page`; here are the answers to its questions, from
//! the same rows, finder and follower as `status` and `attach`. See `docs/design/web.md`.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]

mod browser;
mod callers;
mod changes;
mod context;
pub mod export;
mod follow;
mod index;
mod open_run;
mod page_item;
mod placed_story;
mod redact;
mod rows;
mod scope;
mod secrets;
mod served;
mod sums;
mod tab;
mod texts;
mod thin;
mod usage;
mod wishes;

use pi_subagents_vocabulary::Door;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use pi_subagents_page::{PageServer, Power};
use pi_subagents_vocabulary::TimeZone;
use tokio::sync::Notify;

pub use self::browser::can_open;
use self::secrets::Secrets;
use self::served::ServedRuns;
use pi_subagents_calls::owner::raise_file_limit;
use pi_subagents_calls::start_from_screen::Starter;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::signals::Signals;
use pi_subagents_runs::page_address::PageAddress;

/// The port that is tried first, so that a page that is open finds the server again.
const USUAL_PORT: u16 = 41733;

/// The options with which the page is served.
pub struct WebOptions {
    /// The port; `None` for the usual port, or any port if that is taken.
    pub port: Option<u16>,
    /// The socket in the file system that is used instead of a port.
    pub socket: Option<PathBuf>,
    pub power: Power,
    /// True if the browser is opened.
    pub opens: bool,
    /// The part of the address that names the first view of the page.
    pub view: String,
}

/// Serves the page until a signal ends this process. If it is served already, prints its address.
pub async fn run(
    places: Places,
    options: WebOptions,
    starter: Arc<dyn Starter>,
) -> Result<ExitCode, CommandError> {
    // With the usual limit there is room for five tabs that follow 200 runs.
    _ = raise_file_limit();
    let secrets = Secrets::read(&places)?;
    if let Some(socket) = &options.socket {
        return at_socket(socket, &secrets, places, &options, starter).await;
    }
    let printer = Printer::for_people();
    let url = |port| secrets.url(port, options.power, &options.view);
    if let Some(served) = PageAddress::read(&places).filter(|served| is_enough(*served, &options)) {
        printer.data(&url(served.port));
        printer.note("The page is served already; this address leads to it.");
        if options.opens {
            browser::open(&url(served.port), &places)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let signals = Signals::listen()?;
    let server = listen(options.port).await?;
    let address = PageAddress::own(server.port().unwrap_or_default(), options.power);
    address.write(&places).map_err(|error| {
        CommandError::failed("could not write down the address of the page").because(&error)
    })?;
    printer.data(&url(address.port));
    printer.note("Open this address in a browser on this machine. Whoever has it can do what you can do here.\nCtrl-C ends the page and stops no run.");
    if options.opens
        && let Err(error) = browser::open(&url(address.port), &places)
    {
        printer.note(&format!("! {}", error.lines(Door::CommandLine)));
    }
    let ended = serve(
        server,
        &secrets,
        places.clone(),
        options.power,
        starter,
        signals,
    )
    .await;
    address.forget(&places);
    Ok(ended)
}

/// Serves the page on a socket in the file system. The address depends on the port that leads there.
async fn at_socket(
    socket: &Path,
    secrets: &Secrets,
    places: Places,
    options: &WebOptions,
    starter: Arc<dyn Starter>,
) -> Result<ExitCode, CommandError> {
    let signals = Signals::listen()?;
    let server = PageServer::listen_at(socket).map_err(|error| {
        CommandError::failed("could not serve the page")
            .because(&error)
            .hint("Give --socket a path that is free, in a directory of yours.")
    })?;
    let printer = Printer::for_people();
    printer.data(&secrets.url(USUAL_PORT, options.power, &options.view));
    let path = socket.display();
    printer.note(&format!("Open this address where ssh -L {USUAL_PORT}:{path} HOST leads here; with another port, change it in the address.\nWhoever has the address can do what you can do here. Ctrl-C ends the page and stops no run."));
    Ok(serve(server, secrets, places, options.power, starter, signals).await)
}

/// Serves until a signal ends this process.
async fn serve(
    server: PageServer,
    secrets: &Secrets,
    places: Places,
    power: Power,
    starter: Arc<dyn Starter>,
    mut signals: Signals,
) -> ExitCode {
    let runs = ServedRuns::new(places, TimeZone::system(), starter);
    let told = Arc::new(Notify::new());
    let end = Arc::clone(&told);
    let end = Box::pin(async move { end.notified().await });
    let serving = server.serve(Arc::new(runs), secrets.tokens(), power, end);
    let signalled = async {
        let signal = signals.next().await;
        told.notify_one();
        signal
    };
    let (signal, ()) = tokio::join!(signalled, serving);
    exit::of_signal(signal)
}

/// Returns whether a page that is served already fulfils these options.
fn is_enough(served: PageAddress, options: &WebOptions) -> bool {
    let is_port = options.port.is_none_or(|port| port == served.port);
    let is_power = served.power == Power::Full || options.power == Power::ReadOnly;
    is_port && is_power
}

async fn listen(port: Option<u16>) -> Result<PageServer, CommandError> {
    let listened = match port {
        Some(port) => PageServer::listen(port).await,
        None => match PageServer::listen(USUAL_PORT).await {
            Err(error) if error.is_in_use() => PageServer::listen(0).await,
            other => other,
        },
    };
    listened.map_err(|error| {
        CommandError::failed("could not serve the page")
            .because(&error)
            .hint("Give --port a free port, or 0 for any.")
    })
}
