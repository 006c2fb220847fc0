//! A table of runs, as `status` and `wait` print it.

use std::borrow::Borrow;

use pi_subagents_view::figures::{clock, cost, tokens, usage_words};
use pi_subagents_view::{Column, Line, Role, table};
use pi_subagents_vocabulary::{Status, Timestamp, text};

use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::row::{RowTotals, RunRow};

/// The columns from left to right. A narrow terminal loses the run id first, then the calls, the
/// model, the task, the tokens, the cost, the start and the time.
const COLUMNS: [Column; 11] = [
    Column::words("NAME", 0, 16, 28),
    Column::whole("STATUS", 0),
    Column::whole("STARTED", 2),
    Column::number("TIME", 1),
    Column::number("CALLS", 7),
    Column::number("TOKENS", 4),
    Column::number("COST", 3),
    Column::words("MODEL", 6, 12, 24),
    Column::whole("SESSION", 0),
    Column::whole("RUN", 8),
    Column::words("TASK", 5, 24, usize::MAX),
];

/// The number of characters of a task that a pipe gets: its first words, in one line.
const LONGEST_TASK: usize = 200;

/// Draws runs in a table, each with a note below it if a person should know something.
pub(crate) fn run_table(rows: &[impl Borrow<RunRow>], sheet: &Sheet, now: Timestamp) -> Vec<Line> {
    let cells = rows.iter().map(|row| cells(row.borrow(), sheet, now));
    let cells: Vec<Vec<Line>> = cells.collect();
    let mut drawn = table(&COLUMNS, cells, sheet.columns()).into_iter();
    let headings = drawn.next();
    let with_notes = drawn.zip(rows).flat_map(|(line, row)| {
        let notice = row.borrow().notice();
        let note = notice.map(|notice| {
            let note = Line::new(Role::Warning, &format!("   {notice}"));
            sheet.hang(&note, 3)
        });
        std::iter::once(line).chain(note.into_iter().flatten())
    });
    headings.into_iter().chain(with_notes).collect()
}

/// Writes the usage of runs together.
pub(crate) fn totals_line(totals: &RowTotals) -> Line {
    let runs = text::count(totals.runs, "run");
    let usage = totals.usage;
    let used = usage_words(Some(totals.tool_calls), usage.total(), usage.cost(), None);
    let words = [runs, used];
    let words = words.iter().filter(|words| !words.is_empty());
    let words: Vec<&str> = words.map(String::as_str).collect();
    Line::new(Role::Muted, &words.join(" • "))
}

/// Returns the role of a run's state.
pub(crate) fn role_of(status: Status) -> Role {
    match status {
        Status::Queued => Role::Muted,
        Status::Running | Status::Waiting | Status::Parked => Role::Warning,
        Status::Completed => Role::Success,
        Status::Failed | Status::Stopped => Role::Failed,
    }
}

/// Writes the mark of a state in two columns: the hourglass alone is as wide.
pub(crate) fn mark(status: Status) -> String {
    let icon = status.icon();
    let gap = 2_usize.saturating_sub(text::columns(icon));
    format!("{icon}{}", " ".repeat(gap))
}

fn cells(row: &RunRow, sheet: &Sheet, now: Timestamp) -> Vec<Line> {
    let (status, end) = (row.report.status, &row.report);
    let usage = end.usage.unwrap_or_default();
    let started = end.started_at.unwrap_or(row.report.accepted_at);
    let plain = |words: &str| Line::new(Role::Plain, words);
    let muted = |words: &str| Line::new(Role::Muted, words);
    let model = row.report.model.as_deref().unwrap_or_default();
    vec![
        Line::new(role_of(status), &mark(status))
            .with(Role::Plain, " ")
            .with(Role::Title, &one_line(&row.report.name))
            .with(Role::Muted, &at_worker(row))
            .with(Role::Accent, &in_sandbox(row)),
        Line::new(role_of(status), status.as_str()),
        plain(&sheet.moment(started, now)),
        plain(&row.lasted(now).map(clock).unwrap_or_default()),
        plain(&counted(end.tool_calls.map(|calls| calls.to_string()), "0")),
        plain(&counted(Some(tokens(usage.total())), "0")),
        plain(&cost(usage.cost())),
        muted(&one_line(model)),
        Line::new(Role::Accent, row.report.session_id.as_str()),
        muted(row.report.run_id.as_str()),
        muted(&text::cut_characters(
            &one_line(row.report.task.as_deref().unwrap_or_default()),
            LONGEST_TASK,
        )),
    ]
}

