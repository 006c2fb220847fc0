//! Follows the runs of a call until all of them are over: copies their records, hands their events
//! on, and writes down their endings.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pi_subagents_fleet_queue::wire::RunEntry;
use pi_subagents_fleet_queue::{
    Absence, Fleet, FleetError, Knowledge, RecordChunk, RecordReader, Turn,
};
use pi_subagents_records::Store;
use pi_subagents_vocabulary::{EventSink, PartialMessage, RunId, RunSummary};
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};
use tracing::warn;

use super::conversation::bring_home;
use super::end_notice::start_end_command;
use super::fleet_run::{Ask, FleetRun, Following, Standing, WayOut, ended_without_worker};
use super::live_words::LiveWords;
use super::record_copy::Missing;
use super::results::{FetchedRun, fetch_changes};
use super::words::no_room;
use super::worker_requests::{WorkerWant, ask_worker};
use pi_subagents_ground::places::Places;
use pi_subagents_runs::fleet_outage::Away;
use pi_subagents_runs::workspace::note_fetched;

/// The pause between two looks at the facts that nobody reports.
const LOOK: Duration = Duration::from_secs(1);

/// The number of looks after which the state of each run is read anew, in case the news of a change
/// was lost.
const READ_ANEW: u32 = 10;

/// The largest number of looks between two questions whether the runs go on by themselves. A fleet
/// with a short lease is asked more often.
const RECONCILE: u32 = 30;

/// The smallest number of looks of somebody who only catches up: two of them show whether the fleet
/// knows of a run at all.
const FIRST_LOOKS: u32 = 2;

/// The pause between two looks of somebody who only catches up, and for whom a command waits.
const SHORT_LOOK: Duration = Duration::from_millis(50);

/// The sentence about servers that had no room, and have some again.
const ROOM_AGAIN: &str = "the store of the fleet has room again";

/// The runs of a call, each until it is over.
struct Runs {
    fleet: Fleet,
    store: Store,
    places: Places,
    sinks: Vec<Box<dyn EventSink>>,
    followed: BTreeMap<RunId, Following>,
    /// The records of the runs, as they come.
    chunks: RecordReader,
    outcomes: BTreeMap<RunId, Arc<RunSummary>>,
    /// The partial messages of the models, if one of the sinks shows them.
    words: Option<LiveWords>,
    /// The servers have answered the last question about their presence.
    is_answered: bool,
    /// The number of looks between two questions whether the runs go on by themselves, once the
    /// lease is known.
    reconcile: Option<u32>,
    /// The servers keep nothing more.
    is_full: bool,
}

/// The condition under which following ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// All runs are over, or the servers have been away for this time.
    Over(Duration),
    /// Nothing more comes at the moment.
    CaughtUp,
}

impl Until {
    /// Returns the pause between two looks.
    fn pause(self) -> Duration {
        match self {
            Self::Over(_) => LOOK,
            Self::CaughtUp => SHORT_LOOK,
        }
    }

    /// Returns how long servers that are away are waited for. Whoever only catches up has a limit of
    /// their own.
    fn patience(self) -> Duration {
        match self {
            Self::Over(patience) => patience,
            Self::CaughtUp => Duration::MAX,
        }
    }
}

/// Follows runs, and returns their summaries in the order of the runs. A run that was not seen to
/// its end has no ending in its summary. A run that another process follows is left out.
pub(crate) async fn follow_until(
    until: Until,
    fleet: Fleet,
    store: Store,
    places: &Places,
    runs: Vec<FleetRun>,
    sinks: Vec<Box<dyn EventSink>>,
) -> Vec<Arc<RunSummary>> {
    let ids: Vec<RunId> = runs.iter().map(|run| run.run.clone()).collect();
    let mut followed = BTreeMap::new();
    for run in runs {
        let (id, directory) = (run.run.clone(), run.directory.clone());
        match Following::begin(run) {
            Ok(Some(following)) => _ = followed.insert(id, following),
            Ok(None) => {}
            Err(error) => {
                let directory = directory.path().display();
                warn!(run = %id, %directory, %error, "run cannot be followed");
            }
        }
    }
    let followed_ids: Vec<RunId> = followed.keys().cloned().collect();
    let is_shown = sinks.iter().any(|sink| sink.wants_partial_messages());
    let mut runs = Runs {
        words: is_shown.then(|| LiveWords::new(&fleet)),
        chunks: RecordReader::start(&fleet, &followed_ids),
        fleet,
        store,
        places: places.clone(),
        sinks,
        followed,
        outcomes: BTreeMap::new(),
        is_answered: true,
        reconcile: None,
        is_full: false,
    };
    runs.go_on(until).await;
    ids.iter()
        .filter_map(|id| runs.outcomes.remove(id))
        .collect()
}

