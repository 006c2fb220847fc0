//! Reads what a run has changed, and merges or discards it in the checkout that the run began from.
//! All of it waits for git, so it is done beside the screen.

use std::sync::Arc;

use pi_subagents_records::IndexedRun;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::Door;

use super::message::Notice;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::acts::{self, Checkout, ToDiscard, WantedChanges, in_one_worktree};
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::merging::{Fit, HeldBackFiles, MergedAs, ToMerge};
use pi_subagents_runs::results::RunResult;
use pi_subagents_runs::workspace::waiting_results;

/// With at most so many other results a run is compared.
const MOST_OTHERS: usize = 7;

/// The comparison before a merge, as somebody reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fitting {
    pub(crate) page: Vec<Line>,
    /// True if the run fits the checkout as it is now.
    pub(crate) fits: bool,
}

/// A run of the list, with all that the acts on its changes need.
pub(super) struct Listed {
    pub(super) places: Places,
    pub(super) known: Arc<KnownIndex>,
    pub(super) run: IndexedRun,
}

impl Listed {
    fn known(&self) -> Result<Arc<[IndexedRun]>, CommandError> {
        self.known.runs().map_err(find_failure)
    }

    /// Looks for changes for the checkout that the run was started in.
    fn wanted<'a>(&'a self, known: &'a [IndexedRun]) -> WantedChanges<'a> {
        WantedChanges {
            places: &self.places,
            known,
            checkout: Checkout::OfRun,
        }
    }

    fn changes(&self, known: &[IndexedRun]) -> Result<ToMerge, CommandError> {
        let runs = in_one_worktree(&self.run, known);
        self.wanted(known).find(&[runs])
    }
}

/// Returns the patch of a run.
pub(super) fn diff(listed: &Listed) -> Result<Vec<Line>, CommandError> {
    let known = listed.known()?;
    let runs = in_one_worktree(&listed.run, &known);
    acts::diff(&listed.wanted(&known), &runs)?.page(Door::Attach)
}

/// Compares a run with its checkout, and with other results that wait there.
pub(super) fn check(listed: &Listed) -> Result<Fitting, CommandError> {
    let known = listed.known()?;
    let (checkout, mut results, _) = listed.changes(&known)?.parted();
    let place = checkout.top().display().to_string();
    if let Some(asked) = results.first() {
        results.extend(others(&known, asked));
    }
    let fit = Fit::of(&checkout, &results)?;
    let mut page = vec![
        Line::new(Role::Muted, &format!("into {place}, as it is now")),
        Line::default(),
    ];
    page.extend(fit.small_table().lines().map(painted));
    let conflicts = [fit.conflict_lines(), fit.missing_lines()].concat();
    if !conflicts.is_empty() {
        page.push(Line::default());
        page.extend(conflicts.iter().map(|line| painted(line)));
    }
    Ok(Fitting {
        page,
        fits: fit.fits(0),
    })
}

/// Merges a run as uncommitted changes.
pub(super) fn merge_one(listed: &Listed) -> Result<Notice, CommandError> {
    let changes = listed.changes(&listed.known()?)?;
    let report = acts::merge(changes, MergedAs::Changes, HeldBackFiles::Refused)?;
    let role = if report.merged_count() > 0 {
        Role::Success
    } else {
        Role::Failed
    };
    let lines = report.lines().into_iter().chain(report.warnings);
    Ok(Notice::new(role, lines.collect::<Vec<_>>().join("; ")))
}

/// Discards what a run has left.
pub(super) fn discard_one(listed: &Listed) -> Result<Notice, CommandError> {
    let mut unwanted = ToDiscard::find(&listed.known()?, &[vec![listed.run.clone()]]);
    if unwanted.found.is_empty()
        && let Some(without) = unwanted.without.pop()
    {
        return Ok(Notice::new(Role::Muted, without.sentence()));
    }
    let lines = unwanted.discard().lines()?;
    Ok(Notice::new(Role::Success, lines.join(" ")))
}

/// Returns other results that wait in the same checkout, the newest first.
fn others(runs: &[IndexedRun], asked: &RunResult) -> Vec<RunResult> {
    let checkout = asked.workspace.as_ref().map(|one| &one.repository);
    let others = runs.iter().filter(|run| run.session != asked.run.session);
    let waiting = waiting_results(others).into_iter().rev();
    let here = waiting.filter(|(_, workspace)| Some(&workspace.repository) == checkout);
    here.take(MOST_OTHERS)
        .filter_map(|(run, _)| RunResult::of_latest(&[run]).ok())
        .collect()
}

fn painted(line: &str) -> Line {
    let role = if line.starts_with('✗') {
        Role::Failed
    } else {
        Role::Plain
    };
    Line::new(role, line)
}
