//! The runs of this user as the page asks about them.

use pi_subagents_runs::ask_which::find_failure;
use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_page::{Answering, Problem, Question, Runs, View, Wish, markdown};
use pi_subagents_records::{IndexedRun, RecordError};
use pi_subagents_vocabulary::{Door, TimeZone, Timestamp, text};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, watch};

use super::changes::changes;
use super::context::ContextSizes;
use super::export::{export_data, spans_of};
use super::follow::follow;
use super::index::Index;
use super::page_item::TextExtent;
use super::placed_story::PlacedStory;
use super::rows::{listed, row_of, whole};
use super::scope::{Scope, today};
use super::sums::Sums;
use super::tab::Tab;
use super::texts::{raw, texts};
use super::usage::usage;
use super::wishes::{fits, fulfil};
use pi_subagents_calls::start_from_screen::Starter;
use pi_subagents_definition_commands::seen_definitions;
use pi_subagents_ground::error::{CommandError, Kind};
use pi_subagents_ground::places::Places;
use pi_subagents_runs::find::{find_runs, status_of};
use pi_subagents_runs::json_list::JsonList;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::trace::trace;
use pi_subagents_runs::under_way::UnderWay;

/// The number of pieces that wait for a tab that reads slowly.
const WAITING: usize = 64;

/// The number of bytes at the end of a record that a tab reads first, and the number that it reads
/// at once after that: little enough that a browser reads it within a frame.
const LAST_PIECE: u64 = 96 << 10;
const PIECE: u64 = 384 << 10;

/// The number of bytes of a record that are held as events at once.
const STEP: usize = 32 << 10;

/// The number of questions that are answered at once. Each needs some memory, which the allocator
/// keeps for every thread that has ever answered one.
const AT_ONCE: usize = 2;

/// The number of records that are searched for words.
const MOST_SEARCHED: usize = 2000;

/// Answers the page.
#[derive(Clone)]
pub(super) struct ServedRuns {
    places: Arc<Places>,
    index: Arc<Index>,
    zone: TimeZone,
    starter: Arc<dyn Starter>,
    sizes: Arc<ContextSizes>,
    free: Arc<Semaphore>,
}