impl Runs {
    async fn go_on(&mut self, until: Until) {
        let ids: Vec<RunId> = self.followed.keys().cloned().collect();
        let mut entries = self.fleet.watch_runs(&ids);
        let mut look = interval(until.pause());
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looks = 0_u32;
        let mut has_news = true;
        let mut absence = Absence::new(until.patience());
        self.feed_all();
        while !self.followed.is_empty() {
            tokio::select! {
                chunk = self.chunks.next() => {
                    has_news = true;
                    match chunk {
                        Ok(chunk) => self.take(&chunk).await,
                        Err(refusal) => self.go_without_records(&refusal).await,
                    }
                }
                entry = entries.next() => {
                    has_news = true;
                    match entry {
                        Ok((run, entry)) => self.take_entry(&run, entry).await,
                        // The looks tell what is heard by nobody.
                        Err(refusal) => warn!(%refusal, "runs cannot be watched"),
                    }
                }
                (run, message) = next_words(&mut self.words) => {
                    for sink in &mut self.sinks {
                        sink.on_partial_message(&run, &message);
                    }
                }
                _ = look.tick() => {
                    looks = looks.wrapping_add(1);
                    let are_there = self.are_servers_there(looks).await;
                    let turn = absence.note(Instant::now(), are_there);
                    if self.turn(turn, &absence) == Some(Turn::GivenUp) {
                        return;
                    }
                    if are_there {
                        self.look_at_all(looks).await;
                    }
                    let is_all_read = self.chunks.is_caught_up() && entries.is_caught_up();
                    if until == Until::CaughtUp && is_all_read && !has_news && looks > FIRST_LOOKS {
                        return;
                    }
                    has_news = false;
                }
            }
        }
    }

    /// Returns whether the servers are there: connected, and with an answer to a question that is
    /// asked now and then. Servers that cannot choose a leader are as good as away.
    async fn are_servers_there(&mut self, looks: u32) -> bool {
        let is_asked = !self.is_answered || looks.is_multiple_of(READ_ANEW);
        if !self.fleet.is_connected() {
            self.is_answered = false;
        } else if let Some(run) = self.followed.keys().next().filter(|_| is_asked) {
            let asked = self.fleet.entry(run).await;
            self.is_answered = !asked.is_err_and(|error| error.is_passing());
        }
        self.is_answered
    }

    /// Acts on a turn of the servers' presence, and returns it.
    fn turn(&mut self, turn: Option<Turn>, absence: &Absence) -> Option<Turn> {
        let away = away_of(absence);
        match (turn, away) {
            (Some(Turn::GivenUp), Some(away)) => {
                for (run, one) in std::mem::take(&mut self.followed) {
                    let summary = one.leave(away, &mut self.sinks);
                    self.outcomes.insert(run, summary);
                }
            }
            (Some(Turn::Away | Turn::Back), _) => {
                for one in self.followed.values_mut() {
                    one.note_away(away, &mut self.sinks);
                }
            }
            (Some(Turn::GivenUp), None) | (None, _) => {}
        }
        turn
    }

    /// Looks at the facts that nobody reports.
    async fn look_at_all(&mut self, looks: u32) {
        self.look(looks.is_multiple_of(READ_ANEW)).await;
        if looks.is_multiple_of(self.looks_between().await) {
            self.look_for_room().await;
            self.reconcile(|_| true).await;
        } else if looks <= FIRST_LOOKS {
            // The process that gave their orders is gone, perhaps before the fleet had them.
            self.reconcile(|one| one.run.order.is_none()).await;
        }
    }

    /// Says once that the servers keep nothing more, and once that they do again: until then nothing of
    /// the runs comes.
    async fn look_for_room(&mut self) {
        // Without an answer nothing is known.
        let Ok(refusal) = self.fleet.refusal_to_keep().await else {
            return;
        };
        if std::mem::replace(&mut self.is_full, refusal.is_some()) == refusal.is_some() {
            return;
        }
        let words = refusal.map_or(ROOM_AGAIN.to_owned(), |why| no_room(&why));
        for one in self.followed.values() {
            one.mention(&words, &mut self.sinks);
        }
    }

