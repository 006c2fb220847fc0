//! # The commands of the house
//!
//! `cargo xtask test` is the test command, `check` the quick look before a commit, `bench`
//! measures, `faults` breaks things at random, `dist` makes the packages of a release, `models` writes
//! the catalogue of models, `docs` the generated documents, `pictures` those of the README. Only the
//! standard library is used, so that the command is there seconds after a fresh clone.
//!
//! The rules that the sources obey are no command but a test: see `tests/tidy`.

#![expect(
    clippy::disallowed_methods,
    reason = "a developer's command makes and reads files of its own"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to the person at the terminal is what these commands are for"
)]

mod bench;
mod browser;
mod check;
mod command_page;
pub mod dependencies;
mod dist;
pub mod documents;
mod faults;
mod figures;
mod git;
mod hints;
mod machine;
mod mcp_client;
mod mcp_servers;
mod models;
mod nats;
mod neighbours;
mod npm;
mod packages;
mod pictures;
mod process_tree;
mod real_pi;
mod release_build;
pub mod source;
mod steps;
mod typescript;
mod weight;

use std::error::Error;
use std::process::ExitCode;

/// The result of a command that can fail.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [FILTER…]        format, clippy, documentation, build, tidy, real pi, MCP client, NATS,
                        types of the extension, all tests; FILTER goes to cargo test
  check                 format, clippy, documentation, build, tidy; then the longest files and
                        functions and the figures of language, as a hint
  bench [--pi] [--full] [--program FILE] [--beside FILE] [NAME…]
                        build as shipped and measure; --pi installs pi to compare with,
                        --full also starts 1,000 and 5,000 agents at once, --program measures a
                        program that is built already, --beside compares the goals with another
  faults [--seed N] [--count N] [--pi] [--only N]
                        random faults in rounds, and what must hold after each;
                        --pi also with the real pi, --only plays one round again
  faults fleet [--seed N] [--runs N] [--away SECONDS]
                        many runs while workers, followers and servers are killed
  dist [--check] [--program FILE]
                        make everything that a release ships into target/dist/packages;
                        --check installs each into a fresh home and works with it,
                        --program packs a program that is built already
  zig                   fetch the parts of an old glibc with which dist links, out of zig
  order                 write the order of functions in which dist links, counted by valgrind
  roots                 make the file systems of Debian that dist puts under the image of workers
                        and on which dist --check tries the floor of glibc; needs root
  clients               fetch Claude Code, Codex and Gemini CLI, into which dist --check installs
  nats                  fetch the NATS server of the tests into the build directory
  neighbours [NAME…]    install the agents of others that can do the work of runs, drive each on a
                        scripted model, and print what held; builds nothing
  models                write the built-in catalogue of models out of the newest packages of pi
  weight [--dist] [--write]
                        instructions, page faults and bytes of one agent, compared with those in
                        xtask/weight; --dist takes the program as shipped, --write keeps the figures
  docs                  write the generated documents
  pictures              write the pictures of the README";

/// Runs the command that the arguments name.
pub fn run(arguments: &[String]) -> ExitCode {
    if release_build::is_linker() {
        return match release_build::link(arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("xtask as a linker FAILED: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let (command, rest) = match arguments {
        [command, rest @ ..] => (command.as_str(), rest),
        [] => ("help", arguments),
    };
    let outcome = match command {
        "test" => steps::test(rest),
        "check" => check::check(),
        "bench" => bench::Wishes::parse(rest).and_then(bench::bench),
        "faults" => faults::faults(rest),
        "dist" => dist::Wishes::parse(rest).and_then(|wishes| dist::dist(&wishes)),
        "zig" => release_build::install_old_glibc(),
        "order" => release_build::write_order(),
        "roots" => dist::install_roots(),
        "clients" => dist::install_clients(),
        "nats" => nats::install().map(|program| println!("{}", program.display())),
        "neighbours" => neighbours::neighbours(rest),
        "models" => models::write(),
        "weight" => weight::weigh(rest),
        "docs" => documents::write_all(),
        "pictures" => pictures::write_all(),
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
