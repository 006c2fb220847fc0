//! The content of `status`: the chosen runs with their figures, as JSON and as lines.

use pi_subagents_runs::ask_which::find_failure;
use std::borrow::Borrow;

use pi_subagents_records::{IndexedRun, RecordedRun};
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{Status, Timestamp, text};
use schemars::JsonSchema;
use serde::Serialize;

use super::{StatusArgs, run_details};
use crate::resting_models::{RestingModel, resting_models};
use crate::run_table::{run_table, totals_line};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::find::{find_runs, has_entered_more, status_of};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::live_figures::UnderWay;
use pi_subagents_runs::row::{RowTotals, RunRow};
use pi_subagents_vocabulary::Counts;

/// The number of rows that have the facts of the record; further rows have only those of the index.
const FULL_ROWS: usize = 200;

/// The number of runs that a terminal lists by default: the newest must not scroll away.
const TERMINAL_ROWS: usize = 50;

/// The runs and figures that are shown.
pub(super) struct Seen {
    pub(super) counts: Counts,
    /// The chosen runs in their order.
    pub(super) runs: Vec<SeenRun>,
    /// The figures of all these runs together.
    totals: RowTotals,
    /// The largest number of them that are listed.
    limit: Option<usize>,
    /// This is true if the runs were asked for by an id.
    pub(super) is_named: bool,
    /// The models that rest.
    resting: Vec<RestingModel>,
}

/// A run with the facts that are known without opening its record.
pub(super) struct SeenRun {
    pub(super) run: IndexedRun,
    row: RunRow,
}

impl Seen {
    pub(super) fn look(
        args: &StatusArgs,
        index: &KnownIndex,
        places: &Places,
        under_way: &mut UnderWay,
    ) -> Result<Self, CommandError> {
        let now = Timestamp::now();
        let choice = args.choice(now);
        let runs = match &args.id {
            Some(id) => find_runs(index, places, id).map_err(find_failure)?,
            None => listed_runs(index, places, choice.finished)?,
        };
        under_way.keep(&runs);
        // After some years there are very many runs, and most of them are only counted.
        let is_listed = |run: &IndexedRun| args.id.is_some() || choice.lists(run.is_open());
        let (listed, others): (Vec<_>, Vec<_>) = runs.into_iter().partition(is_listed);
        let listed = listed.into_iter().map(|run| SeenRun::look(run, under_way));
        let mut runs: Vec<SeenRun> = listed.filter(|run| choice.counts(&run.row)).collect();
        let states = runs.iter().map(|run| run.row.report.status);
        let counts = Counts::of(states.chain(others.iter().map(status_of)));
        if args.id.is_none() {
            choice.sort(&mut runs, |run| &run.row, now);
        }
        Ok(Self {
            counts,
            totals: RowTotals::of(runs.iter().map(|run| &run.row)),
            runs,
            limit: args.limit.and_then(|limit| usize::try_from(limit).ok()),
            is_named: args.id.is_some(),
            resting: resting_models(&places.agent_dir, now),
        })
    }

