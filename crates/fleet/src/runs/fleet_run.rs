//! One run that a fleet does, as its follower knows it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use pi_subagents_fleet_queue::wire::{Ended, RunEntry, SavedSession};
use pi_subagents_fleet_queue::{Again, ChunkFit, FleetError, Knowledge, RecordChunk};
use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::{Ending, EventSink, RunId, RunSummary, Timestamp};
use serde_json::json;
use tracing::{debug, warn};

use super::event_feed::Fed;
use super::given_order::GivenOrder;
use super::record_copy::{CopiedRecord, Missing};
use super::words::{begun_again, given_back, incomplete, not_come, spoilt, unreadable};
use pi_subagents_runs::fleet_outage::{Away, BACK};

/// The time for which the last bytes of a run that has ended may be under way before they are asked
/// for.
const UNDER_WAY: Duration = Duration::from_secs(5);

/// The number of times that they are asked for.
const ASKED: u32 = 6;

/// The number of times that fetching the changes of a run is tried.
const FETCHED: u32 = 3;

/// The number of looks in a row that must find that a run does not go on by itself.
const STUCK: u32 = 2;

/// The time for which a run must seem to be left by everybody before it is ended. A worker comes back
/// within this time after the servers do, also on a busy machine.
const DOUBTED: SignedDuration = SignedDuration::from_secs(20);

/// The note in the record of a run that the fleet has forgotten.
const FORGOTTEN_NOTE: &str = "the fleet has lost this run; its order is given again";

/// The note in the record of a run that nobody does any more and whose order is gone.
const ABANDONED_NOTE: &str =
    "the fleet has lost the order of this run, and no worker does it; its order is given again";

/// Why a run is over that nobody does any more, and whose order nobody has.
const ABANDONED: &str = "its order is gone from the queue of the fleet, and no worker does it";

/// Why a run is over of which neither the fleet nor anybody here has the order.
const UNKNOWN: &str = "the fleet does not know it: whoever gave its order was gone before the fleet \
                       had it, or the fleet has forgotten it";

/// A run of a fleet and the directory for its record.
#[derive(Debug, Clone)]
pub(crate) struct FleetRun {
    pub(crate) run: RunId,
    pub(crate) directory: RunDir,
    /// Its order, if its follower can give it again.
    pub(crate) order: Option<GivenOrder>,
    /// True if somebody on another machine asked for it.
    pub(crate) is_from_elsewhere: bool,
}

/// A run that is followed.
#[derive(Debug)]
pub(super) struct Following {
    pub(super) run: FleetRun,
    record: CopiedRecord,
    fed: Fed,
    entry: Option<RunEntry>,
    /// The entry of the lost worker from which another has taken it without beginning it yet.
    lost: Option<RunEntry>,
    /// The time at which its last bytes came, or were asked for.
    moved: Instant,
    asked: u32,
    /// The number of looks in a row that found that it does not go on by itself.
    stuck: u32,
    /// The number of times that its order was given again.
    given_again: u32,
    /// The number of times that its changes could not be fetched.
    fetched: u32,
    /// Nobody here may read its record.
    is_without_record: bool,
    /// A note for the record, which is written before the next delivery: bytes of the last one may
    /// still come, and a line of ours among them would tear them apart.
    note: Option<&'static str>,
}

/// The progress of copying a run.
#[derive(Debug, PartialEq)]
pub(super) enum Standing {
    /// More may come.
    Open,
    /// These bytes should be asked for.
    Lacks(Vec<Missing>),
    /// It has ended, and nothing more will come.
    Over,
}

/// Whether the worker of a run is asked for missing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// The servers may have the bytes.
    Later,
    /// The worker is asked.
    Now,
    /// It was asked often enough, and the record says so.
    NoMore,
}

/// The way out for a run that does not go on by itself.
#[derive(Debug)]
pub(super) enum WayOut {
    /// Its order is given again.
    Order(GivenOrder, Again),
    /// The fleet knows nothing of it and nobody has its order, so it is over here.
    OverHere,
    /// It is ended in the fleet, over the entry with this revision.
    EndInFleet { revision: u64, ending: Ending },
}

