//! Reads what a short command prints, within a limit of time and of size.

use std::io;
use std::process::Output;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::timeout;

use crate::orphans;
use crate::processes::ShellTree;

/// The largest number of bytes that a command may print; a key or a token has far fewer.
const LONGEST_OUTPUT: u64 = 64_000;

/// The reason why the output of a command was not read to its end; the command is the subject.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Overrun {
    #[error("could not be run: {0}")]
    Io(#[from] io::Error),
    #[error("took longer than {} seconds", .0.as_secs())]
    TooSlow(Duration),
    #[error("printed more than {} kB", LONGEST_OUTPUT / 1000)]
    TooLong,
}

/// Runs a command and returns the text of its pipes. A command that takes too long or prints too
/// much is killed.
pub(super) async fn output_of(process: &mut Command, time: Duration) -> Result<Output, Overrun> {
    process.kill_on_drop(true);
    let _at_work = ShellTree::enter(String::new());
    let (mut child, _awaited) = orphans::start(process)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let ended = async {
        let (stdout, stderr) = tokio::try_join!(read(stdout), read(stderr))?;
        let status = child.wait().await?;
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    };
    let ended = timeout(time, ended).await;
    ended.unwrap_or(Err(Overrun::TooSlow(time)))
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Overrun> {
    let mut bytes = Vec::new();
    let Some(pipe) = pipe else {
        return Ok(bytes);
    };
    // One byte more than the limit shows that it is passed.
    let mut pipe = pipe.take(LONGEST_OUTPUT + 1);
    let length = pipe.read_to_end(&mut bytes).await?;
    if u64::try_from(length).is_ok_and(|length| length <= LONGEST_OUTPUT) {
        Ok(bytes)
    } else {
        Err(Overrun::TooLong)
    }
}
