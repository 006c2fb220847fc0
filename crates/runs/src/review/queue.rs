//! Everything that waits for a person in a project, from any interface and of any age.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use pi_subagents_git::{Matrix, Repository};
use pi_subagents_records::{IndexedRun, RunState};
use pi_subagents_vocabulary::review::{RankedResult, ResultFacts, RiskReason, RiskTier, ranked};
use pi_subagents_vocabulary::{RunId, Timestamp};

use super::attempts::{OtherAttempt, PartedAttempts};
use super::later::ReviewNote;
use super::questions::{WaitingQuestion, waiting_questions};
use super::result_facts::{facts_of_all, own_gates};
use super::waiting_runs::{StopKind, StoppedRun, failed_runs, paused_runs, take_budget_questions};
use crate::acts::{Checkout, WantedChanges};
use crate::ask_which::find_failure;
use crate::known_index::KnownIndex;
use crate::merging::ToMerge;
use crate::no_result::NoResult;
use crate::results::{RunResult, failed};
use crate::row::RunRow;
use crate::workspace::waiting_results;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;

/// Everything that waits for a person, in the order in which it is proposed.
pub struct ReviewQueue {
    /// The checkout of the person; `None` outside a repository.
    pub checkout: Option<Repository>,
    pub questions: Vec<WaitingQuestion>,
    /// Runs that wait until somebody raises a budget, and runs at their limit that have left no changes.
    pub limits: Vec<StoppedRun>,
    /// Results with changes that nobody has taken, in the order in which they are proposed.
    pub results: Vec<WaitingResult>,
    pub failures: Vec<StoppedRun>,
    /// Runs whose result waits and cannot be found.
    pub unreachable: Vec<NoResult>,
    /// Attempts that were not picked, and whose picked one does not wait any more.
    pub left_attempts: Vec<OtherAttempt>,
    /// The reason why no result that waits can be found, if none can.
    pub problem: Option<String>,
}

/// A result that waits.
pub struct WaitingResult {
    pub result: RunResult,
    pub row: RunRow,
    pub facts: ResultFacts,
    pub tier: RiskTier,
    pub reasons: Vec<RiskReason>,
    /// The time at which its run ended.
    pub at: Timestamp,
    pub note: ReviewNote,
    /// The commands that its call has set as gates.
    pub gates: Vec<String>,
    /// The other attempts at its task, if it was picked.
    pub other_attempts: Vec<OtherAttempt>,
    /// The names of the results on which it stands and that wait too.
    pub stands_on: Vec<String>,
}

impl ReviewQueue {
    /// Gathers what waits. Nothing is changed.
    pub fn gather(places: &Places, index: &KnownIndex) -> Result<Self, CommandError> {
        Self::gather_named(places, index, &[])
    }

    /// Gathers what waits. The named runs are among it also if they are attempts that were not picked.
    pub fn gather_named(
        places: &Places,
        index: &KnownIndex,
        named: &[RunId],
    ) -> Result<Self, CommandError> {
        let runs = index.runs().map_err(find_failure)?;
        let waiting = waiting_results(runs.iter()).into_iter();
        let waiting = waiting.map(|(run, workspace)| (run, workspace.repository));
        Self::gather_among(places, index, waiting.collect(), named)
    }

    /// Gathers what waits, of whoever knows already which results wait in which repositories.
    pub fn gather_among(
        places: &Places,
        index: &KnownIndex,
        waiting: Vec<(IndexedRun, PathBuf)>,
        named: &[RunId],
    ) -> Result<Self, CommandError> {
        let runs = index.runs().map_err(find_failure)?;
        let here = Repository::find(&places.cwd).ok();
        let waiting = waiting_here(waiting, here.as_ref());
        let with_result: HashSet<RunId> = waiting.iter().map(|run| run.run.clone()).collect();
        let stopped = failed_runs(&runs, &places.project, |run| with_result.contains(&run.run));
        let (at_limit, failures): (Vec<_>, _) = stopped
            .into_iter()
            .partition(|one| one.kind == StopKind::Limit);
        let parted = PartedAttempts::of(waiting, &runs, named);
        let mut questions = waiting_questions(index, &places.project);
        let mut limits = paused_runs(&runs, places);
        take_budget_questions(&mut limits, &mut questions);
        limits.extend(at_limit);
        let mut queue = Self {
            checkout: here,
            questions,
            limits,
            results: Vec::new(),
            failures,
            unreachable: Vec::new(),
            left_attempts: Vec::new(),
            problem: None,
        };
        if !parted.waiting.is_empty() {
            queue.add_results(places, &runs, &parted.waiting)?;
        }
        let mut others = parted.others;
        for one in &mut queue.results {
            let own = others.remove(&one.result.run.session);
            one.other_attempts = own.unwrap_or_default();
        }
        queue.left_attempts = others.into_values().flatten().collect();
        queue
            .left_attempts
            .sort_by(|one, other| one.run_id.cmp(&other.run_id));
        Ok(queue)
    }

