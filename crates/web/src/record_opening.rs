//! Opens the record of a run for a tab: its end first, and then its beginning in pieces. One reader
//! decodes each line once, and feeds both the items that the tab shows and the spans of its lane.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pi_subagents_records::{IndexedRun, RecordError};
use pi_subagents_runs::json_list::JsonList;
use pi_subagents_runs::spans::{Spans, TimeSpan};
use pi_subagents_view::PreviewContext;
use pi_subagents_vocabulary::{RunEvent, RunId};
use serde_json::{Value, json};

use crate::page_item::TextExtent;
use crate::placed_story::PlacedStory;
use crate::thin_spans::ThinSpans;

/// The number of bytes at the end of a record that a tab reads first, and the number that it reads
/// at once after that: little enough that a browser reads it within a frame.
const LAST_PIECE: u64 = 96 << 10;
const PIECE: u64 = 384 << 10;

/// The number of bytes of a record that are held as events at once.
const STEP: u64 = 32 << 10;

/// About how many spans of a lane are sent.
const MOST_SPANS: usize = 1500;

/// The number of records that are read at once from their beginning. A tab that comes too late
/// reads its record anew.
const MOST_OPENINGS: usize = 8;

/// The records that tabs are reading.
#[derive(Default)]
pub(crate) struct Openings(Mutex<VecDeque<Opening>>);

/// A record whose end was read, and whose beginning is read now.
struct Opening {
    run: RunId,
    story: PlacedStory,
    lane: Lane,
    /// The place where the end begins that was read first.
    begin: u64,
    /// The events of that end, which are behind all others.
    end: Vec<RunEvent>,
}

/// The spans of a run, as far as it was read.
struct Lane {
    spans: Spans,
    thin: ThinSpans,
}

impl Openings {
    /// Returns items of a run as JSON, with the places before and behind them: from a place on, or
    /// near the end. The spans of a finished run come with the last of its items.
    pub(crate) fn read(
        &self,
        run: &IndexedRun,
        from: Option<u64>,
        home: &Path,
    ) -> Result<String, RecordError> {
        match from {
            None => self.read_end(run, home),
            Some(from) => match self.take(&run.run, from) {
                Some(opening) => self.read_on(opening),
                None => read_from(run, from, home),
            },
        }
    }

    /// Reads the end of a record, however long its last line is.
    fn read_end(&self, run: &IndexedRun, home: &Path) -> Result<String, RecordError> {
        let mut story = PlacedStory::before_end(&run.directory, LAST_PIECE, home)?;
        let begin = story.place();
        let mut items = JsonList::new();
        items.extend(story.take_task());
        if begin == 0 {
            let mut lane = Lane::new(home);
            lane.add(story.accepted());
            while let Some(found) = story.next(step(STEP), |event| lane.add(event))? {
                items.extend(found);
            }
            let spans = (!run.is_open()).then(|| lane.finish());
            return Ok(written(begin, story.place(), items, spans));
        }
        let mut end = Vec::new();
        while let Some(found) = story.next(step(STEP), |event| end.push(event.clone()))? {
            items.extend(found);
        }
        self.keep(run, begin, end, home)?;
        Ok(written(begin, story.place(), items, None))
    }

    /// Keeps the end of a record until its beginning was read. The lane of a run that has not ended
    /// comes with the stream of the tab.
    fn keep(
        &self,
        run: &IndexedRun,
        begin: u64,
        end: Vec<RunEvent>,
        home: &Path,
    ) -> Result<(), RecordError> {
        if run.is_open() {
            return Ok(());
        }
        let mut lane = Lane::new(home);
        let story = PlacedStory::at(&run.directory, 0, home, TextExtent::Beginning)?;
        lane.add(story.accepted());
        self.put(Opening {
            run: run.run.clone(),
            story,
            lane,
            begin,
            end,
        });
        Ok(())
    }

    /// Reads the next piece of a beginning.
    fn read_on(&self, mut opening: Opening) -> Result<String, RecordError> {
        let place = opening.story.place();
        let mut items = JsonList::new();
        items.extend(opening.story.take_task());
        let last = opening.begin.min(place + PIECE);
        while opening.story.place() < last {
            let bytes = step((opening.begin - opening.story.place()).min(STEP));
            let lane = &mut opening.lane;
            let Some(found) = opening.story.next(bytes, |event| lane.add(event))? else {
                break;
            };
            items.extend(found);
        }
        let next = opening.story.place();
        if next > place && next < opening.begin {
            self.put(opening);
            return Ok(written(place, next, items, None));
        }
        opening.end.iter().for_each(|event| opening.lane.add(event));
        Ok(written(place, next, items, Some(opening.lane.finish())))
    }

    fn put(&self, opening: Opening) {
        let mut openings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        openings.retain(|old| old.run != opening.run);
        openings.push_back(opening);
        if openings.len() > MOST_OPENINGS {
            openings.pop_front();
        }
    }

    /// Takes the opening of a run that has come to a place.
    fn take(&self, run: &RunId, place: u64) -> Option<Opening> {
        let mut openings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |one: &Opening| one.run == *run && one.story.place() == place;
        let number = openings.iter().position(is_meant)?;
        openings.remove(number)
    }
}

/// Reads a piece of a record whose end nobody has read before.
fn read_from(run: &IndexedRun, from: u64, home: &Path) -> Result<String, RecordError> {
    let mut story = PlacedStory::at(&run.directory, from, home, TextExtent::Beginning)?;
    let begin = story.place();
    let mut items = JsonList::new();
    items.extend(story.take_task());
    while story.place() - begin < PIECE {
        let Some(found) = story.next(step(STEP), |_| {})? else {
            break;
        };
        items.extend(found);
    }
    Ok(written(begin, story.place(), items, None))
}

fn step(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn written(begin: u64, next: u64, items: JsonList, spans: Option<Value>) -> String {
    let items = items.finish();
    let spans = spans.map_or(String::new(), |spans| format!(r#","spans":{spans}"#));
    format!(r#"{{"begin":{begin},"next":{next},"events":{items}{spans}}}"#)
}

impl Lane {
    fn new(home: &Path) -> Self {
        let spans = Spans::new(PreviewContext {
            home: Some(home.to_owned()),
            ..PreviewContext::default()
        });
        Self {
            spans,
            thin: ThinSpans::new(None, Some(MOST_SPANS)),
        }
    }

    fn add(&mut self, event: &RunEvent) {
        self.spans.apply(event);
        let thin = &mut self.thin;
        self.spans.take_finished().for_each(|span| thin.add(span));
    }

    /// Returns the spans as the page reads them.
    fn finish(self) -> Value {
        let Self { spans, mut thin } = self;
        spans.all().iter().for_each(|span| thin.add(span.clone()));
        let steered: Vec<i64> = spans.steered.iter().map(|at| at.as_millisecond()).collect();
        let (spans, is_thin) = thin.finish();
        let spans: Vec<Value> = spans.iter().map(TimeSpan::json).collect();
        json!({"from": 0, "spans": spans, "steered": steered, "isThin": is_thin})
    }
}
