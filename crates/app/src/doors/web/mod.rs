//! `web`: all runs of this user on a page in the browser.
//!
//! The page and its protocol are in the crate `page`; here are the answers to its questions, from
//! the same rows, finder and follower as `status` and `attach`. See `docs/design/web.md`.

mod browser;
pub(crate) mod export;
mod follow;
mod open_run;
mod redact;
mod rows;
mod scope;
mod secrets;
mod served;
mod tab;
mod texts;
mod told;
mod usage;

use std::process::ExitCode;
use std::sync::Arc;

use pi_subagents_delegation::TimeZone;
use pi_subagents_page::{PageServer, Power};
use tokio::sync::Notify;

pub(crate) use self::browser::can_open;
use self::secrets::Secrets;
use self::served::ServedRuns;
use crate::attach::Starter;
use crate::error::CommandError;
use crate::exit;
use crate::places::Places;
use crate::print::Printer;
use crate::runs::page_address::PageAddress;
use crate::signals::Signals;

/// The port that is tried first, so that a page that is open finds the server again.
const USUAL_PORT: u16 = 41733;

/// How the page is served.
pub(crate) struct WebOptions {
    /// The port; the usual one, or any if that is taken, without one.
    pub(crate) port: Option<u16>,
    pub(crate) power: Power,
    /// Whether the browser is opened.
    pub(crate) opens: bool,
    /// The part of the address that says what the page shows first.
    pub(crate) view: String,
}

/// Serves the page until a signal ends this process. If it is served already, tells where.
pub(crate) async fn run(
    places: Places,
    options: WebOptions,
    starter: Arc<dyn Starter>,
) -> Result<ExitCode, CommandError> {
    let secrets = Secrets::read(&places)?;
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
    let mut signals = Signals::listen()?;
    let server = listen(options.port).await?;
    let address = PageAddress::own(server.port(), options.power);
    address.write(&places).map_err(|error| {
        CommandError::failed("could not write down the address of the page").because(&error)
    })?;
    printer.data(&url(address.port));
    printer.note("Open this address in a browser on this machine. Whoever has it can do what you can do here.\nCtrl-C ends the page and stops no run.");
    if options.opens
        && let Err(error) = browser::open(&url(address.port), &places)
    {
        printer.note(&format!("! {}", error.sentence()));
    }
    let runs = ServedRuns::new(places.clone(), TimeZone::system(), starter);
    let told = Arc::new(Notify::new());
    let end = Arc::clone(&told);
    let serving = server.serve(
        Arc::new(runs),
        secrets.tokens(),
        options.power,
        Box::pin(async move { end.notified().await }),
    );
    let signalled = async {
        let signal = signals.next().await;
        told.notify_one();
        signal
    };
    let (signal, ()) = tokio::join!(signalled, serving);
    address.forget(&places);
    Ok(exit::of_signal(signal))
}

/// Returns whether a page that is served already does what is asked for.
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
