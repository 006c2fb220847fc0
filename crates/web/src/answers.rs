//! The answers to the page, from the same rows, finder and acts as the commands.

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_calls::start_from_screen::ScreenStarter;
use pi_subagents_definition_commands::seen_definitions;
use pi_subagents_ground::places::Places;
use pi_subagents_records::{IndexedRun, Ledgers};
use pi_subagents_runs::budgets::FoundBudget;
use pi_subagents_runs::find::find_runs;
use pi_subagents_runs::live_figures::UnderWay;
use pi_subagents_runs::trace::trace;
use pi_subagents_vocabulary::{TimeZone, Timestamp, text};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::spawn_blocking;

use super::board::Board;
use super::context::ContextSizes;
use super::export_data::{export_data, spans_of};
use super::finished_runs::FinishedRuns;
use super::index::{Index, SeenRuns};
use super::markdown::markdown;
use super::problem::Problem;
use super::record_opening::Openings;
use super::review::SeenQueues;
use super::rows::{changed_files, listed, row_of, whole};
use super::run_list::WantedRuns;
use super::same_files::same_files;
use super::scope::{Scope, today};
use super::streams::View;
use super::tab::{Tab, follow};
use super::usage::usage;

/// The number of pieces that wait for a tab that reads slowly.
const WAITING: usize = 64;

/// The number of questions that are answered at once, and of tabs that are looked after. Each needs
/// some memory, which the allocator keeps for every thread that has ever answered one.
const AT_ONCE: usize = 2;

/// The number of runs of one call that are sent with one of them.
const MOST_OF_CALL: usize = 64;

/// Answers the page.
#[derive(Clone)]
pub(crate) struct ServedRuns {
    pub(super) places: Arc<Places>,
    pub(super) starter: ScreenStarter,
    pub(super) board: Arc<Board>,
    pub(super) index: Arc<Index>,
    pub(super) finished: Arc<FinishedRuns>,
    pub(super) queues: Arc<SeenQueues>,
    zone: TimeZone,
    sizes: Arc<ContextSizes>,
    openings: Arc<Openings>,
    free: Arc<Semaphore>,
    tabs: Arc<Semaphore>,
}

