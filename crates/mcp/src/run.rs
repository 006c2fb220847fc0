//! The server from its first word to its exit code.

use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::http::{self, AllowedOrigins, HttpServer};
use crate::no_tools::{NoTools, REASON, is_for_sub_agent};
use crate::notes;
use crate::our_tools::{Options, ServedTools};
use crate::serve::{ServeError, serve as serve_stdio};
use crate::tools::{Introduction, Tools};
use pi_subagents_calls::ToolSet;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::review_tool::ReviewPermission;
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::exit;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::signals::Signals;
use pi_subagents_loopback::Token;
use pi_subagents_vocabulary::Door;

/// The instructions for a client's model, about all tools together.
const INSTRUCTIONS: &str = "\
A team of sub-agents. delegate_to_subagents gives them tasks, one or many, and answers when the work is \
done, or at once with background; if your client would give up on a long call, the answer comes before \
and names the runs. subagent_runs waits for runs, reads their answers and transcripts, stops and steers \
them. Delegate independent work of which only the result matters to you (reading much code, a review, a \
long test), or what another agent or model does better; do short things and your next step yourself. \
Sub-agents edit files and run commands without asking. Results come with a session id: resume continues \
where that sub-agent ended. When you cancel a call before it is answered, its sub-agents are stopped.";

/// The options with which the tools are served.
#[derive(Debug, Clone)]
pub struct McpOptions {
    /// The number of sub-agents that work at once; `None` leaves it to the settings.
    pub concurrency: Option<usize>,
    /// The time after which a call is answered at the latest.
    pub answer_within: Option<Duration>,
    /// The address to listen on, instead of stdin and stdout.
    pub http: Option<SocketAddr>,
    /// The pages in a browser that may use the server over HTTP.
    pub origins: AllowedOrigins,
    /// The tools that clients are offered.
    pub tools: ToolSet,
    /// Whether models may accept, discard and undo in a review.
    pub review: ReviewPermission,
}

/// Serves the tools to a client of this caller, until it leaves or a signal ends this process.
pub fn run(caller: Caller, options: McpOptions) -> Result<ExitCode, CommandError> {
    if is_for_sub_agent(&caller.places) {
        return serve_nothing();
    }
    let settings = Configuration::read_once(&caller.places, caller.trusts_project).settings;
    let concurrency = options
        .concurrency
        .unwrap_or(settings.concurrency(Door::Mcp));
    notes::to_a_person(&caller);
    let served = Options {
        concurrency,
        answer_within: options.answer_within,
        max_background: settings.max_background,
        tools: options.tools,
        review: options.review,
    };
    block_on(async {
        let mut signals = Signals::listen_to_pause()?;
        let service = Arc::new(CallService::open(&caller.places, concurrency)?);
        let http = match options.http {
            Some(address) => Some(http::open(address, options.origins, &caller.places).await?),
            None => None,
        };
        let served = Arc::new(ServedTools::new(Arc::clone(&service), caller, served));
        let code = serve(served, http, &service, &mut signals).await;
        service.stop_left().await;
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
            told = signals.next_signal() => if let Some(number) = service.owner.obey(told).await {
                code = exit::of_signal(number);
                served.leave();
                told_to_end.notify_one();
            },
        }
    }
}
