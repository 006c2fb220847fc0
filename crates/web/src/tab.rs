//! Everything that one tab has received, so that it gets only news.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pi_subagents_page::View;
use pi_subagents_records::IndexedRun;
use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::{PartialMessage, RunId, TimeZone, Timestamp};
use serde_json::{Map, Value, json};

use super::context::ContextSizes;
use super::index::{Index, SeenRuns};
use super::open_run::OpenRun;
use super::page_item::TextExtent;
use super::placed_story::PlacedStory;
use super::rows::{listed, row_of};
use super::scope::{Scope, today};
use pi_subagents_ground::places::Places;

/// The number of finished runs that a tab gets by itself; History asks for the others.
const FINISHED: usize = 200;

/// The number of rows that are sent at once, so that the first are on the screen while the others
/// are read.
const AT_ONCE: usize = 40;

/// The approximate number of bytes of the open run's record that are sent at once.
const PIECE: usize = 256 << 10;

/// One tab, and the data that it has received.
pub(super) struct Tab {
    index: Arc<Index>,
    scope: Scope,
    places: Arc<Places>,
    sizes: Arc<ContextSizes>,
    zone: TimeZone,
    /// The runs as they were when the tab was last told about them.
    known: Option<Arc<SeenRuns>>,
    /// True once the tab was told that the runs follow.
    has_begun: bool,
    /// True once it was told that these were all.
    is_whole: bool,
    /// The finished runs that are still to be told, newest first.
    untold: Vec<IndexedRun>,
    /// The finished runs that were sent.
    told: HashMap<RunId, IndexedRun>,
    open: HashMap<RunId, OpenRun>,
    /// The run that is read, with its reader.
    opened: Option<Opened>,
    /// The messages that are still to be sent.
    outbox: Vec<Value>,
}

struct Opened {
    run: RunId,
    from: u64,
    story: Option<PlacedStory>,
    partial: Option<PartialMessage>,
}

impl Opened {
    /// Reads a run from a place on.
    fn of(run: Option<&str>, from: u64) -> Option<Self> {
        Some(Self {
            run: RunId::parse(run?).ok()?,
            from,
            story: None,
            partial: None,
        })
    }
}

impl Tab {
    pub(super) fn new(
        index: Arc<Index>,
        places: Arc<Places>,
        sizes: Arc<ContextSizes>,
        zone: TimeZone,
        view: View,
    ) -> Self {
        Self {
            index,
            scope: Scope::of(view.project),
            places,
            sizes,
            zone,
            known: None,
            untold: Vec::new(),
            has_begun: false,
            is_whole: false,
            told: HashMap::new(),
            open: HashMap::new(),
            opened: Opened::of(view.run.as_deref(), view.from),
            outbox: Vec::new(),
        }
    }

    /// Turns to another view. The runs of another project are sent anew; else only the run that is
    /// read is another one, and everything else goes on.
    pub(super) fn turn_to(&mut self, view: View) {
        if Scope::of(view.project.clone()) == self.scope {
            self.opened = Opened::of(view.run.as_deref(), view.from);
        } else {
            *self = Self::new(
                Arc::clone(&self.index),
                Arc::clone(&self.places),
                Arc::clone(&self.sizes),
                self.zone.clone(),
                view,
            );
        }
    }

    /// Returns the runs under way.
    pub(super) fn open_runs(&self) -> impl Iterator<Item = &IndexedRun> {
        self.open.values().map(|open| &open.run)
    }

    /// Returns whether a run is open in the tab.
    pub(super) fn is_opened(&self, run: &RunId) -> bool {
        self.opened
            .as_ref()
            .is_some_and(|opened| opened.run == *run)
    }

    /// Looks at everything that may have changed, and returns the news for the tab.
    pub(super) fn look(&mut self) -> Vec<String> {
        self.look_at_index();
        // The runs under way come first: a person wants to see them before all others.
        self.look_at_open_runs();
        self.tell_rows();
        self.tell_that_all_is_told();
        if !self.outbox.is_empty() {
            self.tell_sums();
        }
        self.look_at_opened();
        let outbox = std::mem::take(&mut self.outbox);
        outbox.iter().map(Value::to_string).collect()
    }

    /// Returns whether there is more to tell already.
    pub(super) fn has_more(&self) -> bool {
        !self.untold.is_empty()
    }

    /// Takes the partial message of a run's model.
    pub(super) fn take_partial(&mut self, run: &RunId, message: PartialMessage) {
        if let Some(opened) = self.opened.as_mut().filter(|opened| opened.run == *run) {
            opened.partial = Some(message.clone());
        }
        if let Some(open) = self.open.get_mut(run) {
            open.take_partial(message);
        }
    }

    fn look_at_index(&mut self) {
        let known = match self.index.tended() {
            Ok(known) => known,
            Err(error) => {
                self.outbox.push(json!({"problem": error.to_string()}));
                return;
            }
        };
        let before = self.known.replace(Arc::clone(&known));
        if !before.is_some_and(|before| Arc::ptr_eq(&before, &known)) {
            self.take_runs(&known);
        }
    }

