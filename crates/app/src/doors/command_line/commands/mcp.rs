//! `mcp`: the tools for a client of the Model Context Protocol.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::calls::caller::Caller;
use crate::calls::next_steps::Door;
use crate::doors::command_line::cli::{ConcurrencyArgs, RunArgs};
use crate::doors::command_line::commands::delegate;
use crate::doors::mcp::{self, McpOptions, patience};
use crate::error::CommandError;

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
    let options = McpOptions {
        concurrency: args.concurrency.given(),
        answer_within: args.answer_within,
        http: args.http,
    };
    mcp::run(caller, options)
}
