//! Starts the detached process of a background run and hands the order over.

use std::process::Stdio;

use pi_subagents_engine::{MARKS, OwnChildren};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use super::order::{Order, Reply, TakenOver};
use crate::commands::detached;
use crate::error::CommandError;
use crate::places::Places;

/// Returns when the detached process has taken over, or has said why it does not.
///
/// It is no stranger to an owner that calls this, and it is reaped if it ends before its caller.
pub(crate) async fn start(
    order: &Order,
    places: &Places,
    own_children: &OwnChildren,
) -> Result<TakenOver, CommandError> {
    let failed =
        |error: &dyn std::error::Error| CommandError::failed("no detached process").because(error);
    let line = serde_json::to_vec(order).map_err(|error| failed(&error))?;
    let mut command = command(places);
    let mut process = own_children
        .start(|| command.spawn())
        .map_err(|error| failed(&error))?;
    let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
    reap(process, own_children.clone());
    if let Some(mut stdin) = stdin {
        // If it is gone already, its answer is missing too.
        _ = stdin.write_all(&line).await;
    }
    let mut answer = Vec::new();
    if let Some(stdout) = stdout {
        // Not to its end: whatever keeps the other side open must not keep us.
        BufReader::new(stdout)
            .read_until(b'\n', &mut answer)
            .await
            .map_err(|error| failed(&error))?;
    }
    if answer.is_empty() {
        return Err(CommandError::failed(
            "the detached process ended before it had taken over",
        ));
    }
    match serde_json::from_slice(&answer).map_err(|error| failed(&error))? {
        Reply::TakenOver(taken) => Ok(taken),
        Reply::Refused(error) => Err(error),
    }
}

/// It sees what its caller saw, but is of no run: nobody who ends a run may take it for a part.
#[expect(
    clippy::disallowed_methods,
    reason = "the detached process is an owner and no sub-agent"
)]
fn command(places: &Places) -> Command {
    let mut command = Command::new(&places.program);
    let variables = places
        .variables
        .iter()
        .filter(|(name, _)| MARKS.iter().all(|mark| name.as_os_str() != *mark));
    command
        .arg(detached::NAME)
        .current_dir(&places.cwd)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

fn reap(mut process: Child, own_children: OwnChildren) {
    tokio::spawn(async move {
        let pid = process.id();
        // How it exits is in the record of its run.
        _ = process.wait().await;
        if let Some(pid) = pid {
            own_children.ended(pid);
        }
    });
}