impl ServedRuns {
    pub(super) fn new(places: Places, zone: TimeZone, starter: Arc<dyn Starter>) -> Self {
        let places = Arc::new(places);
        let index = Arc::new(Index::new(Arc::clone(&places)));
        let read_early = Arc::clone(&index);
        // The first tab finds the index read. An error of the index is reported to the asker.
        tokio::task::spawn_blocking(move || _ = read_early.tended());
        Self {
            index,
            places,
            zone,
            starter,
            sizes: Arc::default(),
            free: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    fn read(&self, question: Question) -> Result<String, Problem> {
        match question {
            Question::About { may_act } => Ok(self.about(may_act).to_string()),
            Question::Runs {
                project,
                words,
                from,
                count,
            } => written(self.runs(project, words.as_deref(), from, count)),
            Question::Run { run } => written(self.run(&run)),
            Question::Events { run, from } => self.events(&run, from),
            Question::Texts { run, places } => written(texts(&self.one(&run)?, &places)),
            Question::Raw { run, from } => written(raw(&self.one(&run)?, from)),
            Question::Spans { runs, part, most } => written(self.spans(&runs, part, most)),
            Question::Changes { run } => written(changes(&self.one(&run)?)),
            Question::Fits { runs } => written(fits(&self.places, &self.each(&runs)?)),
            Question::Usage { project } => {
                let known = self
                    .index
                    .runs()
                    .map_err(|error| problem(&find_failure(error)))?;
                let scope = Scope::of(project);
                Ok(usage(known.of(&scope), &self.zone).to_string())
            }
            Question::Definitions { project } => {
                let project = project.map_or_else(|| self.places.cwd.clone(), PathBuf::from);
                Ok(seen_definitions(self.places.seen_from(project)).to_string())
            }
            Question::Export { runs } => {
                let exported = export_data(&self.each(&runs)?, &self.places.home);
                Ok(exported.map_err(|error| lost(&error))?.data)
            }
            Question::Trace { runs } => {
                trace(&self.each(&runs)?, &self.places.home).map_err(|error| lost(&error))
            }
        }
    }

    fn spans(
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

    fn about(&self, may_act: bool) -> Value {
        json!({
            "mayAct": may_act,
            "version": env!("CARGO_PKG_VERSION"),
            "project": self.places.project,
            "home": self.places.home,
            "pid": std::process::id(),
            "now": Timestamp::now().as_millisecond(),
        })
    }

    /// Returns some runs, newest first, and the sums over all that fit.
    fn runs(
        &self,
        project: Option<String>,
        words: Option<&str>,
        from: usize,
        count: usize,
    ) -> Result<Value, Problem> {
        let known = self
            .index
            .tended()
            .map_err(|error| problem(&find_failure(error)))?;
        let scope = Scope::of(project);
        let mut runs: Vec<&IndexedRun> = known.of(&scope).rev().collect();
        let is_all = words.is_none() || runs.len() <= MOST_SEARCHED;
        if let Some(words) = words {
            let words = words.to_lowercase();
            runs.truncate(MOST_SEARCHED);
            runs.retain(|run| says(run, &words));
        }
        let mut under_way = UnderWay::default();
        let open = runs.iter().filter(|run| run.is_open()).map(|run| {
            let mut row = RunRow::of_index(run);
            if let Some(summary) = under_way.look(run) {
                row.take_progress(summary);
            }
            row
        });
        let open: Vec<RunRow> = open.collect();
        let begin = today(&self.zone);
        let mut answer = if words.is_none() {
            known.sums(&scope, begin).with(open.iter(), begin)
        } else {
            let finished = runs.iter().copied().filter(|run| !run.is_open());
            Sums::of(finished, begin).with(open.iter(), begin)
        };
        let shown = runs.iter().skip(from).take(count).map(|run| {
            let progress = run.is_open().then(|| under_way.look(run)).flatten();
            listed(run, row_of(run, progress), None)
        });
        answer["runs"] = shown.collect();
        answer["found"] = json!(runs.len());
        answer["searchedAll"] = json!(is_all);
        Ok(answer)
    }

    fn run(&self, id: &str) -> Result<Value, Problem> {
        let run = self.one(id)?;
        let mut under_way = UnderWay::default();
        let progress = run.is_open().then(|| under_way.look(&run)).flatten();
        let row = row_of(&run, progress);
        let answer = row.end.output.as_deref().map(markdown);
        let task = row.task.as_deref().map(markdown);
        let mut value = whole(&run, &row);
        value["answer"] = json!(answer);
        value["taskTree"] = json!(task);
        let model = row.resolved_model.as_deref();
        let size = model.and_then(|model| self.sizes.of(model, &self.places));
        value["contextWindow"] = json!(size);
        Ok(value)
    }

    /// Returns events of a run, and the places before and behind them.
    fn events(&self, id: &str, from: Option<u64>) -> Result<String, Problem> {
        let run = self.one(id)?;
        let home = &self.places.home;
        let story = match from {
            Some(from) => PlacedStory::at(&run.directory, from, home, TextExtent::Beginning),
            None => PlacedStory::before_end(&run.directory, LAST_PIECE, home),
        };
        let mut story = story.map_err(|error| lost(&error))?;
        let begin = story.place();
        let mut events = JsonList::new();
        events.extend(story.take_task());
        // The end of a record is read whole, however long its last line is.
        while from.is_none() || story.place() - begin < PIECE {
            let Some(found) = story.next(STEP).map_err(|error| lost(&error))? else {
                break;
            };
            events.extend(found);
        }
        let (next, events) = (story.place(), events.finish());
        Ok(format!(
            r#"{{"begin":{begin},"next":{next},"events":{events}}}"#
        ))
    }

    /// Returns the run of a whole id. The page has whole ids.
    fn one(&self, id: &str) -> Result<IndexedRun, Problem> {
        let known = self
            .index
            .runs()
            .map_err(|error| problem(&find_failure(error)))?;
        if let Some(run) = known.runs.iter().rev().find(|run| run.run.as_str() == id) {
            return Ok(run.clone());
        }
        // The index may have lost it; then the runs directory of the project still has it.
        let found = find_runs(self.index.known(), &self.places, id)
            .map_err(|error| problem(&find_failure(error)))?;
        let run = found.into_iter().find(|run| run.run.as_str() == id);
        run.ok_or_else(|| Problem::not_found(format!("There is no run {}.", text::one_line(id))))
    }

    fn each(&self, ids: &[String]) -> Result<Vec<IndexedRun>, Problem> {
        ids.iter().map(|id| self.one(id)).collect()
    }

    async fn do_to(&self, id: String, wish: Wish) -> Result<String, Problem> {
        let (this, wanted) = (self.clone(), id.clone());
        let found = tokio::task::spawn_blocking(move || this.one(&wanted)).await;
        let run = found.map_err(|error| Problem::failed(error.to_string()))??;
        written(fulfil(wish, run, &self.places, &*self.starter).await)
    }
}

impl Runs for ServedRuns {
    fn answer(&self, question: Question) -> Answering {
        let this = self.clone();
        Box::pin(async move {
            let place = Arc::clone(&this.free).acquire_owned().await;
            let answer = tokio::task::spawn_blocking(move || this.read(question)).await;
            drop(place);
            answer.map_err(|error| Problem::failed(error.to_string()))?
        })
    }

    fn act(&self, run: String, wish: Wish) -> Answering {
        let this = self.clone();
        Box::pin(async move { this.do_to(run, wish).await })
    }

    fn follow(&self, mut view: watch::Receiver<View>) -> mpsc::Receiver<String> {
        let (tell, told) = mpsc::channel(WAITING);
        let places = Arc::clone(&self.places);
        let tab = Tab::new(
            Arc::clone(&self.index),
            Arc::clone(&places),
            Arc::clone(&self.sizes),
            self.zone.clone(),
            view.borrow_and_update().clone(),
        );
        tokio::spawn(async move { follow(tab, view, &places, tell).await });
        told
    }
}

/// Writes an answer down.
fn written(answer: Result<Value, Problem>) -> Result<String, Problem> {
    answer.map(|answer| answer.to_string())
}

/// Returns whether a run has these words, in small letters, in its name, task, model, state or
/// answer.
fn says(run: &IndexedRun, words: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(words);
    if has(&run.name) || has(run.run.as_str()) || has(status_of(run).as_str()) {
        return true;
    }
    let row = RunRow::read(run);
    let texts = [
        row.task.as_deref(),
        row.resolved_model.as_deref(),
        row.preset.as_deref(),
        row.end.output.as_deref(),
        row.end.error_message.as_deref(),
    ];
    texts.into_iter().flatten().any(has)
}

pub(super) fn problem(error: &CommandError) -> Problem {
    Problem {
        is_not_found: error.kind() == Kind::NotFound,
        message: error.to_answer(Door::Page),
    }
}

/// Says that a record cannot be read.
fn lost(error: &RecordError) -> Problem {
    Problem::not_found(format!("{error}: {}", error.reason()))
}