    /// Counts what waits, without a look at the files of results. `waiting` are the results that wait, each
    /// with its repository.
    pub fn count_among(
        places: &Places,
        index: &KnownIndex,
        waiting: Vec<(IndexedRun, PathBuf)>,
    ) -> Result<usize, CommandError> {
        let runs = index.runs().map_err(find_failure)?;
        let here = Repository::find(&places.cwd).ok();
        let waiting = waiting_here(waiting, here.as_ref());
        let with_result: HashSet<RunId> = waiting.iter().map(|run| run.run.clone()).collect();
        let stopped = failed_runs(&runs, &places.project, |run| with_result.contains(&run.run));
        let waiting = PartedAttempts::of(waiting, &runs, &[]).waiting;
        let mut questions = waiting_questions(index, &places.project);
        let mut paused = paused_runs(&runs, places);
        take_budget_questions(&mut paused, &mut questions);
        Ok(waiting.len() + stopped.len() + questions.len() + paused.len())
    }

    fn add_results(
        &mut self,
        places: &Places,
        known: &[IndexedRun],
        waiting: &[IndexedRun],
    ) -> Result<(), CommandError> {
        let wanted = WantedChanges {
            places,
            known,
            checkout: Checkout::Here,
        };
        let each: Vec<Vec<IndexedRun>> = waiting.iter().map(|run| vec![run.clone()]).collect();
        let found = match wanted.find(&each) {
            Ok(found) => found,
            // What else waits is shown all the same.
            Err(error) => {
                self.problem = Some(error.message().to_owned());
                return Ok(());
            }
        };
        let (checkout, results, unreachable) = ToMerge::parted(found);
        let changes: Vec<_> = results.iter().map(|result| result.change.clone()).collect();
        let matrix = Matrix::of(&checkout, &changes).map_err(|error| failed(&error))?;
        let rows: Vec<RunRow> = results
            .iter()
            .map(|result| RunRow::read(&result.run))
            .collect();
        let facts = facts_of_all(&checkout, &results, &rows, &matrix)?;
        let order = ranked(&facts);
        let mut parts: Vec<Option<(RunResult, RunRow, ResultFacts)>> = results
            .into_iter()
            .zip(rows)
            .zip(facts)
            .map(|((result, row), facts)| Some((result, row, facts)))
            .collect();
        let ordered = order.into_iter().filter_map(|one| {
            let parts = parts.get_mut(one.given)?.take()?;
            Some(WaitingResult::of(parts, one))
        });
        self.results = ordered.collect();
        self.name_grounds();
        self.checkout = Some(checkout);
        self.unreachable = unreachable;
        Ok(())
    }

    /// Names the results on which others stand.
    fn name_grounds(&mut self) {
        let names: HashMap<RunId, String> = self
            .results
            .iter()
            .map(|one| (one.facts.run.clone(), one.facts.name.clone()))
            .collect();
        for one in &mut self.results {
            let grounds = one.facts.needs.iter().filter_map(|need| names.get(need));
            one.stands_on = grounds.cloned().collect();
        }
    }

    /// Leaves out what does not wait for these runs.
    pub fn keep_only(&mut self, runs: &[IndexedRun]) {
        let is_meant = |run: &RunId| runs.iter().any(|one| one.run == *run);
        self.questions.retain(|one| is_meant(&one.run));
        self.limits.retain(|one| is_meant(&one.row.report.run_id));
        self.results.retain(|one| is_meant(&one.facts.run));
        self.failures.retain(|one| is_meant(&one.row.report.run_id));
        self.unreachable.retain(|one| is_meant(&one.run.run));
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
            && self.limits.is_empty()
            && self.results.is_empty()
            && self.failures.is_empty()
            && self.unreachable.is_empty()
    }

    /// Returns how much waits.
    pub fn count(&self) -> usize {
        self.questions.len()
            + self.limits.len()
            + self.results.len()
            + self.failures.len()
            + self.unreachable.len()
    }
}

type Parts = (RunResult, RunRow, ResultFacts);

impl WaitingResult {
    fn of((result, row, facts): Parts, ranked: RankedResult) -> Self {
        let RankedResult { tier, reasons, .. } = ranked;
        Self {
            at: ended_at(&result.run),
            note: ReviewNote::read(&result.run.directory),
            gates: own_gates(&result.run)
                .into_iter()
                .map(|gate| gate.command)
                .collect(),
            other_attempts: Vec::new(),
            stands_on: Vec::new(),
            result,
            row,
            facts,
            tier,
            reasons,
        }
    }

    /// Returns the number of lines that were added and taken out.
    pub fn lines(&self) -> [u64; 2] {
        let files = self.facts.files.iter();
        files.fold([0, 0], |[added, removed], file| {
            [added + file.added, removed + file.removed]
        })
    }
}

fn ended_at(run: &IndexedRun) -> Timestamp {
    match run.state {
        RunState::Over { at, .. } => at,
        RunState::Open => run.accepted_at,
    }
}

/// Returns the runs whose results wait in the repository of a checkout. Each repository that a run names
/// is looked for once.
fn waiting_here(waiting: Vec<(IndexedRun, PathBuf)>, here: Option<&Repository>) -> Vec<IndexedRun> {
    let Some(here) = here else {
        return Vec::new();
    };
    let mut known: HashMap<PathBuf, bool> = HashMap::new();
    let mut is_here = |path: &Path| {
        *known.entry(path.to_owned()).or_insert_with(|| {
            path == here.top()
                || Repository::find(path).is_ok_and(|other| other.common_dir() == here.common_dir())
        })
    };
    let waiting = waiting.into_iter();
    let waiting = waiting.filter(|(_, repository)| is_here(repository));
    waiting.map(|(run, _)| run).collect()
}
