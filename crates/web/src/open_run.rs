//! A run that has not ended, as all tabs follow it: one reader of its record feeds its usage, its
//! present activity, its spans, and the items of those who read it.

use std::collections::VecDeque;
use std::sync::Arc;

use pi_subagents_records::{IndexedRun, PlacedEvent, RecordTail};
use pi_subagents_view::story::{RemarkKind, Story, What};
use pi_subagents_view::{Line, PreviewContext, Room, Window, WindowLine, partial_lines};
use pi_subagents_vocabulary::{
    Happening, PartialMessage, RunEvent, RunSummary, Status, Timestamp, text,
};
use serde_json::{Value, json};

use super::item_log::ItemLog;
use super::page_item::{PageItem, PageItems, TextExtent};
use super::rows::{Doing, listed, row_of};
use pi_subagents_runs::fleet_outage::Away;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::spans::{Spans, TimeSpan};

/// About how much of a record is read at a time.
const PIECE: usize = 256 << 10;

/// The width of the line with the present activity of a run.
const COLUMNS: usize = 160;

/// The number of changes of the spans that are remembered. A tab that has missed more gets all spans.
const MOST_CHANGES: usize = 64;

/// A run that is followed.
pub(super) struct OpenRun {
    pub(super) run: IndexedRun,
    tail: RecordTail,
    summary: RunSummary,
    window: Window,
    story: Story,
    spans: Spans,
    last_at: Option<Timestamp>,
    /// The tokens of the last answer and of everything before it.
    context: Option<u64>,
    is_changed: bool,
    /// The absence of its fleet's servers, in words.
    away: Option<String>,
    /// Its row as its files have it. They are read again only when a child has started or the
    /// servers of its fleet went or came: while it runs, everything else is in its events.
    recorded: Option<RunRow>,
    /// All rows are counted with each change of one of them, so this is kept.
    counted: RunRow,
    page_items: PageItems,
    /// The newest items, if a tab reads the run.
    items: Option<ItemLog>,
    /// Its row as a list shows it, and the version of the board that it came with.
    row: (u64, Arc<str>),
    /// The versions with which spans were added or changed, and the first of these spans.
    span_changes: VecDeque<(u64, usize)>,
    /// The message that its model is writing, and the version that it came with.
    partial: Option<(u64, PartialMessage)>,
}

impl OpenRun {
    pub(super) fn new(run: IndexedRun, context: &PreviewContext) -> Self {
        let window = Window::new(run.run.clone(), context.clone());
        Self {
            tail: RecordTail::new(&run.directory),
            summary: RunSummary::without_text(),
            window: window.with_room(Room::LAST_LINE),
            story: Story::default(),
            spans: Spans::new(context.clone()),
            last_at: None,
            context: None,
            is_changed: true,
            away: None,
            recorded: None,
            counted: RunRow::of_index(&run),
            page_items: PageItems {
                context: PreviewContext {
                    width: PreviewContext::DEFAULT_WIDTH,
                    ..context.clone()
                },
                extent: TextExtent::Beginning,
            },
            items: None,
            row: (0, "null".into()),
            span_changes: VecDeque::new(),
            partial: None,
            run,
        }
    }

    /// Keeps the items from here on, because a tab reads the run.
    pub(super) fn keep_items(&mut self) {
        let place = self.tail.place();
        self.items.get_or_insert_with(|| ItemLog::at(place));
    }

    /// Lets the items go, because no tab reads the run any more.
    pub(super) fn drop_items(&mut self) {
        self.items = None;
    }

    /// Returns the newest items, if a tab reads the run.
    pub(super) fn items(&self) -> Option<&ItemLog> {
        self.items.as_ref()
    }

    /// Reads the events since the last time, and whether the servers of its fleet are away.
    pub(super) fn read(&mut self) {
        self.look_for_fleet();
        // A record that cannot be read has no news; the index has its end.
        while let Ok(found) = self.tail.next_placed(PIECE) {
            if found.is_empty() {
                return;
            }
            self.is_changed = true;
            self.take_items(&found);
            let events = found.into_iter().filter_map(|placed| placed.event);
            let events: Vec<RunEvent> = events.collect();
            self.summary.apply_all(&events);
            self.window.apply(&events, &self.summary);
            self.last_at = events.last().map(|event| event.at).or(self.last_at);
            self.counted = RunRow::of_index(&self.run);
            self.counted.take_progress(&self.summary);
        }
    }

    fn look_for_fleet(&mut self) {
        if self.run.owner.fleet.is_none() {
            return;
        }
        let away = Away::noted(&self.run.directory);
        let away = away.map(|away| away.sentence(&self.run.run));
        if away != self.away {
            self.is_changed = true;
            self.away = away;
            self.recorded = None;
        }
    }