    fn take_runs(&mut self, known: &SeenRuns) {
        let runs: Vec<&IndexedRun> = known.of(&self.scope).collect();
        let ids: HashSet<&RunId> = runs.iter().map(|run| &run.run).collect();
        let gone = self.told.keys().chain(self.open.keys());
        let gone: Vec<String> = gone
            .filter(|run| !ids.contains(run))
            .map(ToString::to_string)
            .collect();
        self.told.retain(|run, _| ids.contains(run));
        self.open.retain(|run, _| ids.contains(run));
        for run in runs.iter().filter(|run| run.is_open()) {
            self.told.remove(&run.run);
            let context = self.context();
            self.open
                .entry(run.run.clone())
                .or_insert_with(|| OpenRun::new((*run).clone(), &context));
        }
        let finished = runs.into_iter().rev().filter(|run| !run.is_open());
        let wanted = finished.enumerate().filter(|(number, run)| {
            let is_shown = *number < FINISHED || self.open.contains_key(&run.run);
            is_shown && self.told.get(&run.run) != Some(*run)
        });
        self.untold = wanted.map(|(_, run)| run.clone()).collect();
        if !self.has_begun || !gone.is_empty() {
            let begins = !std::mem::replace(&mut self.has_begun, true);
            self.outbox
                .push(json!({"rows": [], "gone": gone, "begins": begins}));
        }
    }

    /// Tells some of the finished runs that the tab does not know yet.
    fn tell_rows(&mut self) {
        let count = self.untold.len().min(AT_ONCE);
        let mut rows = Vec::new();
        let some: Vec<IndexedRun> = self.untold.drain(..count).collect();
        for run in some {
            if let Some(mut ended) = self.open.remove(&run.run) {
                ended.read();
                self.tell_spans(&run.run, &mut ended);
            }
            rows.push(listed(&run, row_of(&run, None), None));
            self.told.insert(run.run.clone(), run);
        }
        if !rows.is_empty() {
            self.outbox.push(json!({ "rows": rows }));
        }
    }

    /// Tells once that all runs were told. Until then a page that was connected before shows what it
    /// knew.
    fn tell_that_all_is_told(&mut self) {
        if self.has_begun && !self.is_whole && self.untold.is_empty() {
            self.is_whole = true;
            self.outbox.push(json!({"rows": [], "isWhole": true}));
        }
    }

    fn look_at_open_runs(&mut self) {
        let mut rows = Vec::new();
        let mut spans = Map::new();
        for (id, open) in &mut self.open {
            open.read();
            let size = |model: &str| self.sizes.of(model, &self.places);
            rows.extend(open.news(size));
            if let Some(news) = open.span_news() {
                spans.insert(id.to_string(), news);
            }
        }
        if !rows.is_empty() {
            self.outbox.push(json!({ "rows": rows }));
        }
        if !spans.is_empty() {
            self.outbox.push(json!({ "spans": spans }));
        }
    }

    fn tell_spans(&mut self, run: &RunId, open: &mut OpenRun) {
        if let Some(news) = open.span_news() {
            self.outbox.push(json!({"spans": {run.as_str(): news}}));
        }
    }

    /// Tells the sums over all runs of the page, as `status` counts them.
    fn tell_sums(&mut self) {
        let Some(known) = &self.known else {
            return;
        };
        let open = self.open.values().map(OpenRun::counted);
        let begin = today(&self.zone);
        let mut sums = known.sums(&self.scope, begin).with(open, begin);
        sums["now"] = json!(Timestamp::now().as_millisecond());
        self.outbox.push(sums);
    }

    fn look_at_opened(&mut self) {
        let Some(opened) = &mut self.opened else {
            return;
        };
        if opened.story.is_none() {
            let run = self.open.get(&opened.run).map(|open| &open.run);
            let Some(run) = run.or_else(|| self.told.get(&opened.run)) else {
                return;
            };
            let (home, extent) = (&self.places.home, TextExtent::Beginning);
            let story = PlacedStory::at(&run.directory, opened.from, home, extent);
            let Ok(story) = story else {
                return;
            };
            opened.story = Some(story);
        }
        if let Some(story) = &mut opened.story {
            // The page has asked for the task itself.
            drop(story.take_task());
            while let Ok(Some(events)) = story.next(PIECE) {
                let (run, place) = (opened.run.as_str(), story.place());
                self.outbox
                    .push(json!({"run": run, "events": events, "place": place}));
            }
        }
        if let Some(partial) = opened.partial.take() {
            let doing = pi_subagents_view::describe(&partial.activity);
            self.outbox.push(json!({
                "run": opened.run.as_str(),
                "words": pi_subagents_vocabulary::text::clean(&partial.text),
                "number": partial.number,
                "activity": doing,
            }));
        }
    }

    fn context(&self) -> PreviewContext {
        PreviewContext {
            home: Some(self.places.home.clone()),
            ..PreviewContext::default()
        }
    }
}
