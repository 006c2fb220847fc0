//! `mcp`: serves the tools to a client of the Model Context Protocol.

use std::io::{self, IsTerminal as _};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pi_subagents_records::CallerName;

use crate::cli::{ConcurrencyArgs, RunArgs};
use crate::commands::delegate;
use pi_subagents_calls::ToolSet;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::review_tool::ReviewPermission;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::print::Printer;
use pi_subagents_mcp::{AllowedOrigins, McpOptions, patience};
use pi_subagents_vocabulary::Door;

/// The note for a person who typed the command.
const WAITING: &str = "\
Waiting for an MCP client on stdin, as JSON lines. Clients start this command
themselves, for example: claude mcp add pi-subagents -- pi-subagents mcp
Ctrl-D ends it.";

#[derive(Args)]
#[command(
    mut_arg("cwd", |arg| arg.help("Directory in which the sub-agents work [default: the project of the client]")),
    mut_arg("timeout", |arg| arg.help("Time limit per task in seconds, unless the task sets its own. A task whose tools are still active may run longer [default: the timeout of the agent; without one, 600 for delegate_to_subagents, and no limit for the other tools]")),
    mut_arg("trust", |arg| arg.help("Use the agents, settings and skills of the project, for all calls of this client"))
)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    concurrency: ConcurrencyArgs,
    /// Answer each call within this many seconds; runs that have not ended by then continue in the background. 0 means no limit [default: 50 for a client that is not known to wait longer]
    #[arg(long, value_name = "SECONDS", value_parser = patience::parse)]
    answer_within: Option<Duration>,
    /// Tools that the client is offered: one for each purpose, or all that pi has
    #[arg(long, value_enum, default_value_t = OfferedTools::Compact)]
    tools: OfferedTools,
    /// Let the model merge and accept results of its sub-agents into your checkout, discard them, and undo that
    #[arg(long)]
    allow_merge: bool,
    /// Serve over HTTP on this address of this machine instead of stdin and stdout; port 0 picks a free port [default without a value: 127.0.0.1:0]
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<SocketAddr>,
    /// Let in pages of this machine too (localhost and 127.0.0.1 at any port), if they send the token; other pages in a browser are always refused
    #[arg(long, requires = "http")]
    allow_local_origins: bool,
}

/// The tools that a client is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OfferedTools {
    Compact,
    All,
}

pub(crate) fn run(args: &McpArgs) -> Result<ExitCode, CommandError> {
    let caller = Caller {
        door: Door::Mcp,
        name: CallerName::Mcp {
            client: None,
            session: None,
        },
        // The client draws the answer, so the width of our terminal does not matter.
        columns: None,
        ..delegate::caller(&args.run)?
    };
    let options = McpOptions {
        concurrency: args.concurrency.given(),
        answer_within: args.answer_within,
        http: args.http,
        origins: if args.allow_local_origins {
            AllowedOrigins::Local
        } else {
            AllowedOrigins::None
        },
        tools: match args.tools {
            OfferedTools::Compact => ToolSet::Compact,
            OfferedTools::All => ToolSet::All,
        },
        review: if args.allow_merge {
            ReviewPermission::Always
        } else {
            ReviewPermission::Missing
        },
    };
    if options.http.is_none() && io::stdin().is_terminal() {
        Printer::for_people().note(WAITING);
    }
    pi_subagents_mcp::run(caller, options)
}