/// Names the worker of a fleet that has a run.
fn at_worker(row: &RunRow) -> String {
    let worker = row.report.worker.as_deref().map(one_line);
    worker.map_or(String::new(), |worker| format!(" @{worker}"))
}

/// Names the sandbox of a run, if it has one.
fn in_sandbox(row: &RunRow) -> String {
    let sandbox = row.report.shown_sandbox();
    sandbox.map_or(String::new(), |sandbox| format!(" [{sandbox}]"))
}

/// Returns a number that is known and not nothing.
fn counted(number: Option<String>, nothing: &str) -> String {
    number
        .filter(|number| number != nothing)
        .unwrap_or_default()
}

/// Returns words of others in one line that a terminal can show.
pub(crate) fn one_line(words: &str) -> String {
    text::one_line(&text::clean(words))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn row(number: u32, name: &str, status: &str, further: &Value) -> RunRow {
        let mut row = json!({
            "runId": format!("20261116-11{number:02}00-000-00000{number}"),
            "sessionId": format!("9c9fa4e1d200000{number}"), "name": name, "status": status,
            "acceptedAt": format!("2026-11-16T11:{number:02}:00Z"),
            "model": "claude-sonnet-5",
        });
        for (field, value) in further.as_object().into_iter().flatten() {
            row[field] = value.clone();
        }
        serde_json::from_value(row).expect("a row")
    }

    fn used(tokens: u64, cost: Option<f64>) -> Value {
        json!({"input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0,
            "cost": cost})
    }

    fn rows() -> Vec<RunRow> {
        let owner = json!({"background": false, "project": "/p", "ownerPid": 4711,
            "ownerStopped": true, "directory": "/p/r"});
        let mut running = json!({
            "startedAt": "2026-11-16T11:05:00Z", "task": "Review the last commit.\nBe strict.",
            "toolCalls": 12, "usage": used(45_200, Some(0.31)),
        });
        for (field, value) in owner.as_object().into_iter().flatten() {
            running[field] = value.clone();
        }
        vec![
            row(
                6,
                "tests",
                "queued",
                &json!({"task": "Run the tests and fix what fails"}),
            ),
            row(5, "review", "running", &running),
            row(
                4,
                "日本語の調査をする長い名前の仕事",
                "completed",
                &json!({
                    "startedAt": "2026-11-15T09:04:00Z", "endedAt": "2026-11-15T09:07:05Z",
                    "acceptedAt": "2026-11-15T09:03:00Z", "task": "設定ファイルを読み、報告する",
                    "toolCalls": 3, "usage": used(1_290_000, None),
                }),
            ),
            row(
                3,
                "a name that is much longer than its column",
                "failed",
                &json!({
                    "acceptedAt": "2025-12-31T11:03:00Z", "endedAt": "2025-12-31T13:13:00Z",
                    "recordProblem": "the record of this run was deleted", "model": null,
                }),
            ),
            row(
                2,
                "plan",
                "stopped",
                &json!({
                    "endedAt": "2026-11-16T11:02:07Z", "toolCalls": 0, "usage": used(0, None),
                    "sessionId": "talk",
                }),
            ),
        ]
    }

    fn drawn(columns: Option<usize>) -> String {
        let now = "2026-11-16T12:00:00Z".parse().expect("a time");
        let sheet = Sheet::plain(columns);
        let mut lines = run_table(&rows(), &sheet, now);
        lines.push(totals_line(&RowTotals::of(rows().iter())));
        if let Some(columns) = columns {
            for line in &lines {
                assert!(line.width() <= columns, "{columns}: {}", line.text());
            }
        }
        sheet.text(&lines)
    }

    #[test]
    fn a_table_of_runs_fits_its_terminal() {
        let screens: Vec<String> = [60, 80, 120, 200]
            .map(|columns| format!("{columns} columns\n{}", drawn(Some(columns))))
            .into();
        insta::assert_snapshot!(screens.join("\n\n"));
    }

    #[test]
    fn a_pipe_gets_everything() {
        insta::assert_snapshot!(drawn(None));
    }
}
