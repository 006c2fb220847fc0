//! The binary: every process of ours begins here.

use std::process::ExitCode;

fn main() -> ExitCode {
    pi_subagents_cli::main()
}
