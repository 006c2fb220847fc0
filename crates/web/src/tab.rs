//! Everything that one tab has received, so that it gets only news.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pi_subagents_records::{IndexedRun, RunDir};
use pi_subagents_vocabulary::{RunId, TimeZone, Timestamp};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;

use crate::board::{Board, BoardState};
use crate::index::SeenRuns;
use crate::item_log::ItemPiece;
use crate::open_run::OpenRun;
use crate::page_item::TextExtent;
use crate::placed_story::PlacedStory;
use crate::scope::{Scope, today};
use crate::streams::View;
use pi_subagents_runs::json_list::JsonList;

/// The number of finished runs that a tab gets by itself, beside those that wait for a person; the
/// page asks for the others.
const FINISHED: usize = 200;

/// The number of rows that are sent at once, so that the first are on the screen while the others
/// are read.
const AT_ONCE: usize = 40;

/// About how much of a record is read at a time by a tab that has missed something.
const PIECE: usize = 256 << 10;

/// Sends the changes to a tab, which may turn to another view, until the tab is closed or hidden.
/// `free` bounds the number of tabs that are looked after at once.
pub(crate) async fn follow(
    mut tab: Tab,
    mut view: watch::Receiver<View>,
    free: Arc<Semaphore>,
    send: mpsc::Sender<String>,
) {
    let mut versions = tab.board.versions();
    loop {
        versions.mark_unchanged();
        let place = Arc::clone(&free).acquire_owned().await;
        let looked = spawn_blocking(move || {
            let pieces = tab.look();
            drop(place);
            (tab, pieces)
        });
        let Ok((looked, pieces)) = looked.await else {
            return;
        };
        tab = looked;
        for piece in pieces {
            if send.send(piece).await.is_err() {
                return;
            }
        }
        if tab.has_more() {
            continue;
        }
        tokio::select! {
            () = send.closed() => return,
            Ok(()) = view.changed() => tab.turn_to(&view.borrow_and_update().clone()),
            Ok(()) = versions.changed() => {}
        }
    }
}

/// One tab, and the data that it has received.
pub(crate) struct Tab {
    board: Arc<Board>,
    scope: Scope,
    zone: TimeZone,
    /// The version of the board that the tab has seen.
    seen: u64,
    /// The runs as they were when the tab was last told about them.
    known: Option<Arc<SeenRuns>>,
    /// The number of results that were merged or discarded before the tab looked.
    results: u64,
    has_begun: bool,
    /// True once the tab knows that it has got all rows.
    is_whole: bool,
    /// True once the rows that wait for a person are among those to be sent.
    has_waiting: bool,
    /// The number of runs that wait for a person, once it was counted.
    waiting: Option<usize>,
    /// The finished runs that are still to be sent, newest first.
    unsent: Vec<IndexedRun>,
    /// The runs that were sent, the finished ones with the number of their row.
    sent: HashMap<RunId, Option<u64>>,
    opened: Option<Opened>,
}

/// The run that the tab reads.
struct Opened {
    run: RunId,
    /// The place behind what the tab has read.
    place: u64,
    /// True once the tab has all lines before those that the board keeps.
    has_caught_up: bool,
}

impl Tab {
    pub(crate) fn new(board: Arc<Board>, zone: TimeZone, view: &View) -> Self {
        board.enter();
        let mut tab = Self {
            board,
            scope: Scope::of(view.project.clone()),
            zone,
            seen: 0,
            known: None,
            results: 0,
            has_begun: false,
            is_whole: false,
            has_waiting: false,
            waiting: None,
            unsent: Vec::new(),
            sent: HashMap::new(),
            opened: None,
        };
        tab.open(view);
        tab
    }

    /// Turns to another view. The runs of another project are sent anew; else only the run that is
    /// read is another one, and everything else goes on.
    fn turn_to(&mut self, view: &View) {
        if Scope::of(view.project.clone()) == self.scope {
            self.open(view);
        } else {
            *self = Self::new(Arc::clone(&self.board), self.zone.clone(), view);
        }
    }

    fn open(&mut self, view: &View) {
        let run = view.run.as_deref().and_then(|run| RunId::parse(run).ok());
        if let Some(run) = &run {
            self.board.begin_reading(run);
        }
        self.close();
        self.opened = run.map(|run| Opened {
            run,
            place: view.from,
            has_caught_up: false,
        });
    }

    fn close(&mut self) {
        if let Some(opened) = self.opened.take() {
            self.board.end_reading(&opened.run);
        }
    }

    /// Returns whether there is more to send already.
    fn has_more(&self) -> bool {
        !self.unsent.is_empty() || (self.has_begun && !self.is_whole)
    }