impl Following {
    /// Begins to follow a run; `None` if another process does.
    pub(super) fn begin(run: FleetRun) -> io::Result<Option<Self>> {
        let Some(mut record) = CopiedRecord::open(&run.directory)? else {
            return Ok(None);
        };
        // It is followed over a connection, so the servers are there.
        record.note_away(None)?;
        Ok(Some(Self {
            fed: Fed::new(&run.directory),
            record,
            run,
            entry: None,
            lost: None,
            moved: Instant::now(),
            asked: 0,
            stuck: 0,
            given_again: 0,
            fetched: 0,
            is_without_record: false,
            note: None,
        }))
    }

    /// Takes the state that the fleet has of the run. Returns true if it was not known.
    pub(super) fn take_entry(&mut self, entry: RunEntry) -> bool {
        if self.entry.as_ref() == Some(&entry) || matches!(self.entry, Some(RunEntry::Ended(_))) {
            return false;
        }
        let before = self.lost.take().or_else(|| self.entry.take());
        if entry.n() > self.record.delivery() && !matches!(entry, RunEntry::Released(_)) {
            if is_taken_over(before.as_ref(), &entry) {
                // It may have been taken only to be ended.
                self.lost = before;
            } else {
                let note = begun_again(before.as_ref(), &entry);
                self.begin_delivery(entry.n(), note.as_deref(), Some(entry.worker()));
            }
        }
        debug!(run = %self.run.run, ?entry, "fleet run has changed");
        self.entry = Some(entry);
        self.moved = Instant::now();
        true
    }

    /// Returns whether a chunk is of a delivery that is not known yet.
    pub(super) fn is_news(&self, chunk: &RecordChunk) -> bool {
        chunk.delivery > self.record.delivery()
    }

    /// Takes the bytes of a chunk.
    pub(super) fn take(&mut self, chunk: &RecordChunk) {
        if self.is_news(chunk) {
            // Only who has claimed the run with this number writes its record.
            self.begin_delivery(chunk.delivery, None, None);
        }
        match self.record.take(chunk) {
            Ok(ChunkFit::New(_)) => self.moved = Instant::now(),
            Ok(ChunkFit::Known | ChunkFit::Gap) => {}
            // They are asked for again when the run has ended.
            Err(error) => warn!(run = %self.run.run, %error, "record cannot be copied"),
        }
    }

    /// Notes what the fleet knows of the run. Returns the way out if the run does not go on by itself,
    /// which two looks in a row must find.
    pub(super) fn note_knowledge(&mut self, knowledge: &Knowledge) -> Option<WayOut> {
        self.stuck = match knowledge {
            Knowledge::GoesOn => 0,
            Knowledge::Nothing | Knowledge::Abandoned { .. } | Knowledge::Unreadable { .. } => {
                self.stuck + 1
            }
        };
        if self.stuck < STUCK {
            return None;
        }
        self.stuck = 0;
        let order = self.run.order.clone();
        match (knowledge, order) {
            (Knowledge::GoesOn, _) => None,
            (Knowledge::Nothing, Some(order)) => {
                // A server that lost its disk counts from one again.
                self.entry = None;
                self.begin_delivery(0, Some(FORGOTTEN_NOTE), None);
                Some(WayOut::Order(order, self.again(0)))
            }
            (Knowledge::Nothing, None) => {
                let reason = UNKNOWN.to_owned();
                self.entry = Some(ended_as(&Ending::Lost { reason }));
                Some(WayOut::OverHere)
            }
            (Knowledge::Abandoned { n, .. }, Some(order)) => {
                self.note = Some(ABANDONED_NOTE);
                Some(WayOut::Order(order, self.again(*n)))
            }
            // Its caller may have the order.
            (_, None) if self.run.is_from_elsewhere => None,
            // The servers may have been away until now, and its worker may be on its way back.
            (Knowledge::Abandoned { revision, .. } | Knowledge::Unreadable { revision, .. }, _)
                if !self.is_doubted(*revision) =>
            {
                None
            }
            (Knowledge::Abandoned { revision, .. }, None) => Some(WayOut::EndInFleet {
                revision: *revision,
                ending: Ending::Lost {
                    reason: ABANDONED.to_owned(),
                },
            }),
            (Knowledge::Unreadable { revision, why }, _) => Some(WayOut::EndInFleet {
                revision: *revision,
                ending: Ending::Lost {
                    reason: spoilt(why),
                },
            }),
        }
    }

