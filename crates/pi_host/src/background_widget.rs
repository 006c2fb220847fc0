//! The widget above pi's editor: the activity of the background runs of pi's session, in one line
//! each, for as long as one of them runs.

use pi_subagents_vocabulary::Door;
use std::sync::Arc;
use std::time::Duration;

use pi_subagents_records::RecordTail;
use pi_subagents_view::figures::usage_words;
use pi_subagents_view::{Line, PreviewContext, Role, Room, Window, WindowLine};
use pi_subagents_vocabulary::{RunSummary, Status, Timestamp, text};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::HostLink;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::page_address::page_words;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::session_runs::SessionRuns;

/// The most runs that get a line: the widget takes its rows from the conversation.
const MOST_RUNS: usize = 4;

/// The pause between two looks at the runs. Their clocks show seconds.
const PACE: Duration = Duration::from_secs(1);

/// The approximate number of bytes of a record that are read at once, and the number of reads in
/// one look.
const PIECE: usize = 256 << 10;
const PIECES: usize = 8;

/// A name takes no more columns than this.
const WIDEST_NAME: usize = 24;

/// The task beside it takes no more than this: it tells apart what one agent does.
const WIDEST_TASK: usize = 30;

/// A run that has a line.
struct ShownRun {
    row: RunRow,
    tail: Option<RecordTail>,
    window: Window,
    summary: RunSummary,
}

/// Keeps the widget up to date until no background run of the session is open any more, and takes
/// it away then.
pub(super) async fn show(runs: Arc<SessionRuns>, link: HostLink, places: Places) {
    let mut shown: Vec<ShownRun> = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    loop {
        let mut open = runs.background();
        open.retain(|row| !row.is_over());
        if open.is_empty() {
            break;
        }
        // Records are read on a thread where they hold up nobody else.
        let here = places.clone();
        let look = spawn_blocking(move || {
            let (shown, mut lines) = look(shown, open);
            // A person who has the page open would rather watch there.
            lines.extend(
                page_words(&here, Door::PiCommand).map(|words| Line::new(Role::Muted, &words)),
            );
            (shown, lines)
        });
        let Ok((looked_at, drawn)) = look.await else {
            break;
        };
        shown = looked_at;
        if drawn != lines {
            link.set_widget(&drawn);
            lines = drawn;
        }
        sleep(PACE).await;
    }
    link.set_widget(&[]);
}

/// Reads on in the records of the first open runs, and draws the widget.
fn look(mut known: Vec<ShownRun>, open: Vec<RunRow>) -> (Vec<ShownRun>, Vec<Line>) {
    let more = open.len().saturating_sub(MOST_RUNS);
    let rows = open.into_iter().take(MOST_RUNS);
    let shown: Vec<ShownRun> = rows
        .map(|row| {
            let place = known
                .iter()
                .position(|run| run.row.report.run_id == row.report.run_id);
            let mut run = place.map_or_else(|| ShownRun::new(row), |place| known.remove(place));
            run.read_on();
            run
        })
        .collect();
    let now = Timestamp::now();
    let mut lines: Vec<Line> = shown.iter().map(|run| run.line(now)).collect();
    if more > 0 {
        let words = format!("… and {more} more in the background");
        lines.push(Line::new(Role::Muted, &words));
    }
    (shown, lines)
}

impl ShownRun {
    fn new(row: RunRow) -> Self {
        let window = Window::new(row.report.run_id.clone(), PreviewContext::default());
        Self {
            tail: row.directory().map(|directory| RecordTail::new(&directory)),
            window: window.with_room(Room::LAST_LINE),
            summary: RunSummary::without_text(),
            row,
        }
    }

    /// Adds the events since the last look, or a part of them if they are many.
    fn read_on(&mut self) {
        let Some(tail) = &mut self.tail else {
            return;
        };
        for _ in 0..PIECES {
            // A record that cannot be read shows nothing; the end of the run is seen elsewhere.
            let events = tail.next(PIECE).unwrap_or_default();
            if events.is_empty() {
                return;
            }
            self.summary.apply_all(&events);
            self.window.apply(&events, &self.summary);
        }
    }

    fn line(&self, now: Timestamp) -> Line {
        let name = text::one_line(&text::clean(&self.row.report.name));
        let facts = self.window.facts();
        // The newest tool call follows, and at 80 columns there is no room for their number too.
        let used = usage_words(
            None,
            facts.usage.total(),
            facts.usage.cost(),
            self.window.elapsed(now),
        );
        let status = self.window.status();
        let state = match status {
            Status::Queued => "queued".to_owned(),
            Status::Waiting => "asks".to_owned(),
            Status::Running
            | Status::Parked
            | Status::Completed
            | Status::Failed
            | Status::Stopped => used,
        };
        let newest = self.window.lines(1).last().map(WindowLine::text);
        let newest = newest.unwrap_or_default();
        let line = Line::new(Role::Warning, status.icon())
            .with(Role::Plain, " ")
            .with(Role::Title, &text::cut_columns(&name, WIDEST_NAME));
        let line = match self.row.report.task.as_deref() {
            Some(task) => {
                let task = text::one_line(&text::clean(task));
                line.with(
                    Role::Plain,
                    &format!(": {}", text::cut_columns(&task, WIDEST_TASK)),
                )
            }
            None => line,
        };
        let line = line.with(Role::Muted, &format!(" • {state}"));
        match newest.trim() {
            "" => line,
            newest => line.with(Role::Muted, &format!(" • {newest}")),
        }
    }
}
