//! Writes agent files of other tools, in every form that they have, into a directory: a home for
//! trying things out by hand.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a person runs it and reads what it prints"
)]

use std::path::PathBuf;
use std::process::ExitCode;

use pi_subagents_testkit::agent_files::{agent_files, write_agent_files};

fn main() -> ExitCode {
    let Some(home) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: agent-files DIRECTORY");
        return ExitCode::from(2);
    };
    write_agent_files(&home);
    println!("{} files", agent_files().len());
    ExitCode::SUCCESS
}