    /// Returns the news for the tab.
    fn look(&mut self) -> Vec<String> {
        let mut pieces = Vec::new();
        let board = Arc::clone(&self.board);
        let state = board.state();
        let Some(known) = state.known.clone() else {
            pieces.extend(problem_since(&state, self.seen));
            return pieces;
        };
        pieces.extend(self.gone(&known));
        // Open runs come first: a person wants to see them before all others.
        pieces.extend(self.open_rows(&state));
        pieces.extend(spans_since(&state, self.seen));
        let is_changed = !self.is_same(&known) || state.results != self.results;
        let results = state.results;
        let due = self.due_items(&state);
        let mut behind: Vec<String> = self.words(&state).into_iter().collect();
        behind.extend(problem_since(&state, self.seen));
        let is_news = !pieces.is_empty() || is_changed || self.has_more();
        let sums = is_news.then(|| self.sums(&known, &state));
        let seen = state.version;
        drop(state);
        if is_changed {
            self.results = results;
            self.choose_rows(&known);
            self.known = Some(Arc::clone(&known));
        }
        pieces.extend(self.finished_rows());
        pieces.extend(self.send_whole(&known));
        if let Some(mut sums) = sums {
            sums["waiting"] = json!(self.waiting);
            pieces.push(sums.to_string());
        }
        if let Some(due) = due {
            pieces.extend(self.items(due));
        }
        pieces.extend(behind);
        self.seen = seen;
        pieces
    }

    /// Adds up all runs that the tab shows, as `status` counts them.
    fn sums(&self, known: &SeenRuns, state: &BoardState) -> Value {
        let begin = today(&self.zone);
        let open = state.open.values().map(OpenRun::counted);
        let mut sums = known.sums(&self.scope, begin).with(open, begin);
        sums["now"] = json!(Timestamp::now().as_millisecond());
        sums
    }

    fn is_same(&self, known: &Arc<SeenRuns>) -> bool {
        let is_same = |old: &Arc<SeenRuns>| Arc::ptr_eq(old, known);
        self.known.as_ref().is_some_and(is_same)
    }

    /// Says that the rows follow, and which runs are gone.
    fn gone(&mut self, known: &Arc<SeenRuns>) -> Option<String> {
        if self.is_same(known) {
            return None;
        }
        let ids: HashSet<&RunId> = known.of(&self.scope).map(|run| &run.run).collect();
        let gone: Vec<RunId> = self.sent.keys().cloned().collect();
        let gone: Vec<String> = gone
            .iter()
            .filter(|run| !ids.contains(run))
            .map(ToString::to_string)
            .collect();
        self.sent.retain(|run, _| ids.contains(run));
        let begins = !std::mem::replace(&mut self.has_begun, true);
        let is_news = begins || !gone.is_empty();
        is_news.then(|| json!({"rows": [], "gone": gone, "begins": begins}).to_string())
    }

    /// Returns the rows of open runs that are new or have changed.
    fn open_rows(&mut self, state: &BoardState) -> Option<String> {
        let mut rows = Vec::new();
        for (id, run) in &state.open {
            let is_known = self.sent.insert(id.clone(), None).is_some();
            let row = if is_known {
                run.row_since(self.seen)
            } else {
                Some(run.row())
            };
            rows.extend(row.map(|row| &**row));
        }
        (!rows.is_empty()).then(|| format!(r#"{{"rows":[{}]}}"#, rows.join(",")))
    }

    /// Chooses the finished runs that the tab does not have as they are now.
    fn choose_rows(&mut self, known: &SeenRuns) {
        let waiting: HashSet<&RunId> = if self.has_waiting {
            self.find_waiting(known).into_iter().collect()
        } else {
            HashSet::new()
        };
        let finished = known.of(&self.scope).rev().filter(|run| !run.is_open());
        let wanted = finished.enumerate().filter(|(number, run)| {
            let is_shown = *number < FINISHED || waiting.contains(&run.run);
            match self.sent.get(&run.run) {
                // It was open when it was sent.
                Some(None) => true,
                Some(Some(row)) => self.board.finished.row(run).number != *row,
                None => is_shown,
            }
        });
        self.unsent = wanted.map(|(_, run)| run.clone()).collect();
    }

    /// Finds the runs that wait for a person, and counts them.
    fn find_waiting<'a>(&mut self, known: &'a SeenRuns) -> Vec<&'a RunId> {
        let scope = self.scope.clone();
        let waiting = self.board.finished.waiting(known.of(&scope));
        let waiting: Vec<&RunId> = waiting.into_iter().map(|run| &run.run).collect();
        self.waiting = Some(waiting.len());
        waiting
    }

