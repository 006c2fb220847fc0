//! Runs the command of the user's settings when a background run has ended.
//!
//! The command gets the run as JSON on stdin. It has a few seconds, and none of its processes stays
//! behind. The run is over and recorded before, whatever the command does.

use std::io::{self, Write as _};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use pi_subagents_engine::KnownChildren;
use pi_subagents_files::append_own;
use pi_subagents_os::{Processes as _, System};
use pi_subagents_records::{RecordedRun, RunDir};
use pi_subagents_vocabulary::text::clean;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use tracing::info;

use crate::user_variables::user_variables;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::{Envelope, EnvelopeKind};
use pi_subagents_runs::row::RunRow;

/// The time that the command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time that whoever has seen the end of a run may take to record it.
const RECORDED: Duration = Duration::from_mins(1);

/// The pause between two looks whether it is recorded.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The time for which its streams may stay open after its end.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The number of bytes of each output stream that are kept.
const MOST_KEPT: usize = 16 << 10;

/// Runs the command in a process that is there for nothing else, once the end of the run is recorded.
pub async fn run_alone(places: &Places, directory: &RunDir) {
    let recorded = async {
        while !directory.result().exists() {
            sleep(LOOK_AGAIN).await;
        }
    };
    if timeout(RECORDED, recorded).await.is_err() {
        return;
    }
    // Where nobody adopts them, the processes that the command leaves behind go on.
    _ = System::adopt_orphans();
    run(places, directory, &KnownChildren::kill_unknown()).await;
}

/// Runs the command, if there is one, and if nobody has run it for this run. The settings are read
/// now: the run may have taken days.
pub(super) async fn run(places: &Places, directory: &RunDir, known_children: &KnownChildren) {
    let settings = Configuration::read_once(places, false).settings;
    let Some(words) = settings.on_end else {
        return;
    };
    let Ok(record) = RecordedRun::read(directory) else {
        return;
    };
    if record.end.is_none() {
        // It was not seen to its end.
        return;
    }
    // A log that cannot be made keeps nobody from being told.
    if !directory.claim_on_end().unwrap_or(true) {
        return;
    }
    let row = Envelope::new(EnvelopeKind::Run, RunRow::of_record(&record));
    let row = serde_json::to_vec(&row).unwrap_or_default();
    let done = run_command(places, &words, row, known_children).await;
    info!(run = %record.task.run, outcome = done.outcome, "onEnd was run");
    done.write_down(directory);
}

/// The outcome of the command.
struct Done {
    outcome: String,
    printed: Vec<u8>,
}

async fn run_command(
    places: &Places,
    words: &[String],
    row: Vec<u8>,
    known_children: &KnownChildren,
) -> Done {
    let started = known_children.start(&mut command(places, words));
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            return Done {
                outcome: format!("it could not be started: {error}"),
                printed: Vec::new(),
            };
        }
    };
    let pid = child.id();
    let printed = [
        tokio::spawn(beginning_of(child.stdout.take())),
        tokio::spawn(beginning_of(child.stderr.take())),
    ];
    let ended = timeout(PATIENCE, give_and_wait(&mut child, row)).await;
    let outcome = match ended {
        Ok(Ok(status)) => status.to_string(),
        Ok(Err(error)) => format!("it could not be waited for: {error}"),
        Err(_) => format!("it was killed after {} s", PATIENCE.as_secs()),
    };
    // It may have ended by itself.
    _ = child.kill().await;
    if let Some(pid) = pid {
        known_children.ended(pid);
    }
    // Processes that the command left behind have become children of ours and hold the streams open.
    known_children.end_unknown();
    let mut all = Vec::new();
    for printed in printed {
        let printed = timeout(LAST_WORDS, printed).await;
        all.extend(printed.ok().and_then(Result::ok).unwrap_or_default());
    }
    Done {
        outcome,
        printed: all,
    }
}

/// Gives the command the run, and waits for its end.
async fn give_and_wait(child: &mut Child, row: Vec<u8>) -> io::Result<ExitStatus> {
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not want it closes the pipe.
        _ = stdin.write_all(&row).await;
    }
    child.wait().await
}

/// Reads a stream to its end, and returns its beginning.
async fn beginning_of(stream: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut beginning = Vec::new();
    let mut buffer = [0; 4096];
    let Some(mut stream) = stream else {
        return beginning;
    };
    while let Ok(read @ 1..) = stream.read(&mut buffer).await {
        let room = MOST_KEPT.saturating_sub(beginning.len());
        beginning.extend_from_slice(&buffer[..read.min(room)]);
    }
    beginning
}

/// Makes the command of the user. It has the variables of the user's shells, without the keys of
/// models and without the marks of runs. It begins in the home directory: a name in it must not be
/// looked up in a project.
#[expect(
    clippy::disallowed_methods,
    reason = "the user's own settings name this command"
)]
fn command(places: &Places, words: &[String]) -> Command {
    let (program, arguments) = words
        .split_first()
        .map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&places.home)
        .env_clear()
        .envs(user_variables(places))
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

impl Done {
    /// Writes the output and the end of the command into the directory of the run, because nobody
    /// sees its streams.
    fn write_down(&self, directory: &RunDir) {
        let mut text = clean(&String::from_utf8_lossy(&self.printed));
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        // A log that cannot be written changes nothing for the run.
        _ = append_own(&directory.on_end_log())
            .and_then(|mut log| writeln!(log, "{text}onEnd: {}", self.outcome));
    }
}
