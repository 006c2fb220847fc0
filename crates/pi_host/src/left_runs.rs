//! Runs of a pi that was killed: nobody could give its session their endings, so the pi that opens
//! the session again gets them.

use std::collections::HashSet;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_records::{RecordedRun, RunDir, read_events};
use pi_subagents_vocabulary::{RunEvent, RunId, RunSummary};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

use super::link::{HostLink, Level};
use super::results::note_result;
use pi_subagents_runs::entries::{BeginEntry, ENTRY_TYPE, EndEntry, EntryMessages};
use pi_subagents_runs::owner_process::is_alive;
use pi_subagents_runs::session_runs::{SessionRuns, StartedSession};
use pi_subagents_runs::workspace::{Workspace, settle};

/// The time that the host of the killed pi may take to end its runs.
const PATIENCE: Duration = Duration::from_secs(3);

/// The pause between two looks whether they are over.
const INTERVAL: Duration = Duration::from_millis(100);

/// The runs of a session that have begun, and of whose end it does not know.
pub(super) struct LeftRuns {
    pi_session: String,
    runs: Vec<(RunId, RunDir)>,
}

impl LeftRuns {
    /// Finds them among the entries of a session, except those that were reported before.
    pub(super) fn of(session: &StartedSession<'_>, told: &mut HashSet<RunId>) -> Self {
        let entries = session.entries.iter();
        let over: HashSet<RunId> = entries
            .clone()
            .filter_map(EndEntry::read)
            .filter_map(|entry| entry.run())
            .collect();
        let begun = entries.filter_map(BeginEntry::read);
        let runs = begun
            .filter_map(|begun| Some((begun.run()?, begun.directory())))
            .filter(|(run, directory)| !over.contains(run) && !is_ours(directory))
            .filter(|(run, _)| told.insert(run.clone()))
            .collect();
        Self {
            pi_session: session.id.to_owned(),
            runs,
        }
    }

    /// Waits until they are over, gives pi's session their entries, and notifies the person.
    pub(super) async fn report_ends(self, session_runs: Arc<SessionRuns>, link: HostLink) {
        let mut told = Vec::new();
        for (run, directory) in self.runs {
            let Some(entry) = entry_of(directory.clone()).await else {
                continue;
            };
            told.push(format!("{}: {}", entry.name(), entry.outcome()));
            let data = entry.to_json();
            session_runs.ended(&run, &Arc::new(entry));
            link.append_entry(&self.pi_session, ENTRY_TYPE, &data);
            let workspace = settled(directory, run.clone()).await;
            note_result(&link, &self.pi_session, run.as_str(), workspace.as_ref());
        }
        if !told.is_empty() {
            let message = format!(
                "pi ended while sub-agents were running.\n{}\n/subagents lists them with their ids; a task can resume their sessions.",
                told.join("\n")
            );
            link.notify(&message, Level::Warning);
        }
    }
}

/// Keeps what a run has left in its worktree, if it has one.
async fn settled(directory: RunDir, run: RunId) -> Option<Workspace> {
    let settled = spawn_blocking(move || settle(directory.path(), &run));
    settled.await.ok()?
}

/// Returns whether a run belongs to this process, which will report its end itself.
fn is_ours(directory: &RunDir) -> bool {
    let record = RecordedRun::read(directory);
    record.is_ok_and(|record| {
        record.owner.pid == process::id() && is_alive(&record.owner, record.accepted_at)
    })
}

/// Reads the entry of a finished run; `None` if its owner still works on it, or if its record is
/// gone.
async fn entry_of(directory: RunDir) -> Option<EndEntry> {
    let begun = Instant::now();
    loop {
        let place = directory.clone();
        let looked = spawn_blocking(move || {
            let record = RecordedRun::read(&place).ok()?;
            let is_over = record.end.is_some() || !is_alive(&record.owner, record.accepted_at);
            Some(is_over.then(|| read_entry(&place)))
        });
        match looked.await.ok()?? {
            Some(entry) => return entry,
            None if begun.elapsed() > PATIENCE => return None,
            None => sleep(INTERVAL).await,
        }
    }
}

fn read_entry(directory: &RunDir) -> Option<EndEntry> {
    let mut summary = RunSummary::default();
    let mut messages = EntryMessages::default();
    let add = |event: &RunEvent| {
        summary.apply(event);
        messages.add(event, &summary);
    };
    read_events(directory, add).ok()?;
    messages.into_entry(&summary)
}