    /// Notes that nobody seems to do the run whose entry has this revision. Returns whether that was
    /// noted so long ago that a worker would be back by now, by this process or an earlier one.
    fn is_doubted(&mut self, revision: u64) -> bool {
        match self.record.note_doubt(revision, Timestamp::now()) {
            Ok(since) => Timestamp::now().duration_since(since) >= DOUBTED,
            Err(error) => {
                warn!(run = %self.run.run, %error, "doubt about a run is not noted");
                false
            }
        }
    }

    /// Returns the facts for an order that is given once more.
    fn again(&mut self, after: u64) -> Again {
        self.given_again += 1;
        Again {
            attempt: self.given_again,
            after,
        }
    }

    /// Notes that the servers are away or back, and hands on the sentence about it.
    pub(super) fn note_away(&mut self, away: Option<Away>, sinks: &mut [Box<dyn EventSink>]) {
        if let Err(error) = self.record.note_away(away) {
            warn!(run = %self.run.run, %error, "absence of the servers is not noted");
        }
        let words = away.map_or(BACK.to_owned(), |away| away.waiting());
        self.fed.mention(&self.run.run, &words, sinks);
    }

    /// Hands on a sentence for people that is in no record.
    pub(super) fn mention(&self, words: &str, sinks: &mut [Box<dyn EventSink>]) {
        self.fed.mention(&self.run.run, words, sinks);
    }

    /// Hands on that its worker gave it back, if it did. The record says it when another worker
    /// begins, because bytes of the first may still come.
    pub(super) fn mention_release(&self, sinks: &mut [Box<dyn EventSink>]) {
        let Some(RunEntry::Released(released)) = &self.entry else {
            return;
        };
        if !released.left_by.contains_key(&released.worker) {
            let words = given_back(&released.worker);
            self.fed.mention(&self.run.run, &words, sinks);
        }
    }

    /// Follows it no longer, because nobody waits for the servers any more. Its record stays open.
    pub(super) fn leave(mut self, away: Away, sinks: &mut [Box<dyn EventSink>]) -> Arc<RunSummary> {
        if let Err(error) = self.record.note_away(Some(away)) {
            warn!(run = %self.run.run, %error, "absence of the servers is not noted");
        }
        let why = away.given_up(&self.run.run);
        self.fed.leave(&self.run.run, &why, sinks)
    }

    /// Notes that its changes could not be fetched. Returns whether it is worth another try.
    pub(super) fn may_fetch_again(&mut self, is_connected: bool) -> bool {
        // Without a connection it is no fault of the result.
        self.fetched += u32::from(is_connected);
        self.fetched < FETCHED
    }

    /// Returns how far it is.
    pub(super) fn standing(&mut self) -> Standing {
        let Some(RunEntry::Ended(ended)) = &self.entry else {
            return Standing::Open;
        };
        let missing = self.record.missing(&ended.files);
        if missing.is_empty() {
            return Standing::Over;
        }
        if self.is_without_record {
            return Standing::Over;
        }
        if self.moved.elapsed() < UNDER_WAY {
            return Standing::Open;
        }
        self.moved = Instant::now();
        Standing::Lacks(missing)
    }

    /// Notes that these bytes are still missing. Its worker is asked for them a few times once everything
    /// has been read that the servers have.
    pub(super) fn note_missing(&mut self, missing: &[Missing], is_all_read: bool) -> Ask {
        if !is_all_read {
            return Ask::Later;
        }
        self.moved = Instant::now();
        if self.asked < ASKED {
            self.asked += 1;
            return Ask::Now;
        }
        if self.asked == ASKED {
            self.asked += 1;
            let worker = self.ended().map(|ended| ended.worker.clone());
            self.warn(&incomplete(missing, &worker.unwrap_or_default()));
        }
        Ask::NoMore
    }

    /// Notes that its record may not be read here.
    pub(super) fn go_without_record(&mut self, refusal: &FleetError) {
        self.is_without_record = true;
        self.warn(&unreadable(refusal));
    }

