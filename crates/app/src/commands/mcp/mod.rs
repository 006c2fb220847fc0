//! `mcp`: the tools for a client of the Model Context Protocol.

mod answering;
mod extras;
mod http;
mod notes;
mod nothing;
mod patience;
mod resources;
mod served;

use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use pi_subagents_mcp::{HttpServer, Introduction, ServeError, Token, Tools};
use tokio::sync::Notify;

use self::nothing::{NoTools, REASON, is_for_sub_agent};
use self::served::{Options, ServedTools};

use crate::caller::Caller;
use crate::cli::{ConcurrencyArgs, RunArgs};
use crate::commands::{block_on, delegate};
use crate::configuration::Configuration;
use crate::door::Door;
use crate::error::CommandError;
use crate::exit;
use crate::print::Printer;
use crate::signals::Signals;
use crate::toolbox::Toolbox;

/// What a client's model is told about all tools together.
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

#[derive(Args)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    concurrency: ConcurrencyArgs,
    /// Seconds after which a call is answered at the latest; what is not over then goes on in the background. 0 is for as long as it takes [default: what the client is known to wait]
    #[arg(long, value_name = "SECONDS", value_parser = patience::parse)]
    answer_within: Option<Duration>,
    /// Listen on this address of this machine instead of stdin and stdout; port 0 is any that is free [default without a value: 127.0.0.1:0]
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<SocketAddr>,
    #[command(flatten)]
    not_taken: NotTaken,
}

/// What all other commands take. Nothing is printed here: stdout belongs to the client.
#[derive(Args)]
struct NotTaken {
    #[arg(long, hide = true)]
    json: bool,
    #[arg(long, hide = true)]
    json_stream: bool,
    #[arg(long, short, hide = true)]
    quiet: bool,
}

impl NotTaken {
    fn check(&self) -> Result<(), CommandError> {
        let given = [
            ("--json", self.json),
            ("--json-stream", self.json_stream),
            ("--quiet", self.quiet),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(CommandError::usage(format!(
                "mcp takes no {flag}: it speaks to its client and prints nothing else"
            ))),
            None => Ok(()),
        }
    }
}

pub(crate) fn run(args: &McpArgs) -> Result<ExitCode, CommandError> {
    args.not_taken.check()?;
    let caller = Caller {
        door: Door::Mcp,
        // Whoever draws the answer is elsewhere, whatever our stderr is.
        columns: None,
        ..delegate::caller(&args.run)?
    };
    if is_for_sub_agent(&caller.places) {
        return serve_nothing();
    }
    let settings = Configuration::read_once(&caller.places, caller.trusts_project).settings;
    let concurrency = args.concurrency.or(settings.max_concurrency);
    notes::to_a_person(&caller, args.http);
    let options = Options {
        concurrency,
        answer_within: args.answer_within,
    };
    block_on(async {
        let mut signals = Signals::listen_to_pause()?;
        let toolbox = Arc::new(Toolbox::open(&caller.places, concurrency)?);
        let http = match args.http {
            Some(address) => Some(http::open(address, &caller.places).await?),
            None => None,
        };
        let served = Arc::new(ServedTools::new(Arc::clone(&toolbox), caller, options));
        let code = serve(served, http, &toolbox, &mut signals).await;
        // Somebody still holds it only if the client never read its last answer.
        if let Some(toolbox) = Arc::into_inner(toolbox) {
            toolbox.owner.leave().await;
        }
        code
    })
}

/// Serves a sub-agent, which gets no tools; a log of its pi tells why.
fn serve_nothing() -> Result<ExitCode, CommandError> {
    Printer::for_people().note(REASON);
    block_on(async {
        let mut signals = Signals::listen()?;
        let work = pi_subagents_mcp::serve(
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
        name: env!("CARGO_PKG_NAME").to_owned(),
        title: "Sub-agents".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instructions: instructions.to_owned(),
    }
}

fn not_served(error: &ServeError) -> CommandError {
    CommandError::failed("the MCP client cannot be served")
        .because(error)
        .hint("This command is for an MCP client, which speaks to it over stdin and stdout.")
}

/// Serves until stdin ends or a signal comes; a second signal ends the runs at once.
async fn serve(
    served: Arc<ServedTools>,
    http: Option<(HttpServer, Token)>,
    toolbox: &Toolbox,
    signals: &mut Signals,
) -> Result<ExitCode, CommandError> {
    let told_to_end = Arc::new(Notify::new());
    let told = Arc::clone(&told_to_end);
    let tools = Arc::clone(&served) as Arc<dyn Tools>;
    let introduction = introduction(INSTRUCTIONS);
    let told = Box::pin(async move { told.notified().await });
    let mut work: Pin<Box<dyn Future<Output = Result<(), ServeError>>>> = match http {
        None => Box::pin(pi_subagents_mcp::serve(tools, introduction, told)),
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
            told = signals.told() => if let Some(number) = toolbox.owner.obey(told).await {
                code = exit::of_signal(number);
                served.leave();
                told_to_end.notify_one();
            },
        }
    }
}
