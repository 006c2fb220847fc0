//! Starts the detached process of a background run and hands the order over.

use pi_subagents_vocabulary::{Advice, QuestionId};
use std::process::Stdio;
use std::time::Duration;

use pi_subagents_engine::KnownChildren;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::order::{DetachedOrder, GO_ON, LATER, PLACES, Reply, TakenOver};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::own_commands::{DETACHED, process};
use pi_subagents_ground::places::Places;

/// Returns when the detached process has taken over, or has refused.
///
/// The process is no stranger to an owner that calls this, and it is reaped if it ends before its
/// caller.
pub async fn start(
    order: &DetachedOrder,
    places: &Places,
    known_children: &KnownChildren,
) -> Result<TakenOver, CommandError> {
    let replied = timeout(TAKING_OVER, async {
        let mut process = DetachedProcess::start(order, places, known_children).await?;
        // Not to the end of its stdout: a process that keeps the other side open must not keep us.
        process.reply().await
    });
    match replied.await.map_err(|_| silent())?? {
        Some(Reply::TakenOver(taken)) => Ok(*taken),
        Some(Reply::Refused(error)) => Err(error),
        Some(Reply::Begun(_) | Reply::Progress(_) | Reply::Asked(_) | Reply::Answered(_))
        | None => Err(ended_early()),
    }
}

/// The time that a detached process may take until it has taken over. It waits at most some seconds
/// for a lock, and a machine may be slow.
const TAKING_OVER: Duration = Duration::from_mins(1);

fn silent() -> CommandError {
    CommandError::failed(format!(
        "the background process did not take over within {} s",
        TAKING_OVER.as_secs()
    ))
    .advise(
        "",
        Advice::ListRuns,
        ": the run may have started after all.",
    )
}

/// A detached process that has its order.
pub(super) struct DetachedProcess {
    stdin: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
}

impl DetachedProcess {
    pub(super) async fn start(
        order: &DetachedOrder,
        places: &Places,
        known_children: &KnownChildren,
    ) -> Result<Self, CommandError> {
        let mut line = serde_json::to_vec(order).map_err(|error| failed(&error))?;
        line.push(b'\n');
        let mut command = Command::from(process(places, DETACHED));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut started = known_children
            .start(&mut command)
            .map_err(|error| failed(&error))?;
        let pipes = started.stdin.take().zip(started.stdout.take());
        reap(started, known_children.clone());
        let (mut stdin, stdout) = pipes.ok_or_else(ended_early)?;
        // If it is gone already, its answer is missing too.
        _ = stdin.write_all(&line).await;
        Ok(Self {
            stdin,
            replies: BufReader::new(stdout).lines(),
        })
    }

    /// Returns its next reply, or `None` if nothing more comes. Nothing is lost if this is not
    /// waited for to its end.
    pub(super) async fn reply(&mut self) -> Result<Option<Reply>, CommandError> {
        let line = self.replies.next_line().await;
        let line = line.map_err(|error| failed(&error))?;
        line.map(|line| serde_json::from_str(&line).map_err(|error| failed(&error)))
            .transpose()
    }

    /// Asks for an early end of its call.
    pub(super) async fn stop(&mut self) {
        // A process that is gone has ended already.
        _ = self.stdin.write_all(b"stop\n").await;
    }

    /// Lets its call go on without anybody who waits for it.
    pub(super) async fn go_on(&mut self) {
        // A process that is gone has ended already.
        _ = self.stdin.write_all(format!("{GO_ON}\n").as_bytes()).await;
    }

    /// Leaves a question to others than the person at the door.
    pub(super) async fn put_aside(&mut self, question: &QuestionId) {
        let line = format!("{LATER}{question}\n");
        // A process that is gone has ended already.
        _ = self.stdin.write_all(line.as_bytes()).await;
    }

    /// Lets this many of its runs work at once.
    pub(super) async fn give_places(&mut self, number: usize) {
        let line = format!("{PLACES}{number}\n");
        // A process that is gone has ended already.
        _ = self.stdin.write_all(line.as_bytes()).await;
    }
}

fn failed(error: &dyn std::error::Error) -> CommandError {
    CommandError::failed("could not start the background process").because(error)
}

pub(super) fn ended_early() -> CommandError {
    CommandError::failed("the background process ended before it took over")
}

/// Waits for a process that was started like this, in case it ends before this one.
pub fn reap(mut process: Child, known_children: KnownChildren) {
    tokio::spawn(async move {
        let pid = process.id();
        // The record of its run has the reason for the exit.
        _ = process.wait().await;
        if let Some(pid) = pid {
            known_children.ended(pid);
        }
    });
}
