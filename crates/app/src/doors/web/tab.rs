//! Everything that one tab was told, so that it is told only what is new.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use pi_subagents_delegation::{PartialMessage, RunId, TimeZone, Timestamp};
use pi_subagents_page::View;
use pi_subagents_sessions::{IndexedRun, PlacedReader, Store};
use pi_subagents_windows::PreviewContext;
use serde_json::{Map, Value, json};

use super::open_run::OpenRun;
use super::rows::{listed, row_of};
use super::scope::{Scope, today};
use super::told::{Telling, TextExtent};
use crate::runs::counts::Counts;
use crate::runs::find::status_of;
use crate::runs::owned::current_runs;
use crate::runs::row::{RowTotals, RunRow};

/// How many finished runs a tab is told of; History asks for the others.
const FINISHED: usize = 200;

/// How many finished runs are added up at a time.
const AT_A_TIME: usize = 250;

/// About how much of the open run's record is told at once.
const PIECE: usize = 256 << 10;

/// One tab, and what it was told.
pub(super) struct Tab {
    store: Store,
    scope: Scope,
    home: PathBuf,
    zone: TimeZone,
    /// The index as it was when it was last read.
    index: Option<(u64, Option<SystemTime>)>,
    /// Whether an owner has ended: its end stands in no file until somebody looks.
    has_lost_owner: bool,
    /// The finished runs that were told.
    told: HashMap<RunId, IndexedRun>,
    open: HashMap<RunId, OpenRun>,
    /// The run that is read, with its reader.
    opened: Option<Opened>,
    finished: Option<Finished>,
    /// What is still to be sent.
    outbox: Vec<Value>,
}

struct Opened {
    run: RunId,
    from: u64,
    reader: Option<(PlacedReader, Telling)>,
    partial: Option<PartialMessage>,
}

/// The sums over the finished runs.
struct Finished {
    counts: Vec<pi_subagents_delegation::Status>,
    totals: RowTotals,
    today: RowTotals,
}

impl Finished {
    /// Adds up finished runs, some at a time: after some years there are very many.
    fn of(runs: &[IndexedRun], today: Timestamp) -> Self {
        let nothing = RowTotals::of([].iter());
        let mut sums = Self {
            counts: runs.iter().map(status_of).collect(),
            totals: nothing,
            today: nothing,
        };
        for some in runs.chunks(AT_A_TIME) {
            let rows: Vec<RunRow> = some.iter().map(RunRow::of_index).collect();
            let new = rows.iter().filter(|row| row.accepted_at >= today);
            sums.totals = sums.totals.plus(RowTotals::of(rows.iter()));
            sums.today = sums.today.plus(RowTotals::of(new));
        }
        sums
    }
}

impl Tab {
    pub(super) fn new(store: Store, home: PathBuf, zone: TimeZone, view: View) -> Self {
        let opened = view.run.and_then(|run| RunId::parse(&run).ok());
        Self {
            store,
            scope: Scope::of(view.project),
            home,
            zone,
            index: None,
            has_lost_owner: false,
            told: HashMap::new(),
            open: HashMap::new(),
            opened: opened.map(|run| Opened {
                run,
                from: view.from,
                reader: None,
                partial: None,
            }),
            finished: None,
            outbox: Vec::new(),
        }
    }

    /// Returns the runs under way.
    pub(super) fn open_runs(&self) -> impl Iterator<Item = &IndexedRun> {
        self.open.values().map(|open| &open.run)
    }

    /// Returns whether a run is the one that is read.
    pub(super) fn is_opened(&self, run: &RunId) -> bool {
        self.opened
            .as_ref()
            .is_some_and(|opened| opened.run == *run)
    }

    /// Looks at everything that may have changed, and returns what the tab is to be told.
    pub(super) fn look(&mut self) -> Vec<String> {
        self.look_at_index();
        self.look_at_open_runs();
        self.look_at_opened();
        let outbox = std::mem::take(&mut self.outbox);
        outbox.iter().map(Value::to_string).collect()
    }

    /// Notes that the owner of a run has ended.
    pub(super) fn lose_owner(&mut self) {
        self.has_lost_owner = true;
    }

    /// Takes what the model of a run is writing.
    pub(super) fn take_partial(&mut self, run: &RunId, message: PartialMessage) {
        if let Some(opened) = self.opened.as_mut().filter(|opened| opened.run == *run) {
            opened.partial = Some(message.clone());
        }
        if let Some(open) = self.open.get_mut(run) {
            open.take_partial(message);
        }
    }

    fn look_at_index(&mut self) {
        let index = fs::metadata(self.store.index()).ok();
        let index = index.map(|index| (index.len(), index.modified().ok()));
        let is_first = self.finished.is_none();
        let has_lost_owner = std::mem::take(&mut self.has_lost_owner);
        if index == self.index && !has_lost_owner && !is_first {
            return;
        }
        let runs = match current_runs(&self.store) {
            Ok(runs) => runs,
            Err(error) => {
                self.outbox.push(json!({"problem": error.to_string()}));
                return;
            }
        };
        self.index = index;
        self.take_runs(runs.into_iter().filter(|run| self.scope.has(run)).collect());
    }

