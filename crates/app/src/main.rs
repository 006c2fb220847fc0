//! The binary; everything is in the library of the same name.

use std::process::ExitCode;

fn main() -> ExitCode {
    pi_subagents::main()
}
