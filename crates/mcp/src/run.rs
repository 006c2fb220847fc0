//! The server from its first word to its exit code.

use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::http::{self, HttpServer, Token};
use crate::no_tools::{NoTools, REASON, is_for_sub_agent};
use crate::notes;
use crate::our_tools::{Options, ServedTools};
use crate::serve::{ServeError, serve as serve_stdio};
use crate::tools::{Introduction, Tools};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::signals::Signals;

/// The instructions for a client's model, about all tools together.
const INSTRUCTIONS: &str = "\
These tools give you a team of sub-agents. Each works in a process of its own with its own context, \
tools and working directory, and several work at once. Delegate what can be described without this \
conversation: pieces of work that need nothing from each other, work of which only the result matters \
to you (reading much code, long logs, a review), or what a definition or another model does better. \
Do short things yourself. A sub-agent sees the prompt and the files you name, nothing else. \
delegate_to_subagents and subagent answer when the work is done, which may take minutes; \
background_agent answers at once. subagent_runs lists what is at work, waits for it, stops and \
steers it. Results come with a session id; keep it, because with it you read the whole answer later \
or continue where that sub-agent ended. When you cancel a call before it is answered, its sub-agents \
are stopped and nothing of them is left running.";

/// The options with which the tools are served.
#[derive(Debug, Clone, Copy)]
pub struct McpOptions {
    /// The number of sub-agents that work at once; `None` leaves it to the settings.
    pub concurrency: Option<usize>,
    /// The time after which a call is answered at the latest.
    pub answer_within: Option<Duration>,
    /// The address to listen on, instead of stdin and stdout.
    pub http: Option<SocketAddr>,
}

/// Serves the tools to a client of this caller, until it leaves or a signal ends this process.
pub fn run(caller: Caller, options: McpOptions) -> Result<ExitCode, CommandError> {
    if is_for_sub_agent(&caller.places) {
        return serve_nothing();
    }
    let settings = Configuration::read_once(&caller.places, caller.trusts_project).settings;
    let concurrency = options.concurrency.unwrap_or(settings.max_concurrency);
    notes::to_a_person(&caller);
    let served = Options {
        concurrency,
        answer_within: options.answer_within,
    };
    block_on(async {
        let mut signals = Signals::listen_to_pause()?;
        let service = Arc::new(CallService::open(&caller.places, concurrency)?);
        let http = match options.http {
            Some(address) => Some(http::open(address, &caller.places).await?),
            None => None,
        };
        let served = Arc::new(ServedTools::new(Arc::clone(&service), caller, served));
        let code = serve(served, http, &service, &mut signals).await;
        // Somebody still holds it only if the client never read its last answer.
        if let Some(service) = Arc::into_inner(service) {
            service.owner.leave().await;
        }
        code
    })
}

/// Serves a sub-agent, which gets no tools; the log of its pi has the reason.
fn serve_nothing() -> Result<ExitCode, CommandError> {
    Printer::for_people().note(REASON);
    block_on(async {
        let mut signals = Signals::listen()?;
        let work = serve_stdio(
            Arc::new(NoTools),
            introduction(REASON),
            Box::pin(std::future::pending()),
        );
        tokio::select! {
            served = work => served.map_err(|error| not_served(&error)).map(|()| ExitCode::SUCCESS),
            number = signals.next() => Ok(exit::of_signal(number)),
        }
    })
}

fn introduction(instructions: &str) -> Introduction {
    Introduction {
        name: "pi-subagents".to_owned(),
        title: "Sub-agents".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: instructions.to_owned(),
    }
}

fn not_served(error: &ServeError) -> CommandError {
    CommandError::failed("could not serve the MCP client")
        .because(error)
        .hint("This command is meant to be started by an MCP client, which talks to it over stdin and stdout.")
}

/// Serves until stdin ends or a signal comes; a second signal ends the runs at once.
async fn serve(
    served: Arc<ServedTools>,
    http: Option<(HttpServer, Token)>,
    service: &CallService,
    signals: &mut Signals,
) -> Result<ExitCode, CommandError> {
    let told_to_end = Arc::new(Notify::new());
    let told = Arc::clone(&told_to_end);
    let tools = Arc::clone(&served) as Arc<dyn Tools>;
    let introduction = introduction(INSTRUCTIONS);
    let told = Box::pin(async move { told.notified().await });
    let mut work: Pin<Box<dyn Future<Output = Result<(), ServeError>>>> = match http {
        None => Box::pin(serve_stdio(tools, introduction, told)),
        Some((http, token)) => Box::pin(async move {
            http.serve(tools, introduction, token, told).await;
            Ok(())
        }),
    };
    let mut code = ExitCode::SUCCESS;
    loop {
        tokio::select! {
            served = &mut work => {
                served.map_err(|error| not_served(&error))?;
                return Ok(code);
            }
            told = signals.told() => if let Some(number) = service.owner.obey(told).await {
                code = exit::of_signal(number);
                served.leave();
                told_to_end.notify_one();
            },
        }
    }
}
