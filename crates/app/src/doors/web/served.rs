//! The runs of this user as the page asks about them.

use std::path::PathBuf;
use std::sync::Arc;

use pi_subagents_delegation::{Happening, TimeZone, Timestamp, text};
use pi_subagents_engine::{OwnerReply, Want};
use pi_subagents_page::{Answering, Problem, Question, Runs, View, Wish, markdown};
use pi_subagents_sessions::{IndexedRun, PlacedReader, RecordError, Store};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::export::{export_data, spans_of};
use super::follow::follow;
use super::rows::{listed, row_of, whole};
use super::scope::{Scope, today};
use super::tab::Tab;
use super::texts::{raw, texts};
use super::told::{Telling, TextExtent};
use super::usage::{KnownModels, usage};
use crate::attach::{Starter, Wanted};
use crate::error::{CommandError, Kind};
use crate::places::Places;
use crate::profiles::seen_definitions;
use crate::runs::counts::Counts;
use crate::runs::find::{find_runs, status_of};
use crate::runs::owned::current_runs;
use crate::runs::owner_request::{request, stop_run};
use crate::runs::row::{RowTotals, RunRow};
use crate::runs::trace::trace;
use crate::runs::under_way::UnderWay;

/// How many pieces wait for a tab that reads slowly.
const WAITING: usize = 64;

/// How much of the end of a record a tab reads first, and how much at once after that.
const LAST_PIECE: u64 = 192 << 10;
const PIECE: usize = 4 << 20;

/// How many records are searched for words.
const MOST_SEARCHED: usize = 2000;

/// Answers the page.
#[derive(Clone)]
pub(super) struct ServedRuns {
    places: Arc<Places>,
    store: Store,
    zone: TimeZone,
    starter: Arc<dyn Starter>,
    models: Arc<KnownModels>,
}

impl ServedRuns {
    pub(super) fn new(places: Places, zone: TimeZone, starter: Arc<dyn Starter>) -> Self {
        Self {
            store: Store::new(&places.agent_dir),
            places: Arc::new(places),
            zone,
            starter,
            models: Arc::default(),
        }
    }

    fn read(&self, question: Question) -> Result<Value, Problem> {
        match question {
            Question::About => Ok(self.about()),
            Question::Runs {
                project,
                words,
                from,
                count,
            } => self.runs(project, words.as_deref(), from, count),
            Question::Run { run } => self.run(&run),
            Question::Events { run, from } => self.events(&run, from),
            Question::Texts { run, places } => texts(&self.one(&run)?, &places),
            Question::Raw { run, from } => raw(&self.one(&run)?, from),
            Question::Spans { runs } => {
                let spans = self.each(&runs)?.into_iter().map(|run| {
                    let spans = spans_of(&run, &self.places.home);
                    (run.run.to_string(), spans.unwrap_or(Value::Null))
                });
                Ok(json!({"spans": spans.collect::<serde_json::Map<_, _>>()}))
            }
            Question::Usage { project } => {
                let runs = self.in_scope(project)?;
                Ok(usage(&runs, &self.models, &self.zone))
            }
            Question::Definitions { project } => {
                let project = project.map_or_else(|| self.places.cwd.clone(), PathBuf::from);
                Ok(seen_definitions(self.places.seen_from(project)))
            }
            Question::Export { runs } => {
                let runs = self.each(&runs)?;
                export_data(&runs, &self.places.home).map_err(|error| lost(&error))
            }
            Question::Trace { runs } => {
                trace(&self.each(&runs)?, &self.places.home).map_err(|error| lost(&error))
            }
        }
    }

