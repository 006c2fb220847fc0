//! `status ID`: everything about a run that fits on a screen.

use std::borrow::Borrow;

use pi_subagents_view::figures::{budget_words, clock, date_and_time, tokens, usage_words};
use pi_subagents_view::{Line, Role, receipt_facts};
use pi_subagents_vocabulary::{Advice, Allowance, Door, Receipt, Status, Timestamp, Usage, text};

use crate::run_table::{mark, one_line, role_of};
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::row::RunRow;

/// The number of lines of an answer that are shown.
const ANSWER_LINES: usize = 8;

/// The number of lines of each list of a receipt that are shown.
const RECEIPT_LINES: usize = 8;

/// The number of characters of a task that are shown; the record has all of it.
const TASK_CHARACTERS: usize = 2000;

/// The column at which the text behind a label begins.
const MARGIN: usize = 15;

/// Draws runs, each with its facts below its name.
pub(super) fn lines(rows: &[impl Borrow<RunRow>], sheet: &Sheet, now: Timestamp) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in rows {
        let row = row.borrow();
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(sheet.hang(&headline(row, now), 3));
        for (label, role, words) in facts(row, sheet) {
            let line = Line::new(Role::Muted, &format!("   {label:12}")).with(role, &words);
            lines.extend(sheet.hang(&line, MARGIN));
        }
    }
    lines
}

fn headline(row: &RunRow, now: Timestamp) -> Line {
    let status = row.report.status;
    let lasted = row.lasted(now).map(clock);
    let words = match (status, lasted) {
        (Status::Queued, Some(lasted)) => format!("queued for {lasted}"),
        (Status::Running, Some(lasted)) => format!("running for {lasted}"),
        (Status::Waiting, Some(lasted)) => format!("waits for an answer, started {lasted} ago"),
        (_, Some(lasted)) => format!("{} after {lasted}", status.as_str()),
        (_, None) => status.as_str().to_owned(),
    };
    Line::new(role_of(status), &mark(status))
        .with(Role::Plain, " ")
        .with(Role::Title, &one_line(&row.report.name))
        .with(Role::Plain, "  ")
        .with(role_of(status), &words)
}

