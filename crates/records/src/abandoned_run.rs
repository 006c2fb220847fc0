//! Closes a run whose owner is gone: messages that the owner did not write down are taken from the
//! child's own session, and the end is recorded.

use std::fs;
use std::io::{self, Write as _};
use std::time::Duration;

use pi_subagents_files as files;
use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{Ending, Happening, RunEvent, RunId, RunSummary, Timestamp};
use serde_json::json;

use crate::format::{LifeRecord, RunResult, recorded_line};
use crate::index::{self, IndexedRun};
use crate::record_files::read_result;
use crate::recorded_time::RecordedTime;
use crate::recovery::KnownMessages;
use crate::replay;
use crate::run_dir::{self, RunDir};
use crate::run_figures::UsedByRun;
use crate::store::Store;
use crate::{reserve, sticky, transcript};

/// The time for which a process that closes a run waits for another process that closes the same
/// run.
const CLOSING: Duration = Duration::from_secs(2);

/// The time within which an owner that lives writes the line of the index after the result.
const LINE_FOLLOWS: Duration = Duration::from_secs(5);

/// The ending of a run that is closed.
enum End {
    /// The run ended like this, unless its events show another ending.
    Presumed(Ending),
    /// The run ended like this at this time, whatever its events show.
    Known { ending: Ending, at: Timestamp },
}

impl Store {
    /// Records a run whose owner is gone as interrupted; false when somebody else was faster.
    pub fn close_interrupted(&self, run: &IndexedRun) -> io::Result<bool> {
        let is_ours = self.close(
            &run.run,
            &run.directory,
            &End::Presumed(run.without_owner()),
        )?;
        if let Some(session) = run.directory.sticky_file() {
            files::remove_free_lock(&sticky::lock_of(&session));
        }
        Ok(is_ours)
    }

    /// Records a run as stopped whose owner lives and could not be asked; false when the owner was
    /// faster. The owner writes nothing more about the run when it goes on.
    pub fn close_stopped(&self, run: &IndexedRun) -> io::Result<bool> {
        self.close(&run.run, &run.directory, &End::Presumed(Ending::Stopped))
    }

    /// Records the end of a run that a fleet did, with the ending that the fleet reports. Returns
    /// false if another process was faster.
    pub fn close_ended(
        &self,
        run: &RunId,
        directory: &RunDir,
        ending: Ending,
        at: Timestamp,
    ) -> io::Result<bool> {
        self.close(run, directory, &End::Known { ending, at })
    }

    /// Enters the end of a run whose result is on disk and which has no end in the index, although
    /// its owner lives: the line was torn, or a full disk had no room for it. Returns whether the
    /// run has ended.
    pub fn enter_end(&self, run: &IndexedRun) -> io::Result<bool> {
        let written = fs::symlink_metadata(run.directory.result()).and_then(|file| file.modified());
        // The owner writes the result first, and the line of the index right after it.
        let age = written.ok().and_then(|written| written.elapsed().ok());
        if age.is_none_or(|age| age < LINE_FOLLOWS) {
            return Ok(false);
        }
        match read_result(&run.directory) {
            Ok(Some(_)) => self.close_interrupted(run).map(|_| true),
            Ok(None) | Err(_) => Ok(false),
        }
    }

    /// Writes the end of a run and the messages that its events lack, unless another process has.
    fn close(&self, run: &RunId, directory: &RunDir, end: &End) -> io::Result<bool> {
        // Two commands may find the same run at the same moment. The lock makes the second one wait,
        // and it finds the result of the first. If the directory cannot be locked, both may write:
        // `write_once` lets one result win, only its writer adds the missing events, and the worst
        // that is left is a second line in the index with the same end. The owner is no third in
        // this: it is gone, or is suspended and finds the result when it goes on.
        let _alone = files::lock_directory(directory.path(), CLOSING);
        let rest = self.write_end(run, directory, end)?;
        if let Some(rest) = &rest {
            // The result has the ending; perhaps the events could not be written.
            _ = note(directory, rest);
        }
        Ok(rest.is_some())
    }

