//! Processes that do less than the agent itself may do.

use std::collections::BTreeMap;
use std::io;

use pi_subagents_confine::INNER_VARIABLE;
use tokio::process::Command;

/// Returns the process of a program. In a sandbox it is our own program, which closes the inner layer
/// around itself and becomes the program.
#[expect(
    clippy::disallowed_methods,
    reason = "shell commands and the servers of a definition are what an agent starts"
)]
pub(crate) fn inner_process(
    program: &str,
    variables: &BTreeMap<String, String>,
) -> io::Result<Command> {
    if !variables.contains_key(INNER_VARIABLE) {
        return Ok(Command::new(program));
    }
    let mut process = Command::new(std::env::current_exe()?);
    process.args(["confine", "--inner", program]);
    Ok(process)
}