    fn take_items(&mut self, found: &[PlacedEvent]) {
        let mut items = Vec::new();
        for placed in found {
            let Some(event) = &placed.event else {
                items.push(PageItem::unreadable(placed.place));
                continue;
            };
            if let Happening::Accepted(task) = &event.happening {
                self.page_items.context.cwd.clone_from(&task.cwd);
            }
            self.spans.apply(event);
            for item in self.story.apply(event) {
                take_fact(&item.what, &mut self.context, &mut self.recorded);
                if self.items.is_some() {
                    items.extend(self.page_items.of(&item, placed.place));
                }
            }
        }
        if let Some(log) = self.items.as_mut().filter(|_| !items.is_empty()) {
            log.add(items, self.tail.place());
        }
    }

    /// Takes the partial message of its model, which comes with a version of the board.
    pub(super) fn take_partial(&mut self, message: PartialMessage, version: u64) {
        self.partial = Some((version, message.clone()));
        if self.window.show_partial(message) {
            self.last_at = Some(Timestamp::now());
            self.is_changed = true;
        }
    }

    /// Makes its row and notes its new spans if something has changed, and returns whether it has.
    /// `size` returns the size of the context of a model.
    pub(super) fn publish(&mut self, version: u64, size: impl Fn(&str) -> Option<u64>) -> bool {
        if !std::mem::take(&mut self.is_changed) {
            return false;
        }
        let doing = Doing {
            line: self.doing(),
            last_at: self.last_at,
        };
        let recorded = self.recorded.get_or_insert_with(|| row_of(&self.run, None));
        let mut row = recorded.clone();
        row.take_progress(&self.summary);
        let size = row.report.full_model().as_deref().and_then(size);
        let mut row = listed(&self.run, row, Some(&doing));
        row["context"] = json!(self.context.zip(size));
        self.row = (version, row.to_string().into());
        if let Some((from, _)) = self.spans.news() {
            self.span_changes.push_back((version, from));
            if self.span_changes.len() > MOST_CHANGES {
                self.span_changes.pop_front();
            }
        }
        true
    }

    /// Returns its row if that came after a version.
    pub(super) fn row_since(&self, seen: u64) -> Option<&Arc<str>> {
        (self.row.0 > seen).then_some(&self.row.1)
    }

    /// Returns its row as it is now.
    pub(super) fn row(&self) -> &Arc<str> {
        &self.row.1
    }

    /// Returns the spans that were added or changed after a version.
    pub(super) fn spans_since(&self, seen: u64) -> Option<Value> {
        let changes = self.span_changes.iter();
        let first = changes.filter(|(version, _)| *version > seen);
        let first = first.map(|(_, from)| *from).min()?;
        let is_known = self
            .span_changes
            .front()
            .is_some_and(|(oldest, _)| *oldest <= seen);
        let from = if is_known { first } else { 0 };
        let spans: Vec<Value> = self
            .spans
            .all()
            .get(from..)?
            .iter()
            .map(TimeSpan::json)
            .collect();
        let steered = self.spans.steered.iter();
        let steered: Vec<i64> = steered.map(|at| at.as_millisecond()).collect();
        Some(json!({"from": from, "spans": spans, "steered": steered}))
    }

    /// Returns what its model is writing, if that came after a version.
    pub(super) fn words_since(&self, seen: u64) -> Option<Value> {
        let (_, partial) = self
            .partial
            .as_ref()
            .filter(|(version, _)| *version > seen)?;
        Some(json!({
            "run": self.run.run.as_str(),
            "words": text::clean(&partial.text),
            "number": partial.number,
            "activity": pi_subagents_view::describe(&partial.activity),
        }))
    }

    /// Returns the row of the run as far as it is counted.
    pub(super) fn counted(&self) -> &RunRow {
        &self.counted
    }

    fn doing(&self) -> String {
        if self.window.status() == Status::Queued {
            return "queued until another run ends".to_owned();
        }
        let partial = self.window.partial();
        let said =
            partial.and_then(|partial| partial_lines(partial, 1, COLUMNS).last().map(Line::text));
        let line = said.or_else(|| self.window.lines(1).last().map(WindowLine::text));
        line.map(|line| line.trim().to_owned()).unwrap_or_default()
    }
}

/// Takes from an item how much the model reads, and whether the files of the run have changed.
fn take_fact(what: &What<'_>, context: &mut Option<u64>, recorded: &mut Option<RunRow>) {
    match what {
        What::Turn(answer) if answer.usage.total() > 0 => *context = Some(answer.usage.total()),
        // How long the rest is, the next answer shows.
        What::Remark(remark) if remark.kind == RemarkKind::Compacted => *context = None,
        // What is prepared for a child is written down before the child starts.
        What::Remark(remark) if remark.kind == RemarkKind::Started => *recorded = None,
        _ => {}
    }
}