impl ServedRuns {
    pub(crate) fn new(places: Places, zone: TimeZone, starter: ScreenStarter) -> Self {
        let places = Arc::new(places);
        let index = Arc::new(Index::new(Arc::clone(&places)));
        let finished = Arc::new(FinishedRuns::default());
        let sizes = Arc::default();
        let (early, results) = (Arc::clone(&index), Arc::clone(&finished));
        // The first tab finds the index read. An error of the index is reported to the asker.
        spawn_blocking(move || {
            if let Ok(known) = early.tended() {
                results.waiting(known.runs.iter());
            }
        });
        Self {
            board: Board::start(
                Arc::clone(&places),
                Arc::clone(&index),
                Arc::clone(&finished),
                Arc::clone(&sizes),
            ),
            index,
            finished,
            queues: Arc::default(),
            places,
            zone,
            starter,
            sizes,
            openings: Arc::default(),
            free: Arc::new(Semaphore::new(AT_ONCE)),
            tabs: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Returns the directory with the files of this user.
    pub(crate) fn agent_dir(&self) -> PathBuf {
        self.places.agent_dir.clone()
    }

    /// Does some reading where it blocks nobody.
    pub(crate) async fn read<A, W>(&self, work: W) -> Result<A, Problem>
    where
        A: Send + 'static,
        W: FnOnce(&Self) -> Result<A, Problem> + Send + 'static,
    {
        let place = Arc::clone(&self.free).acquire_owned().await;
        let this = self.clone();
        let answer = spawn_blocking(move || work(&this)).await;
        drop(place);
        answer?
    }

    /// Follows events of the present view, which the tab may change. Each piece is one JSON object
    /// in one line; the following ends when the receiver is dropped.
    pub(crate) fn follow(&self, mut view: watch::Receiver<View>) -> mpsc::Receiver<String> {
        let (send, pieces) = mpsc::channel(WAITING);
        let first = view.borrow_and_update().clone();
        let tab = Tab::new(Arc::clone(&self.board), self.zone.clone(), &first);
        tokio::spawn(follow(tab, view, Arc::clone(&self.tabs), send));
        pieces
    }

    pub(crate) fn about(&self, may_act: bool) -> Value {
        json!({
            "mayAct": may_act,
            "version": env!("CARGO_PKG_VERSION"),
            "project": self.places.project,
            "home": self.places.home,
            "pid": std::process::id(),
            "now": Timestamp::now().as_millisecond(),
        })
    }

    /// Returns some runs, newest first, and the sums over all runs of the project.
    pub(crate) fn list(&self, wanted: &WantedRuns) -> Result<Value, Problem> {
        let known = self.index.tended()?;
        let scope = Scope::of(wanted.project.clone());
        let found = wanted.find(&known, &scope, &self.finished);
        let mut under_way = UnderWay::default();
        let rows: Vec<Value> = found
            .shown
            .iter()
            .map(|run| {
                let mut row = self.row(run, &mut under_way);
                if let Some(hit) = wanted.hit(run) {
                    row["hit"] = json!(hit);
                }
                row
            })
            .collect();
        let mut answer = if wanted.is_search() {
            json!({})
        } else {
            self.sums(&known, &scope, &mut under_way)
        };
        answer["runs"] = json!(rows);
        answer["found"] = json!(found.found);
        answer["next"] = json!(found.next);
        Ok(answer)
    }

    fn row(&self, run: &IndexedRun, under_way: &mut UnderWay) -> Value {
        if run.is_open() {
            return listed(run, row_of(run, under_way.look(run)), None);
        }
        self.finished.row(run).row.clone()
    }

    fn sums(&self, known: &SeenRuns, scope: &Scope, under_way: &mut UnderWay) -> Value {
        let begin = today(&self.zone);
        let open = known.of(scope).filter(|run| run.is_open()).map(|run| {
            let mut row = pi_subagents_runs::row::RunRow::of_index(run);
            if let Some(summary) = under_way.look(run) {
                row.take_progress(summary);
            }
            row
        });
        let open: Vec<_> = open.collect();
        let mut sums = known.sums(scope, begin).with(open.iter(), begin);
        sums["waiting"] = json!(self.finished.waiting(known.of(scope)).len());
        sums
    }

    /// Returns one run, with the other runs of its call, and with those that changed the same files.
    pub(crate) fn run(&self, id: &str) -> Result<Value, Problem> {
        let run = self.one(id)?;
        let known = self.index.runs()?;
        // What an open run has used so far comes with the stream of the tab.
        let row = row_of(&run, None);
        let mut value = whole(&run, &row);
        value["answer"] = json!(row.report.output.as_deref().map(markdown));
        value["taskTree"] = json!(row.report.task.as_deref().map(markdown));
        let model = row.report.full_model();
        let size = model.and_then(|model| self.sizes.of(&model, &self.places));
        value["contextWindow"] = json!(size);
        let call = of_call(&run, &known);
        value["sameFiles"] = same_files(&run, &changed_files(&row), &call, &known, &self.finished);
        let others = call
            .iter()
            .map(|other| self.finished.row(other).row.clone());
        value["call"] = others.collect();
        Ok(value)
    }

    /// Returns items of a run, and the places before and behind them.
    pub(crate) fn events(&self, id: &str, from: Option<u64>) -> Result<String, Problem> {
        let run = self.one(id)?;
        Ok(self.openings.read(&run, from, &self.places.home)?)
    }

    pub(crate) fn spans(
        &self,
        runs: &[String],
        part: Option<(i64, i64)>,
        most: Option<usize>,
    ) -> Result<Value, Problem> {
        let spans = self.each(runs)?.into_iter().map(|run| {
            let spans = spans_of(&run, &self.places.home, part, most);
            (run.run.to_string(), spans.unwrap_or(Value::Null))
        });
        Ok(json!({"spans": spans.collect::<serde_json::Map<_, _>>()}))
    }

    pub(crate) fn fits(&self, runs: &[String]) -> Result<Value, Problem> {
        super::wishes::fits(&self.places, &self.each(runs)?)
    }

    pub(crate) fn usage(&self, project: Option<String>) -> Result<Value, Problem> {
        let known = self.index.runs()?;
        Ok(usage(known.of(&Scope::of(project)), &self.zone))
    }

    /// Returns the budgets in which a run counts, the latest first.
    pub(crate) fn budgets(&self, run: &str) -> Result<Value, Problem> {
        let ledgers = Ledgers::of(&self.places.agent_dir);
        let mut budgets = FoundBudget::read_all(&ledgers)?;
        budgets.retain(|budget| budget.has(run));
        let budgets = budgets.iter().map(|budget| {
            json!({
                "kind": budget.scope.kind().as_str(),
                "name": budget.scope.name(),
                "limits": budget.ledger.limits(),
                "spent": budget.ledger.spent(),
                "started": budget.ledger.started(),
            })
        });
        Ok(json!({ "budgets": budgets.collect::<Vec<_>>() }))
    }

    pub(crate) fn definitions(&self, project: Option<String>) -> Value {
        let project = project.map_or_else(|| self.places.cwd.clone(), PathBuf::from);
        json!(seen_definitions(self.places.seen_from(project)))
    }

    pub(crate) fn export(&self, runs: &[String]) -> Result<String, Problem> {
        Ok(export_data(&self.each(runs)?, &self.places.home)?.data)
    }

    pub(crate) fn trace(&self, runs: &[String]) -> Result<String, Problem> {
        Ok(trace(&self.each(runs)?, &self.places.home)?)
    }

    /// Returns the run of a whole id. The page has whole ids.
    pub(crate) fn one(&self, id: &str) -> Result<IndexedRun, Problem> {
        let known = self.index.runs()?;
        if let Some(run) = known.runs.iter().rev().find(|run| run.run.as_str() == id) {
            return Ok(run.clone());
        }
        // The index may have lost it; then the runs directory of the project still has it.
        let found = find_runs(self.index.known(), &self.places, id)?;
        let run = found.into_iter().find(|run| run.run.as_str() == id);
        run.ok_or_else(|| Problem::not_found(format!("There is no run {}.", text::one_line(id))))
    }

    fn each(&self, ids: &[String]) -> Result<Vec<IndexedRun>, Problem> {
        ids.iter().map(|id| self.one(id)).collect()
    }
}

/// Returns the other finished runs of a run's call. Open runs are in every list.
fn of_call(run: &IndexedRun, known: &SeenRuns) -> Vec<IndexedRun> {
    let is_of_call =
        |other: &&IndexedRun| other.owner == run.owner && other.run != run.run && !other.is_open();
    let call = known.runs.iter().rev().filter(is_of_call);
    call.take(MOST_OF_CALL).cloned().collect()
}
