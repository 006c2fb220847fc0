//! A child that speaks pi's `--mode rpc` protocol and misbehaves by script.
//!
//! Put it in the place of pi (`PI_SUBAGENTS_PI=…/misbehave`). The script is the prompt: the
//! `message` of a `prompt` command is a JSON array of steps, each an object with one key.
//! [`step::Step`] lists them. A prompt that holds no script is answered with `echo: <prompt>`.
//!
//! ```text
//! $ misbehave --mode rpc
//! {"type":"prompt","message":"[{\"say\":\"hello\"},{\"exit\":3}]"}
//! ```
//!
//! - `MISBEHAVE_AT_START` holds a script that is played before any command is read.
//! - `MISBEHAVE_NEXT` names a file with a JSON array of scripts. A prompt that holds no script
//!   takes the first one out of it, also in a process that is started later.
//! - `MISBEHAVE_VERSION` replaces the version that `--version` prints.
//! - `abort`, `steer` and the end of stdin are noticed at the steps that wait (`hang`, `sleepMs`,
//!   `waitForFile`, `askUser`) and after the script, so that what a script prints never depends
//!   on timing.
//! - A script that cannot be read ends the process with exit code 64 and a text on stderr.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]

mod bulk;
mod dump;
mod garbage;
mod grandchild;
mod inbox;
mod output;
mod player;
mod record;
mod script;
mod serve;
mod session;
mod shell;
mod signals;
mod step;
mod turn;

use std::env;
use std::process::ExitCode;

use crate::player::Player;

/// The exit code for a script or a command line that makes no sense.
const EXIT_USAGE: u8 = 64;

fn main() -> ExitCode {
    // Taken before anything is opened here, so that only inherited descriptors are listed.
    let descriptors = dump::open_descriptors();
    let arguments: Vec<String> = env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    match arguments.first().map(String::as_str) {
        Some(grandchild::FLAG) => grandchild::live(&arguments[1..]),
        Some("--version") => {
            output::line(variable("MISBEHAVE_VERSION").as_deref().unwrap_or("0.87.1"));
            ExitCode::SUCCESS
        }
        _ if is_rpc(&arguments) => serve::serve(
            Player::new(arguments, descriptors),
            variable("MISBEHAVE_AT_START").as_deref(),
        ),
        _ => {
            output::stderr("Error: misbehave speaks --mode rpc only\n");
            ExitCode::FAILURE
        }
    }
}

fn is_rpc(arguments: &[String]) -> bool {
    arguments
        .windows(2)
        .any(|pair| pair[0] == "--mode" && pair[1] == "rpc")
}

#[expect(
    clippy::disallowed_methods,
    reason = "stands in for a foreign program, whose environment is its own business"
)]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}