    /// Hands on the new events of the record.
    pub(super) fn feed(&mut self, sinks: &mut [Box<dyn EventSink>]) {
        if let Err(error) = self.fed.feed(sinks) {
            warn!(run = %self.run.run, %error, "copied record cannot be read");
        }
    }

    /// Returns the end that the fleet reports.
    pub(super) fn ended(&self) -> Option<&Ended> {
        match &self.entry {
            Some(RunEntry::Ended(ended)) => Some(ended),
            Some(RunEntry::Running(_) | RunEntry::Released(_)) | None => None,
        }
    }

    /// Adds to the record what its worker could not write into it.
    pub(super) fn complete(&self) {
        let Some(ended) = self.ended() else { return };
        if let Some(unsent) = &ended.unsent {
            self.warn(&not_come(&self.run.run, &ended.worker, unsent));
        }
        let Some(unrecorded) = &ended.unrecorded else {
            return;
        };
        for problem in &unrecorded.problems {
            self.warn(&format!("on its worker: {problem}"));
        }
        if let Some(words) = &unrecorded.last_words
            && let Err(error) = self.run.directory.add_last_words(words)
        {
            warn!(run = %self.run.run, %error, "last words are not in the record");
        }
    }

    /// Returns how it ended.
    pub(super) fn ending(&self) -> Ending {
        let ended = self.ended().map(|ended| ended.ending.clone());
        ended
            .and_then(|ending| serde_json::from_value(ending).ok())
            .unwrap_or_else(|| Ending::Lost {
                reason: "its worker did not say how it ended in words that are known here"
                    .to_owned(),
            })
    }

    /// Returns when it ended.
    pub(super) fn ended_at(&self) -> Timestamp {
        let at = self.ended().and_then(|ended| ended.at.as_ref());
        at.and_then(|at| at.parse().ok())
            .unwrap_or_else(Timestamp::now)
    }

    /// Hands on the end and returns the summary.
    pub(super) fn end(self, sinks: &mut [Box<dyn EventSink>]) -> Arc<RunSummary> {
        let ending = self.ending();
        self.fed.end(&self.run.run, &ending, sinks)
    }

    /// Begins to take the bytes of a delivery. Our own lines come before them, because their place
    /// in the file is counted from here on.
    fn begin_delivery(&mut self, delivery: u64, note: Option<&str>, worker: Option<&str>) {
        let earlier = self.note.take();
        for note in earlier.into_iter().chain(note) {
            self.warn(note);
        }
        if let Some(worker) = worker.filter(|name| !name.is_empty())
            && let Err(error) = self.run.directory.place(worker)
        {
            warn!(run = %self.run.run, %error, worker, "worker is not in the record");
        }
        if let Err(error) = self.record.begin(delivery) {
            warn!(run = %self.run.run, %error, "record of a new delivery cannot be begun");
        }
    }

    /// Returns where the conversation is that it continued, if the fleet keeps that.
    pub(super) fn session(&self) -> Option<SavedSession> {
        self.ended()?.session.clone()
    }

    /// Returns the directory here that it was asked to work in.
    pub(super) fn cwd(&self) -> Option<PathBuf> {
        self.fed.cwd()
    }

    /// Adds a note for people to its record.
    pub(super) fn warn(&self, note: &str) {
        if let Err(error) = self.run.directory.warn(note) {
            warn!(run = %self.run.run, %error, note, "note is not in the record");
        }
    }
}

/// Returns whether a run was taken from a lost worker, and is not begun yet.
fn is_taken_over(before: Option<&RunEntry>, now: &RunEntry) -> bool {
    matches!(before, Some(RunEntry::Running(_)))
        && matches!(now, RunEntry::Running(running) if !running.begun)
}

/// Returns the entry of a run that ended so without a record.
fn ended_as(ending: &Ending) -> RunEntry {
    RunEntry::Ended(Box::new(ended_without_worker(ending)))
}

/// Returns the end of a run that no worker has ended.
pub(super) fn ended_without_worker(ending: &Ending) -> Ended {
    Ended {
        status: ending.status().as_str().to_owned(),
        exit_code: ending.exit_code(),
        at: Some(Timestamp::now().to_string()),
        ending: json!(ending),
        ..Ended::default()
    }
}
