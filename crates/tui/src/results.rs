//! Reads what a run has changed, and merges or discards it in the checkout that the run began from.
//! All of it waits for git, so it is done beside the screen.

use pi_subagents_records::IndexedRun;
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_view::{Line, Role};

use super::message::Notice;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::known_index::KnownIndex;
use pi_subagents_runs::merging::{DiscardReport, Discardable, Fit, MergedAs, ToMerge, merge};
use pi_subagents_runs::results::RunResult;
use pi_subagents_runs::workspace::{Workspace, waiting_results};

/// With at most so many other results a run is compared.
const MOST_OTHERS: usize = 7;

/// The comparison before a merge, as somebody reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fitting {
    pub(crate) page: Vec<Line>,
    /// True if the run fits the checkout as it is now.
    pub(crate) fits: bool,
}

/// Returns the patch of a run.
pub(super) fn diff(index: &KnownIndex, run: &IndexedRun) -> Result<Vec<Line>, CommandError> {
    result(&index.runs().map_err(find_failure)?, run)?.patch_lines()
}

/// Compares a run with its checkout, and with other results that wait there.
pub(super) fn check(index: &KnownIndex, run: &IndexedRun) -> Result<Fitting, CommandError> {
    let runs = index.runs().map_err(find_failure)?;
    let asked = result(&runs, run)?;
    let checkout = asked.repository.clone();
    let place = checkout.top().display().to_string();
    let mut results = vec![asked];
    results.extend(others(&runs, &results[0]));
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
pub(super) fn merge_one(index: &KnownIndex, run: &IndexedRun) -> Result<Notice, CommandError> {
    let asked = result(&index.runs().map_err(find_failure)?, run)?;
    let top = asked.repository.top().to_owned();
    let report = merge(ToMerge::of(&top, vec![asked])?, MergedAs::Changes)?;
    let role = if report.merged_count() > 0 {
        Role::Success
    } else {
        Role::Failed
    };
    let lines = report.lines().into_iter().chain(report.warnings);
    Ok(Notice::new(role, lines.collect::<Vec<_>>().join("; ")))
}

/// Discards what a run has left.
pub(super) fn discard_one(run: IndexedRun) -> Result<Notice, CommandError> {
    let found = match Discardable::of(&[run]) {
        Ok(found) => found,
        Err(without) => return Ok(Notice::new(Role::Muted, without.sentence())),
    };
    let lines = DiscardReport::of(found, Vec::new()).lines()?;
    Ok(Notice::new(Role::Success, lines.join(" ")))
}

/// Returns the result of a run, or of a later run of its session, which holds it too. A run of a
/// fleet has a result of its own.
fn result(runs: &[IndexedRun], run: &IndexedRun) -> Result<RunResult, CommandError> {
    let workspace = Workspace::read(run.directory.path());
    if workspace.is_some_and(|workspace| workspace.worktree.is_none()) {
        return RunResult::of_latest(std::slice::from_ref(run));
    }
    let session = runs.iter().filter(|other| other.session == run.session);
    let session: Vec<IndexedRun> = session.cloned().collect();
    RunResult::of_latest(&session)
}

/// Returns other results that wait in the same checkout, the newest first.
fn others(runs: &[IndexedRun], asked: &RunResult) -> Vec<RunResult> {
    let checkout = asked.workspace.as_ref().map(|one| &one.repository);
    let others = runs.iter().filter(|run| run.session != asked.run.session);
    let waiting = waiting_results(others.cloned().collect()).into_iter().rev();
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
