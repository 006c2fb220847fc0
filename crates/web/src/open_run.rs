//! A run under way, as a tab follows it: its usage, its present activity, and its spans.

use pi_subagents_records::{IndexedRun, RecordTail};
use pi_subagents_view::story::{RemarkKind, Story, What};
use pi_subagents_view::{Line, PreviewContext, Room, Window, WindowLine, partial_lines};
use pi_subagents_vocabulary::{PartialMessage, RunSummary, Status, Timestamp};
use serde_json::{Value, json};

use super::rows::{Doing, listed, row_of};
use pi_subagents_runs::away::Away;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::spans::{Span, Spans};

/// About how much of a record is read at a time.
const PIECE: usize = 256 << 10;

/// The width of the line with the present activity of a run.
const COLUMNS: usize = 160;

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
            run,
        }
    }

    /// Reads the events since the last time, and whether the servers of its fleet are away.
    pub(super) fn read(&mut self) {
        if self.run.owner.fleet.is_some() {
            let away = Away::noted(&self.run.directory);
            let away = away.map(|away| away.sentence(&self.run.run));
            if away != self.away {
                self.is_changed = true;
                self.away = away;
                self.recorded = None;
            }
        }
        // A record that cannot be read has no news; the index has its end.
        while let Ok(events) = self.tail.next(PIECE) {
            if events.is_empty() {
                return;
            }
            self.is_changed = true;
            self.summary.apply_all(&events);
            self.window.apply(&events, &self.summary);
            for event in &events {
                self.spans.apply(event);
                for item in self.story.apply(event) {
                    self.take_item(&item.what);
                }
            }
            self.last_at = events.last().map(|event| event.at);
            self.counted = RunRow::of_index(&self.run);
            self.counted.take_progress(&self.summary);
        }
    }

    fn take_item(&mut self, what: &What<'_>) {
        match what {
            What::Turn(answer) if answer.usage.total() > 0 => {
                self.context = Some(answer.usage.total());
            }
            // How long the rest is, the next answer shows.
            What::Remark(remark) if remark.kind == RemarkKind::Compacted => self.context = None,
            // What is prepared for a child is written down before the child starts.
            What::Remark(remark) if remark.kind == RemarkKind::Started => self.recorded = None,
            _ => {}
        }
    }

    /// Takes the partial message of its model.
    pub(super) fn take_partial(&mut self, message: PartialMessage) {
        if self.window.show_partial(message) {
            self.last_at = Some(Timestamp::now());
            self.is_changed = true;
        }
    }

    /// Returns its row if that has changed since the last time.
    /// `size` returns the size of the context of a model.
    pub(super) fn news(&mut self, size: impl Fn(&str) -> Option<u64>) -> Option<Value> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        let doing = Doing {
            line: self.doing(),
            last_at: self.last_at,
        };
        let recorded = self.recorded.get_or_insert_with(|| row_of(&self.run, None));
        let mut row = recorded.clone();
        row.take_progress(&self.summary);
        let size = row.resolved_model.as_deref().and_then(size);
        let mut news = listed(&self.run, row, Some(&doing));
        news["context"] = json!(self.context.zip(size));
        Some(news)
    }

    /// Returns the row of the run as far as it is counted.
    pub(super) fn counted(&self) -> &RunRow {
        &self.counted
    }

    /// Returns the spans that were added or changed since the last time.
    pub(super) fn span_news(&mut self) -> Option<Value> {
        let steered: Vec<i64> = self
            .spans
            .steered
            .iter()
            .map(|at| at.as_millisecond())
            .collect();
        let (from, spans) = self.spans.news()?;
        let spans: Vec<Value> = spans.iter().map(Span::json).collect();
        self.spans.forget_finished();
        Some(json!({"from": from, "spans": spans, "steered": steered}))
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