    fn about(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "project": self.places.project,
            "home": self.places.home,
            "pid": std::process::id(),
            "now": Timestamp::now().as_millisecond(),
        })
    }

    /// Returns the runs that a page shows, oldest first.
    fn in_scope(&self, project: Option<String>) -> Result<Vec<IndexedRun>, Problem> {
        let scope = Scope::of(project);
        let mut runs = current_runs(&self.store).map_err(|error| problem(&error.into()))?;
        runs.retain(|run| scope.has(run));
        Ok(runs)
    }

    fn runs(
        &self,
        project: Option<String>,
        words: Option<&str>,
        from: usize,
        count: usize,
    ) -> Result<Value, Problem> {
        let mut runs = self.in_scope(project)?;
        let searched = runs.len().min(MOST_SEARCHED);
        let is_all = words.is_none() || searched == runs.len();
        if let Some(words) = words {
            let words = words.to_lowercase();
            runs = runs.split_off(runs.len() - searched);
            runs.retain(|run| says(run, &words));
        }
        runs.reverse();
        let mut under_way = UnderWay::default();
        let rows: Vec<RunRow> = runs
            .iter()
            .map(|run| {
                let mut row = RunRow::of_index(run);
                if let Some(summary) = under_way.look(run).filter(|_| run.is_open()) {
                    row.take_progress(summary);
                }
                row
            })
            .collect();
        let begin = today(&self.zone);
        let shown = runs.iter().skip(from).take(count);
        let shown: Vec<Value> = shown
            .map(|run| {
                let progress = under_way.look(run).filter(|_| run.is_open());
                listed(run, row_of(run, progress), None)
            })
            .collect();
        Ok(json!({
            "counts": Counts::of(rows.iter().map(|row| row.status)).json_with_queued(),
            "totals": RowTotals::of(rows.iter()),
            "today": RowTotals::of(rows.iter().filter(|row| row.accepted_at >= begin)),
            "found": runs.len(),
            "searchedAll": is_all,
            "runs": shown,
        }))
    }

    fn run(&self, id: &str) -> Result<Value, Problem> {
        let run = self.one(id)?;
        let mut under_way = UnderWay::default();
        let progress = under_way.look(&run).filter(|_| run.is_open());
        let row = row_of(&run, progress);
        let answer = row.end.output.as_deref().map(markdown);
        let task = row.task.as_deref().map(markdown);
        let mut value = whole(&run, &row);
        value["answer"] = json!(answer);
        value["taskTree"] = json!(task);
        Ok(value)
    }

    fn events(&self, id: &str, from: Option<u64>) -> Result<Value, Problem> {
        let run = self.one(id)?;
        let reader = match from {
            Some(from) => PlacedReader::at(&run.directory, from),
            None => PlacedReader::before_end(&run.directory, LAST_PIECE),
        };
        let mut reader = reader.map_err(|error| lost(&error))?;
        let begin = reader.place();
        let accepted = reader.accepted().clone();
        let cwd = match &accepted.happening {
            Happening::Accepted(task) => task.cwd.clone(),
            _ => PathBuf::new(),
        };
        let home = self.places.home.clone();
        let mut telling = Telling::new(home, cwd, begin > 0, TextExtent::Beginning);
        let mut events = Vec::new();
        if begin == 0 {
            events.extend(telling.tell_event(&accepted, 0));
        }
        // The end of a record is read whole, however long its last line is.
        let mut is_more = true;
        while is_more {
            let found = reader.next(PIECE).map_err(|error| lost(&error))?;
            events.extend(found.iter().flat_map(|one| telling.tell(one)));
            is_more = !found.is_empty() && from.is_none();
        }
        Ok(json!({"begin": begin, "next": reader.place(), "events": events}))
    }

    /// Returns the run of a whole id. The page has whole ids.
    fn one(&self, id: &str) -> Result<IndexedRun, Problem> {
        let found =
            find_runs(&self.store, &self.places, id).map_err(|error| problem(&error.into()))?;
        let run = found.into_iter().find(|run| run.run.as_str() == id);
        run.ok_or_else(|| Problem::not_found(format!("There is no run {}.", text::one_line(id))))
    }

    fn each(&self, ids: &[String]) -> Result<Vec<IndexedRun>, Problem> {
        ids.iter().map(|id| self.one(id)).collect()
    }

    async fn do_to(&self, id: String, wish: Wish) -> Result<Value, Problem> {
        let (this, wanted) = (self.clone(), id.clone());
        let found = tokio::task::spawn_blocking(move || this.one(&wanted)).await;
        let run = found.map_err(|error| Problem::failed(error.to_string()))??;
        let name = text::one_line(&text::clean(&run.name));
        match wish {
            Wish::Steer(message) => match request(&run, Want::Steer { message }).await {
                Ok(OwnerReply::Done) => {
                    Ok(json!({"message": format!("{name} reads it before its next turn.")}))
                }
                Ok(OwnerReply::Refused { message }) => Err(Problem::failed(format!(
                    "The message did not arrive: {message}."
                ))),
                Err(error) => Err(problem(&error)),
            },
            Wish::Stop => match stop_run(&self.store, &run).await {
                Ok(None) => {
                    let words = format!("{name} was stopped, and all its processes are gone.");
                    Ok(json!({ "message": words }))
                }
                Ok(Some(note)) => Ok(json!({ "message": note })),
                Err(error) => Err(problem(&error)),
            },
            Wish::Continue(prompt) => {
                let run = Box::new(run);
                let begun = self.starter.start(Wanted::Resumed { run, prompt }).await;
                let begun = begun.map_err(|error| problem(&error))?;
                let message = begun.warnings.first().cloned();
                let usual = || format!("{name} goes on in the background.");
                Ok(json!({"run": begun.run.as_str(), "message": message.unwrap_or_else(usual)}))
            }
        }
    }
}

impl Runs for ServedRuns {
    fn answer(&self, question: Question) -> Answering {
        let this = self.clone();
        Box::pin(async move {
            let answer = tokio::task::spawn_blocking(move || this.read(question)).await;
            answer.map_err(|error| Problem::failed(error.to_string()))?
        })
    }

    fn act(&self, run: String, wish: Wish) -> Answering {
        let this = self.clone();
        Box::pin(async move { this.do_to(run, wish).await })
    }

    fn follow(&self, view: View) -> mpsc::Receiver<String> {
        let (tell, told) = mpsc::channel(WAITING);
        let places = Arc::clone(&self.places);
        let tab = Tab::new(
            self.store.clone(),
            places.home.clone(),
            self.zone.clone(),
            view,
        );
        tokio::spawn(async move { follow(tab, &places.agent_dir, tell).await });
        told
    }
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

fn problem(error: &CommandError) -> Problem {
    Problem {
        is_not_found: error.kind() == Kind::NotFound,
        message: error.to_answer(),
    }
}

/// Says that a record cannot be read.
fn lost(error: &RecordError) -> Problem {
    Problem::not_found(format!("{error}: {}", error.reason()))
}