    /// Returns the rows of at most `limit` runs.
    fn rows(&self, limit: Option<usize>) -> Vec<Listed<'_>> {
        let runs = self.runs.iter().take(limit.unwrap_or(usize::MAX));
        runs.enumerate()
            .map(|(place, run)| match place {
                _ if self.is_named => Listed::Read(Box::new(run.read())),
                0..FULL_ROWS => Listed::Read(Box::new(run.read().shortened())),
                _ => Listed::Known(&run.row),
            })
            .collect()
    }

    pub(super) fn json(&self) -> StatusResult<'_> {
        StatusResult {
            counts: self.counts,
            totals: self.totals,
            runs: self.rows(self.limit),
            resting: &self.resting,
        }
    }

    /// Returns whether it must be looked at again after a second: the clocks of a screen go on, and
    /// the index does not show when a queued run gets its place.
    pub(super) fn is_ticking(&self, is_screen: bool) -> bool {
        let mut open = self.runs.iter().filter(|seen| seen.run.is_open());
        open.any(|seen| is_screen || seen.row.report.status == Status::Queued)
    }

    /// Returns the lines for a person.
    pub(super) fn lines(&self, sheet: &Sheet, now: Timestamp) -> Vec<Line> {
        if self.is_named {
            return run_details::lines(&self.rows(None), sheet, now);
        }
        let usual = sheet.columns().map(|_| TERMINAL_ROWS);
        let rows = self.rows(self.limit.or(usual));
        let mut lines = vec![Line::new(Role::Plain, &self.counts.line())];
        if rows.is_empty() {
            lines.extend(self.why_empty());
            lines.extend(self.resting_lines(now));
            return lines;
        }
        lines.push(Line::default());
        lines.extend(run_table(&rows, sheet, now));
        lines.push(Line::default());
        lines.push(totals_line(&self.totals));
        lines.extend(self.hidden(rows.len()));
        lines.extend(self.resting_lines(now));
        lines
    }

    /// Names the models that rest.
    fn resting_lines(&self, now: Timestamp) -> impl Iterator<Item = Line> {
        let resting = self.resting.iter();
        resting.map(move |model| Line::new(Role::Warning, &model.words(now)))
    }

    /// Says why no run is listed although there are some.
    fn why_empty(&self) -> Option<Line> {
        let words = "Nothing is running. pi-subagents status --all lists the finished runs.";
        (self.counts.total() > 0).then(|| Line::new(Role::Plain, words))
    }

    /// Says how many runs are not listed.
    fn hidden(&self, listed: usize) -> Option<Line> {
        let all = self.runs.len();
        let words = format!(
            "{} not listed; --limit {all} lists all.",
            text::count(all - listed, "more run")
        );
        (all > listed).then(|| Line::new(Role::Muted, &words))
    }
}

/// Returns the runs in progress in all projects, and the finished ones of this project.
fn listed_runs(
    index: &KnownIndex,
    places: &Places,
    with_finished: bool,
) -> Result<Vec<IndexedRun>, CommandError> {
    let mut runs = index.runs().map_err(find_failure)?;
    if with_finished && has_entered_more(index, places, &runs) {
        runs = index.runs().map_err(find_failure)?;
    }
    let is_listed = |run: &&IndexedRun| run.is_open() || run.project == places.project;
    Ok(runs.iter().filter(is_listed).cloned().collect())
}

impl SeenRun {
    fn look(run: IndexedRun, under_way: &mut UnderWay) -> Self {
        let mut row = RunRow::of_index(&run);
        if run.is_open()
            && let Some(summary) = under_way.look(&run)
        {
            row.take_progress(summary);
        }
        Self { run, row }
    }

    /// Reads the record of the run.
    fn read(&self) -> RunRow {
        let mut record = match RecordedRun::read(&self.run.directory) {
            Ok(record) => record,
            Err(error) => return RunRow::with_problem(&self.run, error),
        };
        if self.run.is_open() {
            // The run ended just now. The index will have it, and the counts with it.
            record.end = None;
        }
        RunRow::of_index_and_record(&self.run, &record).with_progress_of(&self.row)
    }
}

/// A row of the list: read from the record of its run, or as the index knows it.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Listed<'a> {
    Read(Box<RunRow>),
    Known(&'a RunRow),
}

impl Borrow<RunRow> for Listed<'_> {
    fn borrow(&self) -> &RunRow {
        match self {
            Self::Read(row) => row,
            Self::Known(row) => row,
        }
    }
}

/// The JSON of `status`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatusResult<'a> {
    /// The number of runs in each state.
    counts: Counts,
    /// The sums over the runs that are listed, and over those that a limit leaves out.
    totals: RowTotals,
    /// The runs that are listed.
    #[schemars(with = "Vec<RunRow>")]
    runs: Vec<Listed<'a>>,
    /// The models that rest, because they were out of quota or overloaded a moment ago.
    #[serde(
        rename = "restingModels",
        skip_serializing_if = "<[RestingModel]>::is_empty"
    )]
    resting: &'a [RestingModel],
}

impl StatusResult<'_> {
    /// Writes the parts whose change is news: all but the figures of runs under way.
    pub(super) fn news(&self) -> String {
        let rows = self.runs.iter().map(|row| {
            let mut row: RunRow = Borrow::<RunRow>::borrow(row).clone();
            if !row.is_over() {
                row.report.usage = None;
                row.report.tool_calls = None;
            }
            row
        });
        serde_json::to_string(&rows.collect::<Vec<_>>()).unwrap_or_default()
    }
}
