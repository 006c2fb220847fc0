//! The fault suite: builds its programs, and starts it. The suite itself is the program `faults` of
//! the testkit, because it needs more than the standard library.

use crate::Outcome;
use crate::machine::{program, root, target};
use crate::real_pi;
use crate::steps::{self, Step};

/// Builds, then plays as many rounds as the arguments ask for.
pub(crate) fn faults(arguments: &[String]) -> Outcome<()> {
    steps::run(&[Step::build()])?;
    if arguments.iter().any(|argument| argument == "--pi") {
        real_pi::install()?;
    }
    play(arguments)
}

/// Plays the short run that is part of the test command, with the programs that are built already.
/// The rounds are always the same, and a busy machine is no defect.
pub(crate) fn short() -> Outcome<()> {
    let arguments = "--seed 12 --count 25 --at-a-time 2 --hang-limit 60";
    println!("xtask: faults {arguments}");
    let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    play(&arguments)
}

/// Plays rounds with the programs that are built already.
fn play(arguments: &[String]) -> Outcome<()> {
    let status = program(target()?.join("debug/faults"))
        .args(arguments)
        .current_dir(root())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("promises were broken ({status})").into())
    }
}
