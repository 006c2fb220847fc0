//! The content of `status`: the chosen runs with their figures, as JSON and as lines.

use pi_subagents_runs::ask_which::find_failure;
use std::sync::Arc;

use pi_subagents_records::{IndexedRun, RecordedRun, Survey};
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{Status, Timestamp, text};
use schemars::JsonSchema;
use serde::Serialize;

use super::choice::ListFacts;
use super::{StatusArgs, run_details};
use crate::resting_models::{RestingModel, resting_models};
use crate::run_table::{run_table, totals_line};
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::find::{find_runs, has_entered_more};
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
    /// The runs in progress, or the runs of the id that was asked for.
    looked: Vec<LookedRun>,
    /// The index with the finished runs, if they may be listed.
    survey: Arc<Survey>,
    /// The chosen runs in their order.
    chosen: Vec<Chosen>,
    /// The figures of all chosen runs together.
    totals: RowTotals,
    /// The largest number of them that are listed.
    limit: Option<usize>,
    /// This is true if the runs were asked for by an id.
    pub(super) is_named: bool,
    /// The models that rest.
    resting: Vec<RestingModel>,
}

/// A run with the facts that are known without opening its record.
struct LookedRun {
    run: IndexedRun,
    row: RunRow,
}

/// A chosen run, by its position. After some years there are very many finished runs, and only the
/// few that are listed are read.
#[derive(Clone, Copy)]
enum Chosen {
    Looked(usize),
    Finished(usize),
}

impl Seen {
    pub(super) fn look(
        args: &StatusArgs,
        index: &KnownIndex,
        places: &Places,
        under_way: &mut UnderWay,
    ) -> Result<Self, CommandError> {
        match &args.id {
            Some(id) => {
                let runs = find_runs(index, places, id).map_err(find_failure)?;
                let mut seen = Self::of(runs, Arc::default(), places, under_way);
                seen.counts = Counts::of(seen.looked.iter().map(LookedRun::status));
                seen.totals = RowTotals::of(seen.looked.iter().map(|looked| &looked.row));
                seen.chosen = (0..seen.looked.len()).map(Chosen::Looked).collect();
                seen.is_named = true;
                Ok(seen)
            }
            None => Self::look_at_all(args, index, places, under_way),
        }
    }

    fn look_at_all(
        args: &StatusArgs,
        index: &KnownIndex,
        places: &Places,
        under_way: &mut UnderWay,
    ) -> Result<Self, CommandError> {
        let now = Timestamp::now();
        let choice = args.choice(now);
        if choice.finished {
            _ = has_entered_more(index, places);
        }
        let survey = index.survey(places, choice.depth());
        let survey = survey.map_err(find_failure)?;
        let open = survey.open.clone();
        let mut seen = Self::of(open, Arc::clone(&survey), places, under_way);
        let looked = (0..seen.looked.len()).map(Chosen::Looked);
        let finished = (0..survey.finished.len()).map(Chosen::Finished);
        let mut chosen: Vec<Chosen> = looked.chain(finished).collect();
        chosen.retain(|run| choice.counts(&seen.facts(*run, now)));
        chosen.sort_by_key(|run| seen.sequence(*run));
        choice.sort(&mut chosen, |run| seen.facts(run, now));
        let facts = || chosen.iter().map(|run| seen.facts(*run, now));
        let totals = RowTotals::of_figures(facts().map(|facts| facts.used));
        // Finished runs that are not listed are counted all the same.
        let mut counts = if choice.finished {
            Counts::default()
        } else {
            survey.counts
        };
        facts().for_each(|facts| counts.add(facts.status));
        (seen.totals, seen.counts, seen.chosen) = (totals, counts, chosen);
        seen.limit = args.limit.and_then(|limit| usize::try_from(limit).ok());
        Ok(seen)
    }

    fn of(
        runs: Vec<IndexedRun>,
        survey: Arc<Survey>,
        places: &Places,
        under_way: &mut UnderWay,
    ) -> Self {
        under_way.keep(&runs);
        let looked = runs.into_iter().map(|run| LookedRun::look(run, under_way));
        Self {
            counts: Counts::default(),
            looked: looked.collect(),
            survey,
            chosen: Vec::new(),
            totals: RowTotals::default(),
            limit: None,
            is_named: false,
            resting: resting_models(&places.agent_dir, Timestamp::now()),
        }
    }

    /// Returns the runs that were looked at one by one: those in progress, or those of the id.
    pub(super) fn looked(&self) -> impl Iterator<Item = &IndexedRun> {
        self.looked.iter().map(|looked| &looked.run)
    }

    fn facts(&self, chosen: Chosen, now: Timestamp) -> ListFacts<'_> {
        match chosen {
            Chosen::Looked(at) => ListFacts::of_row(&self.looked[at].row, now),
            Chosen::Finished(at) => ListFacts::of_finished(&self.survey.finished[at]),
        }
    }

    /// Returns the place of a run among all runs.
    fn sequence(&self, chosen: Chosen) -> u64 {
        match chosen {
            Chosen::Looked(at) => self.looked[at].run.sequence,
            Chosen::Finished(at) => self.survey.finished[at].sequence,
        }
    }

    /// Returns the rows of at most `limit` runs.
    fn rows(&self, limit: Option<usize>) -> Vec<RunRow> {
        let chosen = self.chosen.iter().take(limit.unwrap_or(usize::MAX));
        let rows = chosen.enumerate().filter_map(|(place, chosen)| {
            let is_full = self.is_named || place < FULL_ROWS;
            let row = match *chosen {
                Chosen::Looked(at) if is_full => self.looked[at].read(),
                Chosen::Looked(at) => self.looked[at].row.clone(),
                Chosen::Finished(at) => {
                    // A line that was read a moment ago is still there.
                    let run = self.survey.read(&self.survey.finished[at]).ok()??;
                    let read = if is_full {
                        RunRow::read
                    } else {
                        RunRow::of_index
                    };
                    read(&run)
                }
            };
            Some(if self.is_named { row } else { row.shortened() })
        });
        rows.collect()
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
        let mut open = self.looked.iter().filter(|seen| seen.run.is_open());
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
        let all = self.chosen.len();
        let words = format!(
            "{} not listed; --limit {all} lists all.",
            text::count(all - listed, "more run")
        );
        (all > listed).then(|| Line::new(Role::Muted, &words))
    }
}

impl LookedRun {
    fn look(run: IndexedRun, under_way: &mut UnderWay) -> Self {
        let mut row = RunRow::of_index(&run);
        if run.is_open()
            && let Some(summary) = under_way.look(&run)
        {
            row.take_progress(summary);
        }
        Self { run, row }
    }

    fn status(&self) -> Status {
        self.row.report.status
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

/// The JSON of `status`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatusResult<'a> {
    /// The number of runs in each state.
    counts: Counts,
    /// The sums over the runs that are listed, and over those that a limit leaves out.
    totals: RowTotals,
    /// The runs that are listed.
    runs: Vec<RunRow>,
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
            let mut row = row.clone();
            if !row.is_over() {
                row.report.usage = None;
                row.report.tool_calls = None;
            }
            row
        });
        serde_json::to_string(&rows.collect::<Vec<_>>()).unwrap_or_default()
    }
}
