//! # The commands of the house
//!
//! `cargo xtask test` is the test command, `check` the quick look before a commit, `bench`
//! measures, `docs` writes the generated documents. Only the standard library is used, so that
//! the command is there seconds after a fresh clone.
//!
//! The rules that the sources obey are no command but a test: see `tests/tidy`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to the person at the terminal is what these commands are for"
)]

mod bench;
mod check;
pub mod documents;
mod hints;
mod machine;
mod npm;
mod real_pi;
pub mod source;
mod steps;
mod typescript;

use std::error::Error;
use std::process::ExitCode;

/// What a command that can fail gives back.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [FILTER…]        format, clippy, build, tidy, types, all tests; FILTER goes to cargo test
  check                 format, clippy, build, tidy; then the longest files and functions, as a hint
  bench [--pi] [--full] build for release and measure; --pi installs pi to compare with,
                        --full also starts 1,000 agents at once
  docs                  write the generated documents";

/// Runs the command that the arguments name.
pub fn run(arguments: &[String]) -> ExitCode {
    let (command, rest) = match arguments {
        [command, rest @ ..] => (command.as_str(), rest),
        [] => ("help", arguments),
    };
    let outcome = match command {
        "test" => steps::test(rest),
        "check" => check::check(),
        "bench" => bench::Wishes::parse(rest).and_then(bench::bench),
        "docs" => documents::write_all(),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => Err(format!("there is no command {other}\n\n{USAGE}").into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {command} FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}
