//! The command `web`: listens, prints the address of the page, and serves it until a signal comes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pi_subagents_vocabulary::{Door, TimeZone, Timestamp};

use super::answers::ServedRuns;
use super::browser;
use super::codes::new_code;
use super::server::PageServer;
use super::tokens::{CurrentTokens, TokenFiles};
use pi_subagents_calls::owner::raise_file_limit;
use pi_subagents_calls::start_from_screen::ScreenStarter;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::signals::Signals;
use pi_subagents_runs::page_address::{PageAddress, Power};

/// The port that is tried first, so that a page that is open finds the server again.
const USUAL_PORT: u16 = 41733;

/// The options with which the page is served.
pub struct WebOptions {
    /// The port; `None` for the usual port, or any port if that is taken.
    pub port: Option<u16>,
    /// The socket in the file system that is used instead of a port.
    pub socket: Option<PathBuf>,
    pub power: Power,
    /// True if the tokens of all pages that are open are revoked first.
    pub renews: bool,
    /// True if the browser is opened.
    pub opens: bool,
    /// The part of the address that names the first view of the page.
    pub view: String,
}

/// Serves the page until a signal ends this process. If it is served already, prints its address.
pub async fn run(
    places: Places,
    options: WebOptions,
    starter: ScreenStarter,
) -> Result<ExitCode, CommandError> {
    // With the usual limit there is room for five tabs that follow 200 runs.
    _ = raise_file_limit();
    let files = TokenFiles::of(&places);
    if options.renews {
        files.renew()?;
    }
    if let Some(socket) = &options.socket {
        return at_socket(socket, &files, places, &options, starter).await;
    }
    let printer = Printer::for_people();
    if let Some(served) = PageAddress::read(&places).filter(|served| is_enough(*served, &options)) {
        let url = url(&files, served.port, &options)?;
        printer.data(&url);
        printer.note(&format!(
            "The page is served already; this address leads to it. {ONCE}"
        ));
        if options.opens {
            browser::open(&url, &places)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let signals = Signals::listen()?;
    let server = listen(options.port).await?;
    let address = PageAddress::own(server.port().unwrap_or_default(), options.power);
    address.write(&places).map_err(|error| {
        CommandError::failed("could not write down the address of the page").because(&error)
    })?;
    let url = url(&files, address.port, &options)?;
    printer.data(&url);
    printer.note(&format!("Open this address in a browser on this machine. {ONCE}\nWhoever opens it can do what you can do here. Ctrl-C ends the page and stops no run."));
    if options.opens
        && let Err(error) = browser::open(&url, &places)
    {
        printer.note(&format!("! {}", error.lines(Door::CommandLine)));
    }
    let ended = serve(server, files, &places, options.power, starter, signals).await;
    address.forget(&places);
    ended
}

/// What a person must know about the code in an address.
const ONCE: &str =
    "It opens the page once, within a minute; `pi-subagents web` prints a new one at any time.";

/// Returns the address for a browser, with a code that is good once. The part behind the `#` never
/// reaches a server.
fn url(files: &TokenFiles, port: u16, options: &WebOptions) -> Result<String, CommandError> {
    let tokens = files.read()?;
    let code = new_code(tokens.of(options.power), Timestamp::now())?;
    let view = &options.view;
    Ok(format!("http://127.0.0.1:{port}/#code={code}{view}"))
}

/// Serves the page on a socket in the file system. The address depends on the port that leads there.
async fn at_socket(
    socket: &Path,
    files: &TokenFiles,
    places: Places,
    options: &WebOptions,
    starter: ScreenStarter,
) -> Result<ExitCode, CommandError> {
    let signals = Signals::listen()?;
    let server = PageServer::listen_at(socket).map_err(|error| {
        CommandError::failed("could not serve the page")
            .because(&error)
            .hint("Give --socket a path that is free, in a directory of yours.")
    })?;
    let printer = Printer::for_people();
    printer.data(&url(files, USUAL_PORT, options)?);
    let path = socket.display();
    printer.note(&format!("Open this address where ssh -L {USUAL_PORT}:{path} HOST leads here; with another port, change it in the address.\nIt opens the page once, within a minute. Whoever opens it can do what you can do here. Ctrl-C ends the page and stops no run."));
    let files = files.clone();
    serve(server, files, &places, options.power, starter, signals).await
}

/// Serves until a signal ends this process.
async fn serve(
    server: PageServer,
    files: TokenFiles,
    places: &Places,
    power: Power,
    starter: ScreenStarter,
    mut signals: Signals,
) -> Result<ExitCode, CommandError> {
    let tokens = CurrentTokens::read(files)?;
    let runs = ServedRuns::new(places.clone(), TimeZone::system(), starter);
    let mut signal = None;
    let end = async { signal = Some(signals.next().await) };
    server.serve(runs, tokens, power, end).await;
    // The server ends only when a signal has come.
    Ok(signal.map_or(ExitCode::SUCCESS, exit::of_signal))
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