    /// Returns the number of looks between two questions whether the runs go on by themselves: half a
    /// lease.
    async fn looks_between(&mut self) -> u32 {
        if self.reconcile.is_none()
            && let Ok(lease) = self.fleet.lease().await
        {
            let half = u32::try_from(lease.as_secs() / 2).unwrap_or(RECONCILE);
            self.reconcile = Some(half.clamp(1, RECONCILE));
        }
        self.reconcile.unwrap_or(RECONCILE)
    }

    fn feed_all(&mut self) {
        for one in self.followed.values_mut() {
            one.feed(&mut self.sinks);
        }
    }

    async fn take(&mut self, chunk: &RecordChunk) {
        let Some(one) = self.followed.get(&chunk.run) else {
            return;
        };
        if one.is_news(chunk) {
            // The state names the worker that began it, and may be on its way.
            self.read_entry(&chunk.run).await;
        }
        if let Some(one) = self.followed.get_mut(&chunk.run) {
            one.take(chunk);
            one.feed(&mut self.sinks);
        }
        self.settle(&chunk.run).await;
    }

    async fn take_entry(&mut self, run: &RunId, entry: RunEntry) {
        if let (Some(words), RunEntry::Running(_)) = (&mut self.words, &entry) {
            words.listen(run);
        }
        if let Some(one) = self.followed.get_mut(run)
            && one.take_entry(entry)
        {
            one.feed(&mut self.sinks);
            one.mention_release(&mut self.sinks);
            self.settle(run).await;
        }
    }

    /// Says in all records that nothing more of them comes, and goes on with how the runs end.
    async fn go_without_records(&mut self, refusal: &FleetError) {
        let ids: Vec<RunId> = self.followed.keys().cloned().collect();
        for run in ids {
            if let Some(one) = self.followed.get_mut(&run) {
                one.go_without_record(refusal);
                one.feed(&mut self.sinks);
            }
            self.settle(&run).await;
        }
    }

    async fn look(&mut self, is_read_anew: bool) {
        let ids: Vec<RunId> = self.followed.keys().cloned().collect();
        for run in ids {
            // Without a connection each of them would wait for its answer in vain.
            if !self.fleet.is_connected() {
                return;
            }
            if is_read_anew {
                self.read_entry(&run).await;
            }
            self.settle(&run).await;
        }
    }

    /// Gives the orders again that the fleet has lost while nobody does their runs. Where nobody has
    /// the order, the run is over.
    async fn reconcile(&mut self, of: impl Fn(&Following) -> bool) {
        let chosen = self.followed.iter().filter(|(_, one)| of(one));
        let ids: Vec<RunId> = chosen.map(|(run, _)| run.clone()).collect();
        for run in ids {
            if !self.fleet.is_connected() {
                return;
            }
            // If the server gives no answer, the run goes on as far as anybody knows.
            let known = self.fleet.look_for_run(&run).await;
            let known = known.unwrap_or(Knowledge::GoesOn);
            let one = self.followed.get_mut(&run);
            match one.and_then(|one| one.note_knowledge(&known)) {
                Some(WayOut::Order(order, again)) => {
                    if let Err(error) = order.give(&self.fleet, &run, Some(again)).await {
                        warn!(%run, %error, "order cannot be given again");
                    }
                }
                Some(WayOut::OverHere) => self.settle(&run).await,
                Some(WayOut::EndInFleet { revision, ending }) => {
                    let ended = ended_without_worker(&ending);
                    match self.fleet.end_over(&run, revision, &ended).await {
                        Ok(_) => self.read_entry(&run).await,
                        Err(error) => warn!(%run, %error, "run cannot be ended"),
                    }
                    self.settle(&run).await;
                }
                None => {}
            }
        }
    }

    async fn read_entry(&mut self, run: &RunId) {
        // An entry that cannot be read now is read with the next look.
        if let Ok(Some(entry)) = self.fleet.entry(run).await
            && let Some(one) = self.followed.get_mut(run)
        {
            one.take_entry(entry.value);
        }
    }