type Fact = (&'static str, Role, String);

/// Returns the known facts of a run, with a label for each line; an empty label continues the one
/// above.
fn facts(row: &RunRow, sheet: &Sheet) -> Vec<Fact> {
    let mut facts = Facts::default();
    if let Some(problem) = &row.record_problem {
        facts.add("record", Role::Failed, one_line(problem));
    }
    if let Some(owner) = row.owner.as_ref().filter(|owner| owner.owner_stopped) {
        let pid = owner.owner_pid;
        let words = format!("pid {pid} is stopped (suspended); kill -CONT {pid} continues it");
        facts.add("owner", Role::Warning, words);
    }
    if let Some(away) = &row.away {
        facts.add("fleet", Role::Warning, away.sentence(&row.report.run_id));
    }
    facts.add("run", Role::Plain, row.report.run_id.to_string());
    facts.add("session", Role::Accent, row.report.session_id.to_string());
    facts.of_task(row);
    facts.of_time(row, sheet);
    facts.of_usage(row.report.usage, row.report.tool_calls);
    facts.of_grant(row.report.usage, row.report.granted);
    if let Some(wait) = &row.report.waits_for {
        facts.add("waits", Role::Warning, text::one_line(&text::clean(wait)));
    }
    facts.of_receipt(row.report.receipt.as_deref());
    facts.of_place(row);
    facts.of_end(row);
    facts.next_steps(row);
    facts.0
}

#[derive(Default)]
struct Facts(Vec<Fact>);

impl Facts {
    fn add(&mut self, label: &'static str, role: Role, words: String) {
        if !words.is_empty() {
            self.0.push((label, role, words));
        }
    }

    /// Adds several lines under one label.
    fn add_lines(&mut self, label: &'static str, role: Role, lines: impl Iterator<Item = String>) {
        let mut label = label;
        for line in lines {
            self.0.push((label, role, line));
            label = "";
        }
    }

    fn of_task(&mut self, row: &RunRow) {
        let is_background = row.owner.as_ref().is_some_and(|owner| owner.background);
        if is_background {
            self.add("runs", Role::Plain, "in the background".to_owned());
        }
        let definition = row.report.agent.as_deref().unwrap_or_default();
        self.add("agent", Role::Plain, one_line(definition));
        let model = row.report.full_model().unwrap_or_default();
        let asked = row.report.requested_model.as_deref();
        let asked = asked.filter(|asked| !model.is_empty() && *asked != model);
        let asked = asked.map_or(String::new(), |asked| format!(" (asked for: {asked})"));
        self.add("model", Role::Plain, one_line(&format!("{model}{asked}")));
        let runner = row.report.runner.as_deref().unwrap_or_default();
        self.add("runner", Role::Plain, one_line(runner));
        let sandbox = row.report.full_sandbox().unwrap_or_default();
        self.add("sandbox", Role::Accent, sandbox);
        let task = text::clean(row.report.task.as_deref().unwrap_or_default());
        let task = text::cut_characters(task.trim(), TASK_CHARACTERS);
        self.add_lines("task", Role::Plain, task.lines().map(str::to_owned));
    }

    fn of_time(&mut self, row: &RunRow, sheet: &Sheet) {
        let zone = sheet.zone();
        let start = row.report.started_at;
        let label = if start.is_some() {
            "started"
        } else {
            "accepted"
        };
        let start = date_and_time(start.unwrap_or(row.report.accepted_at), zone);
        self.add(label, Role::Plain, start);
        let worker = row.report.worker.as_deref().map(one_line);
        self.add("worker", Role::Plain, worker.unwrap_or_default());
        let end = row.report.ended_at.map(|end| date_and_time(end, zone));
        self.add("ended", Role::Plain, end.unwrap_or_default());
    }

    fn of_usage(&mut self, usage: Option<Usage>, calls: Option<usize>) {
        let usage = usage.unwrap_or_default();
        let words = usage_words(calls, usage.total(), usage.cost(), None);
        let parts = [
            ("in", usage.input),
            ("out", usage.output),
            ("read from the cache", usage.cache_read),
            ("written to the cache", usage.cache_write),
        ];
        let parts = parts.iter().filter(|(_, number)| *number > 0);
        let parts: Vec<String> = parts
            .map(|(what, number)| format!("{} {what}", tokens(*number)))
            .collect();
        let parts = match parts.as_slice() {
            [] => String::new(),
            parts => format!(" ({})", parts.join(", ")),
        };
        self.add("used", Role::Plain, format!("{words}{parts}"));
    }

    fn of_grant(&mut self, usage: Option<Usage>, granted: Option<Allowance>) {
        let usage = usage.unwrap_or_default();
        let words = granted.and_then(|granted| budget_words(&usage, &granted.into()));
        if let Some(words) = words {
            self.add("budget", Role::Plain, words);
        }
    }

    fn of_receipt(&mut self, receipt: Option<&Receipt>) {
        let facts = receipt.map(|receipt| receipt_facts(receipt, RECEIPT_LINES));
        self.0.extend(facts.into_iter().flatten());
    }

    fn of_place(&mut self, row: &RunRow) {
        let cwd = row.report.cwd.as_ref().map(|cwd| cwd.display().to_string());
        self.add("directory", Role::Plain, cwd.unwrap_or_default());
        if let Some(worktree) = &row.workspace {
            let words = worktree.words(row.report.run_id.as_str(), Door::CommandLine);
            self.add(worktree.label(), Role::Plain, words);
        }
        let record = row.directory().filter(|_| row.record_problem.is_none());
        let record = record.map(|record| record.path().display().to_string());
        self.add("record", Role::Plain, record.unwrap_or_default());
    }

    fn of_end(&mut self, row: &RunRow) {
        for lack in &row.report.incomplete {
            self.add("lacks", Role::Warning, one_line(lack));
        }
        let error = text::clean(row.report.error_message.as_deref().unwrap_or_default());
        self.add_lines("error", Role::Failed, error.lines().map(str::to_owned));
        let answer = text::clean(row.report.output.as_deref().unwrap_or_default());
        let mut lines = answer.trim().lines();
        let first = lines.by_ref().take(ANSWER_LINES).map(str::to_owned);
        let first: Vec<String> = first.collect();
        self.add_lines("answer", Role::Plain, first.into_iter());
        let hidden = lines.count();
        if hidden > 0 {
            let words = format!("… {}", text::count(hidden, "more line"));
            self.0.push(("", Role::Muted, words));
        }
    }

    fn next_steps(&mut self, row: &RunRow) {
        let id = &row.report.session_id;
        let run = &row.report.run_id;
        let steps: &[String] = &match row.report.status {
            Status::Queued | Status::Running | Status::Waiting => [
                format!("pi-subagents attach {id}"),
                format!("pi-subagents logs {run} --follow"),
                format!("pi-subagents stop {id}"),
            ],
            Status::Parked | Status::Completed | Status::Failed | Status::Stopped => [
                format!("pi-subagents output {run}"),
                format!("pi-subagents logs {run}"),
                Advice::Resume(row.report.session_id.to_string()).words(Door::CommandLine),
            ],
        };
        if row.record_problem.is_none() {
            self.add_lines("next", Role::Muted, steps.iter().cloned());
        }
    }
}
