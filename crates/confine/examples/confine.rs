//! The hidden command `confine` without the rest of the program: its own tests start this.

use std::ffi::OsString;
use std::process::ExitCode;

use pi_subagents_confine::{confine, confine_inner};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(2).collect();
    match words.split_first() {
        Some((first, shell)) if first == "--inner" => confine_inner(shell),
        Some(_) | None => confine(),
    }
}