    /// Writes the result and the line of the index. Returns the events that the record lacks if
    /// this process wrote the result.
    fn write_end(
        &self,
        run: &RunId,
        directory: &RunDir,
        end: &End,
    ) -> io::Result<Option<Vec<RunEvent>>> {
        let at = match end {
            End::Presumed(_) => last_sign(directory),
            End::Known { at, .. } => *at,
        };
        // A result that cannot be read stays as it is, but the index gets the end.
        if let Ok(Some(result)) = read_result(directory) {
            // The owner may have been killed between its last words and the line in the index.
            let end = &result.report;
            if let Some(ending) = end.ending.as_deref()
                && self.is_open_in_index(run)
            {
                let used = UsedByRun::from(end);
                let at = end.ended_at.unwrap_or(at);
                index::append_end(&self.index(), run, ending, at, Some(&used))?;
            }
            return Ok(None);
        }
        let mut summary = RunSummary::default();
        let mut known = KnownMessages::default();
        let read = replay::read_events(directory, |event| {
            summary.apply(event);
            known.add_event(event);
        });
        if summary.task.is_none() {
            // Its directory was removed or cannot be read; at least it does not run any more.
            let (End::Presumed(ending) | End::Known { ending, .. }) = end;
            index::append_end(&self.index(), run, ending, at, None)?;
            return Ok(read.is_err().then(Vec::new));
        }
        let mut rest = match end {
            End::Presumed(_) => known.missing_in(directory, run),
            // The copy of its record is whole, or says what is missing.
            End::Known { .. } => Vec::new(),
        };
        let ending = match end {
            // Or between the end of the run and these words.
            End::Presumed(ending) => summary.ending.clone().unwrap_or_else(|| ending.clone()),
            End::Known { ending, .. } => ending.clone(),
        };
        if summary.ending.as_ref() != Some(&ending) {
            rest.push(ended(run, &ending, at));
        }
        for event in &rest {
            summary.apply(event);
        }
        // The room that the owner kept free is for this.
        reserve::release(directory);
        let Some(result) = RunResult::of(&summary) else {
            return Ok(None);
        };
        let used = UsedByRun::from(&result.report);
        let result = serde_json::to_vec_pretty(&result)?;
        let is_ours = directory.write_once(run_dir::RESULT, &result)?;
        let at = summary.ended_at.unwrap_or(at);
        index::append_end(&self.index(), run, &ending, at, Some(&used))?;
        Ok(is_ours.then_some(rest))
    }

    fn is_open_in_index(&self, run: &RunId) -> bool {
        let open = self.open_runs().unwrap_or_default();
        open.iter().any(|open| open.run == *run)
    }
}

impl RunDir {
    /// Adds a warning to the events of a run that no process writes at the moment.
    pub fn warn(&self, warning: &str) -> io::Result<()> {
        self.add(&LifeRecord::Warned {
            at: format!("{:.3}", Timestamp::now()),
            warning: warning.to_owned(),
        })
    }

    /// Adds the name of the worker that has the run now to its events, which nobody writes at the
    /// moment.
    pub fn place(&self, worker: &str) -> io::Result<()> {
        self.add(&LifeRecord::Placed {
            at: format!("{:.3}", Timestamp::now()),
            worker: worker.to_owned(),
        })
    }

    /// Adds the last words of a child whose own line did not get into the record.
    pub fn add_last_words(&self, words: &str) -> io::Result<()> {
        let content = json!([{"type": "text", "text": words}]);
        let message = json!({"role": "assistant", "content": content, "stopReason": "stop"});
        let line = json!({"type": "message_end", "message": message});
        self.append_event(line.to_string().as_bytes())
    }

    fn add(&self, record: &LifeRecord) -> io::Result<()> {
        self.append_event(&serde_json::to_vec(record)?)
    }

    fn append_event(&self, line: &[u8]) -> io::Result<()> {
        // The last line may be torn, and must not swallow this one.
        let lines = [b"\n", line, b"\n"].concat();
        self.append(run_dir::EVENTS)?.write_all(&lines)
    }
}

/// Returns the time of the last write to the run's files, or now if there are none. It is the end
/// time of a run whose owner died: the owner touches the events every second, and the child writes
/// to its session with every message.
fn last_sign(directory: &RunDir) -> Timestamp {
    let files = [directory.events(), directory.child_session()];
    let signs = files.iter().filter_map(|file| {
        // A link leads to a session that other runs continue, so its time counts for nothing here.
        let file = fs::symlink_metadata(file)
            .ok()
            .filter(fs::Metadata::is_file)?;
        Timestamp::try_from(file.modified().ok()?).ok()
    });
    signs.max().unwrap_or_else(Timestamp::now)
}

fn ended(run: &RunId, ending: &Ending, at: Timestamp) -> RunEvent {
    RunEvent {
        run: run.clone(),
        at,
        happening: Happening::Ended(ending.clone()),
    }
}

/// Appends the missing events to the record, and their messages to the log for people.
fn note(directory: &RunDir, rest: &[RunEvent]) -> io::Result<()> {
    let mut time = RecordedTime::default();
    // A crash may have torn the last line, which must not swallow the next one.
    let mut events = vec![b'\n'];
    let mut log = String::new();
    for event in rest {
        if let Happening::Said { record, .. } = &event.happening {
            if let Some(time) = time.line_before(event.at) {
                events.extend(time);
                events.push(b'\n');
            }
            if let ChildRecord::MessageEnded(message) = record {
                let lines = transcript::lines_for_people(message);
                log.extend(lines.flat_map(|line| [line, "\n".into()]));
            }
        }
        if let Some(line) = recorded_line(event) {
            events.extend_from_slice(&line);
            events.push(b'\n');
        }
    }
    directory.append(run_dir::EVENTS)?.write_all(&events)?;
    if log.is_empty() {
        return Ok(());
    }
    directory
        .append(run_dir::TRANSCRIPT)?
        .write_all(log.as_bytes())
}