    /// Returns some of the finished runs that the tab does not have yet.
    fn finished_rows(&mut self) -> Option<String> {
        let count = self.unsent.len().min(AT_ONCE);
        let mut rows = JsonList::new();
        for run in self.unsent.drain(..count) {
            let row = self.board.finished.row(&run);
            rows.add(&row.row);
            self.sent.insert(run.run, Some(row.number));
        }
        (rows.count() > 0).then(|| format!(r#"{{"rows":{}}}"#, rows.finish()))
    }

    /// Says once that all rows were sent. Until then a page that was connected before shows what it
    /// knew. The runs that wait for a person are looked for when the newest are on the screen.
    fn send_whole(&mut self, known: &SeenRuns) -> Option<String> {
        if self.is_whole || !self.unsent.is_empty() {
            return None;
        }
        if !std::mem::replace(&mut self.has_waiting, true) {
            self.choose_rows(known);
            if !self.unsent.is_empty() {
                return None;
            }
        }
        self.is_whole = true;
        Some(json!({"rows": [], "isWhole": true}).to_string())
    }

    /// Returns what is new of the run that is read, as far as the board knows it.
    fn due_items(&self, state: &BoardState) -> Option<DueItems> {
        let opened = self.opened.as_ref()?;
        let followed = state.followed(&opened.run);
        if let Some((run, log)) = followed.and_then(|run| Some((run, run.items()?))) {
            return Some(DueItems {
                directory: run.run.directory.clone(),
                end: log.begin(),
                pieces: log.since(opened.place),
            });
        }
        // The items of a run that was opened just now are kept from the next look on.
        if opened.has_caught_up || state.open.contains_key(&opened.run) {
            return None;
        }
        let known = state.known.as_ref()?;
        let run = known.runs.iter().rev().find(|run| run.run == opened.run)?;
        Some(DueItems {
            directory: run.directory.clone(),
            end: u64::MAX,
            pieces: Vec::new(),
        })
    }

    /// Returns the new items of the run that is read. Lines that the board does not keep any more are
    /// read from the record.
    fn items(&mut self, due: DueItems) -> Vec<String> {
        let Some(opened) = &mut self.opened else {
            return Vec::new();
        };
        let mut pieces = Vec::new();
        if opened.place < due.end && !(opened.has_caught_up && due.end == u64::MAX) {
            pieces.extend(catch_up(opened, &due, &self.board));
        }
        opened.has_caught_up = true;
        let place = opened.place;
        for piece in due.pieces.into_iter().filter(|piece| piece.end > place) {
            opened.place = piece.end;
            pieces.push(events(&opened.run, &piece.items, piece.end));
        }
        pieces
    }

    /// Returns what the model of the run that is read is writing.
    fn words(&self, state: &BoardState) -> Option<String> {
        let opened = self.opened.as_ref()?;
        let words = state.open.get(&opened.run)?.words_since(self.seen)?;
        Some(words.to_string())
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        self.close();
        self.board.leave();
    }
}

/// What is new of the run that a tab reads.
struct DueItems {
    directory: RunDir,
    /// The place up to which the record itself is read.
    end: u64,
    /// The items behind that place.
    pieces: Vec<ItemPiece>,
}

/// Reads the lines between those that a tab has and those that the board keeps.
fn catch_up(opened: &mut Opened, due: &DueItems, board: &Board) -> Vec<String> {
    let mut pieces = Vec::new();
    let (home, extent) = (&board.places.home, TextExtent::Beginning);
    let Ok(mut story) = PlacedStory::at(&due.directory, opened.place, home, extent) else {
        return pieces;
    };
    // The page has asked for the task itself.
    drop(story.take_task());
    while story.place() < due.end {
        let room = usize::try_from(due.end - story.place()).unwrap_or(PIECE);
        let Ok(Some(found)) = story.next(room.min(PIECE), |_| {}) else {
            break;
        };
        let mut items = JsonList::new();
        items.extend(found);
        opened.place = story.place();
        pieces.push(events(&opened.run, &items.finish(), opened.place));
    }
    pieces
}

fn events(run: &RunId, items: &str, place: u64) -> String {
    format!(
        r#"{{"run":{},"events":{items},"place":{place}}}"#,
        json!(run.as_str())
    )
}

fn spans_since(state: &BoardState, seen: u64) -> Option<String> {
    let runs = state.open.values().chain(&state.ended);
    let spans = runs.filter_map(|run| Some((run.run.run.to_string(), run.spans_since(seen)?)));
    let spans: Map<String, Value> = spans.collect();
    (!spans.is_empty()).then(|| json!({ "spans": spans }).to_string())
}

fn problem_since(state: &BoardState, seen: u64) -> Option<String> {
    let (_, problem) = state
        .problem
        .as_ref()
        .filter(|(version, _)| *version > seen)?;
    Some(json!({ "problem": problem }).to_string())
}