    fn take_runs(&mut self, runs: Vec<IndexedRun>) {
        let is_first = self.finished.is_none();
        let known: HashSet<&RunId> = runs.iter().map(|run| &run.run).collect();
        let gone = self.told.keys().chain(self.open.keys());
        let gone: Vec<String> = gone
            .filter(|run| !known.contains(run))
            .map(ToString::to_string)
            .collect();
        self.told.retain(|run, _| known.contains(run));
        self.open.retain(|run, _| known.contains(run));
        let (open, finished): (Vec<_>, Vec<_>) = runs.into_iter().partition(IndexedRun::is_open);
        let today = today(&self.zone);
        self.finished = Some(Finished::of(&finished, today));
        let mut told = Vec::new();
        for run in finished.into_iter().rev().take(FINISHED) {
            if self.told.get(&run.run) == Some(&run) {
                continue;
            }
            if let Some(mut ended) = self.open.remove(&run.run) {
                ended.read();
                self.tell_spans(&run.run, &mut ended);
            }
            told.push(listed(&run, row_of(&run, None), None));
            self.told.insert(run.run.clone(), run);
        }
        for run in open {
            self.told.remove(&run.run);
            let context = self.context();
            self.open
                .entry(run.run.clone())
                .or_insert_with(|| OpenRun::new(run, &context));
        }
        if is_first || !told.is_empty() || !gone.is_empty() {
            self.outbox
                .push(json!({"rows": told, "gone": gone, "whole": is_first}));
        }
    }

    fn look_at_open_runs(&mut self) {
        let mut rows = Vec::new();
        let mut spans = Map::new();
        for (id, open) in &mut self.open {
            open.read();
            rows.extend(open.news());
            if let Some(news) = open.span_news() {
                spans.insert(id.to_string(), news);
            }
        }
        let is_news = !rows.is_empty() || !self.outbox.is_empty();
        if !rows.is_empty() {
            self.outbox.push(json!({ "rows": rows }));
        }
        if !spans.is_empty() {
            self.outbox.push(json!({ "spans": spans }));
        }
        if is_news {
            self.tell_sums();
        }
    }

    fn tell_spans(&mut self, run: &RunId, open: &mut OpenRun) {
        if let Some(news) = open.span_news() {
            self.outbox.push(json!({"spans": {run.as_str(): news}}));
        }
    }

    /// Tells the sums over all runs of the page, as `status` counts them.
    fn tell_sums(&mut self) {
        let Some(finished) = &self.finished else {
            return;
        };
        let open: Vec<RunRow> = self.open.values().map(OpenRun::row).collect();
        let states = open.iter().map(|row| row.status);
        let counts = Counts::of(states.chain(finished.counts.iter().copied()));
        let begin = today(&self.zone);
        let new = open.iter().filter(|row| row.accepted_at >= begin);
        self.outbox.push(json!({
            "counts": counts.json_with_queued(),
            "totals": finished.totals.plus(RowTotals::of(open.iter())),
            "today": finished.today.plus(RowTotals::of(new)),
            "now": Timestamp::now().as_millisecond(),
        }));
    }

    fn look_at_opened(&mut self) {
        let Some(opened) = &mut self.opened else {
            return;
        };
        if opened.reader.is_none() {
            let run = self.open.get(&opened.run).map(|open| &open.run);
            let Some(run) = run.or_else(|| self.told.get(&opened.run)) else {
                return;
            };
            let Ok(reader) = PlacedReader::at(&run.directory, opened.from) else {
                return;
            };
            let cwd = match &reader.accepted().happening {
                pi_subagents_delegation::Happening::Accepted(task) => task.cwd.clone(),
                _ => PathBuf::new(),
            };
            let is_later = opened.from > 0;
            let telling = Telling::new(self.home.clone(), cwd, is_later, TextExtent::Beginning);
            opened.reader = Some((reader, telling));
        }
        if let Some((reader, telling)) = &mut opened.reader {
            while let Ok(found) = reader.next(PIECE) {
                if found.is_empty() {
                    break;
                }
                let events: Vec<Value> = found.iter().flat_map(|one| telling.tell(one)).collect();
                let place = reader.place();
                let run = opened.run.as_str();
                self.outbox
                    .push(json!({"run": run, "events": events, "place": place}));
            }
        }
        if let Some(partial) = opened.partial.take() {
            let doing = pi_subagents_windows::describe(&partial.activity);
            self.outbox.push(json!({
                "run": opened.run.as_str(),
                "words": pi_subagents_delegation::text::clean(&partial.text),
                "number": partial.number,
                "activity": doing,
            }));
        }
    }

    fn context(&self) -> PreviewContext {
        PreviewContext {
            home: Some(self.home.clone()),
            ..PreviewContext::default()
        }
    }
}
