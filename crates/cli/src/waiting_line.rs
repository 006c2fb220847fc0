//! The line on a terminal with the runs that `wait` waits for.

use std::io::{self, Write as _};
use std::time::Duration;

use pi_subagents_records::IndexedRun;
use pi_subagents_view::figures::usage_words;
use pi_subagents_view::{Line, Role, paint};
use pi_subagents_vocabulary::{Timestamp, text};

use super::run_table::one_line;
use super::view::live_columns;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_runs::live_figures::UnderWay;
use pi_subagents_runs::row::{RowTotals, RunRow};

/// The number of names that are shown; the rest is counted.
const MOST_NAMES: usize = 3;

/// One line on stderr that is drawn again and again. It is nowhere but on a terminal.
pub(crate) struct WaitingLine {
    columns: usize,
    began: Timestamp,
    under_way: UnderWay,
}

impl WaitingLine {
    /// Makes the line, if a person looks on.
    pub(crate) fn of_stderr(places: &Places, printer: Printer) -> Option<Self> {
        let columns = live_columns(places).filter(|_| !printer.is_quiet())?;
        Some(Self {
            columns,
            began: Timestamp::now(),
            under_way: UnderWay::default(),
        })
    }

    /// Draws the line in place of the last one. `open` are the runs that are not over, and `all` is
    /// the number of all runs.
    pub(crate) fn draw(&mut self, open: &[IndexedRun], all: usize) {
        let now = Timestamp::now();
        let elapsed = Duration::try_from(now.duration_since(self.began)).unwrap_or_default();
        let rows: Vec<RunRow> = open.iter().map(|run| self.row(run)).collect();
        let line = words(&rows, all, elapsed);
        // The last column stays free: some terminals begin a new line there.
        let line = paint::fit(&line, self.columns.saturating_sub(1));
        // Nothing can be done about a terminal that is gone.
        _ = write!(io::stderr(), "\r{}\u{1b}[K", paint::plain(&line));
    }

    fn row(&mut self, run: &IndexedRun) -> RunRow {
        let mut row = RunRow::of_index(run);
        if let Some(summary) = self.under_way.look(run) {
            row.take_progress(summary);
        }
        row
    }

    /// Removes the line, so that something else can be printed.
    #[expect(
        clippy::unused_self,
        reason = "only a line that was made can be removed"
    )]
    pub(crate) fn clear(&self) {
        _ = write!(io::stderr(), "\r\u{1b}[K");
    }
}

fn words(open: &[RunRow], all: usize, elapsed: Duration) -> Line {
    let names = open.iter().map(|row| one_line(&row.report.name));
    let names = text::first_of(names, MOST_NAMES, ", ");
    let runs = if all == 1 {
        String::new()
    } else {
        format!("{} of {}: ", open.len(), text::count(all, "run"))
    };
    let totals = RowTotals::of(open.iter());
    let usage = totals.usage;
    let calls = Some(totals.tool_calls);
    let used = usage_words(calls, usage.total(), usage.cost(), Some(elapsed));
    Line::new(Role::Plain, &format!("Waiting for {runs}{names} • {used}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(name: &str) -> RunRow {
        let row = json!({
            "runId": "r", "sessionId": "s", "name": name, "status": "running", "toolCalls": 2,
            "acceptedAt": "2026-11-16T12:00:00Z",
            "usage": {"input": 900, "output": 100, "cacheRead": 0, "cacheWrite": 0,
                "cost": 0.5},
        });
        serde_json::from_value(row).expect("a row")
    }

    #[test]
    fn it_says_what_is_waited_for() {
        let said = |names: &[&str], all| {
            let rows: Vec<RunRow> = names.iter().map(|name| row(name)).collect();
            words(&rows, all, Duration::from_secs(75)).text()
        };
        assert_eq!(
            said(&["scout"], 1),
            "Waiting for scout • 2 tool calls • 1.0k tokens • $0.50 • 1m 15s"
        );
        assert_eq!(
            said(&["a", "b\u{1b}[31m", "c", "d", "e"], 6),
            "Waiting for 5 of 6 runs: a, b, c and 2 more • 10 tool calls • 5.0k tokens • $2.50 • 1m 15s"
        );
    }
}