    /// Ends a run that is over, and asks for missing bytes if it may not be.
    async fn settle(&mut self, run: &RunId) {
        match self.followed.get_mut(run).map(Following::standing) {
            Some(Standing::Over) => self.end(run).await,
            Some(Standing::Lacks(missing)) => self.ask_for(run, &missing).await,
            Some(Standing::Open) | None => {}
        }
    }

    /// Asks the worker of a run that has ended for bytes that are missing here. Bytes that the servers
    /// have come by themselves, however slow this machine is.
    async fn ask_for(&mut self, run: &RunId, missing: &[Missing]) {
        let is_all_read = self.chunks.has_read_all(&self.fleet, run).await;
        let Some(one) = self.followed.get_mut(run) else {
            return;
        };
        match one.note_missing(missing, is_all_read) {
            Ask::Later => {}
            Ask::Now => {
                for one in missing {
                    let want = WorkerWant::Resend {
                        file: one.file.clone(),
                        at: one.have,
                    };
                    // A worker that is gone cannot answer, and the record will show that.
                    _ = ask_worker(&self.fleet, run, want).await;
                }
            }
            Ask::NoMore => self.end(run).await,
        }
    }

    async fn end(&mut self, run: &RunId) {
        let Some(mut one) = self.followed.remove(run) else {
            return;
        };
        let fetched = changes_of(&self.fleet, &one).await;
        // Changes of a run that another machine gave are fetched by diff and merge, in a clone of its
        // repository.
        let is_missing = fetched.iter().any(Result::is_err) && !one.run.is_from_elsewhere;
        if is_missing && one.may_fetch_again(self.fleet.is_connected()) {
            // The next look tries it again.
            self.followed.insert(run.clone(), one);
            return;
        }
        if let Some(words) = &mut self.words {
            words.forget(run);
        }
        for Ok(note) | Err(note) in &fetched {
            one.warn(note);
        }
        one.complete();
        if let (Some(saved), Some(cwd)) = (one.session(), one.cwd())
            && let Some(file) = one.run.directory.sticky_file()
            && let Err(why) = bring_home(&self.fleet, &saved, &file, &cwd).await
        {
            one.warn(&format!(
                "what was said is in the fleet only, and could not be fetched: {why}; the next run fetches it"
            ));
        }
        if !one.run.is_from_elsewhere {
            // A command that waits for the end may let this process end as soon as it is recorded.
            start_end_command(&self.places, &one.run.directory);
        }
        let (store, fleet_run) = (self.store.clone(), one.run.clone());
        let (ending, at) = (one.ending(), one.ended_at());
        let closed = spawn_blocking(move || {
            let closed = store.close_ended(&fleet_run.run, &fleet_run.directory, ending, at);
            note_fetched(&fleet_run.directory);
            closed
        });
        match closed.await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => warn!(%run, %error, "the end of a run is not in its record"),
            Err(error) => warn!(%run, %error, "the end of a run is not in its record"),
        }
        let is_from_elsewhere = one.run.is_from_elsewhere;
        self.outcomes.insert(run.clone(), one.end(&mut self.sinks));
        if !is_from_elsewhere {
            // The worker then removes its copy; without the wish it does so later.
            _ = self.fleet.wish_kept(run).await;
        }
    }
}

/// Dates an absence of the servers; `None` while they are there.
pub(super) fn away_of(absence: &Absence) -> Option<Away> {
    let (away, left) = absence.times(Instant::now())?;
    Some(Away::lasting(away, left))
}

/// Fetches what a run has changed.
async fn changes_of(fleet: &Fleet, one: &Following) -> Vec<Result<String, String>> {
    let (Some(ended), Some(cwd)) = (one.ended(), one.cwd()) else {
        return Vec::new();
    };
    let run = &one.run.run;
    let card = if one.run.is_from_elsewhere {
        // Without the card nothing is known of the repository of another machine.
        let card = fleet.card(run).await;
        Some(card.ok().flatten().unwrap_or_default())
    } else {
        None
    };
    let fetched = FetchedRun {
        run,
        directory: &one.run.directory,
        cwd: &cwd,
        card: card.as_ref(),
    };
    fetch_changes(fleet, fetched, ended).await
}

async fn next_words(words: &mut Option<LiveWords>) -> (RunId, PartialMessage) {
    match words {
        Some(words) => words.next().await,
        None => std::future::pending().await,
    }
}
