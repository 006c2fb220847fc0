//! What waits for a person in a project, as the page reads it: the queue, one of its results, and the
//! difference of one file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pi_subagents_calls::review_desk::ReviewDesk;
use pi_subagents_git::ChangePart;
use pi_subagents_ground::places::Places;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::review::{ReviewQueue, WaitingResult, seen_lines};
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::review::{DiffLine, DiffSide, FileDiff, TouchedPath, is_folded};
use pi_subagents_vocabulary::text::{clean, cut_characters, one_line};
use serde_json::{Value, json};

use crate::answers::ServedRuns;
use crate::problem::Problem;
use crate::scope::Scope;

/// The number of projects whose queue is kept, so that the files of a result need no second look at
/// all results.
const MOST_KEPT: usize = 8;

/// The number of other projects that are named.
const MOST_ELSEWHERE: usize = 20;

/// At most so many characters of a line are sent: longer ones were written by programs.
const LONGEST_LINE: usize = 2000;

/// The queues that were gathered last, by their projects.
#[derive(Default)]
pub(crate) struct SeenQueues(Mutex<HashMap<PathBuf, Arc<ReviewQueue>>>);

impl SeenQueues {
    fn get(&self, project: &Path) -> Option<Arc<ReviewQueue>> {
        let queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.get(project).cloned()
    }

    fn keep(&self, project: &Path, queue: &Arc<ReviewQueue>) {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if queues.len() >= MOST_KEPT && !queues.contains_key(project) {
            queues.clear();
        }
        queues.insert(project.to_owned(), Arc::clone(queue));
    }
}

impl ServedRuns {
    /// Returns everything that waits in a project, in the order in which it is proposed.
    pub(crate) fn review(&self, project: Option<String>) -> Result<Value, Problem> {
        let places = self.places_of(project)?;
        let queue = self.gather(&places)?;
        let desk = ReviewDesk {
            places: &places,
            index: self.index.known(),
        };
        // Without its settings a gate is unknown, and accepting says why.
        let gate = desk.gate().ok().flatten();
        let mut answer = json!(queue.printed());
        answer["project"] = json!(places.project);
        answer["gate"] = json!(gate);
        answer["problem"] = json!(queue.problem);
        answer["isRepository"] = json!(queue.checkout.is_some());
        answer["elsewhere"] = self.waiting_elsewhere(&places.project)?;
        Ok(answer)
    }

    /// Returns how much waits in a project, without a look at the files of results.
    pub(crate) fn review_count(&self, project: Option<String>) -> Result<Value, Problem> {
        let places = self.places_of(project)?;
        let waiting = self.waiting_results()?;
        let count = ReviewQueue::count_among(&places, self.index.known(), waiting)?;
        Ok(json!({ "project": places.project, "count": count }))
    }

    /// Returns what a person should know of something that waits.
    pub(crate) fn reviewed(&self, id: &str, project: Option<String>) -> Result<Value, Problem> {
        let run = self.run(id)?;
        let row = RunRow::read(&self.one(id)?);
        let queue = self.queue_with(id, project)?;
        let result = queue.as_deref().and_then(|queue| result_of(queue, id));
        let files = result.map_or(&[][..], |result| &result.facts.files);
        let unseen = result.map_or(&[][..], |result| &result.facts.unseen);
        Ok(json!({
            "run": run,
            "files": files.iter().map(file_json).collect::<Vec<_>>(),
            "seen": seen_lines(&row.report),
            "unseen": unseen.iter().map(|words| one_line(&clean(words))).collect::<Vec<_>>(),
            "base": result.and_then(WaitingResult::base_words),
            "states": result.map(|result| result.source().states()),
        }))
    }

    /// Returns the parts of a result that can be accepted without the rest: each with its name, its file,
    /// and the place of its hunk in the file.
    pub(crate) fn reviewed_parts(
        &self,
        id: &str,
        project: Option<String>,
    ) -> Result<Value, Problem> {
        let queue = self.queue_with(id, project)?;
        let result = queue.as_deref().and_then(|queue| result_of(queue, id));
        let Some(result) = result else {
            return Err(Problem::not_found("This result does not wait any more."));
        };
        Ok(match result.source().parts() {
            Ok(parts) => json!({ "parts": parts.iter().map(part_json).collect::<Vec<_>>() }),
            Err(why) => json!({ "problem": why }),
        })
    }

    /// Returns the difference of one file of a result.
    pub(crate) fn reviewed_file(
        &self,
        id: &str,
        project: Option<String>,
        file: usize,
    ) -> Result<Value, Problem> {
        let queue = self.queue_with(id, project)?;
        let result = queue.as_deref().and_then(|queue| result_of(queue, id));
        let Some((result, touched)) =
            result.and_then(|result| Some((result, result.facts.files.get(file)?)))
        else {
            return Err(Problem::not_found("This result does not wait any more."));
        };
        Ok(match result.source().diff(touched) {
            Ok(diff) => diff_json(&diff),
            Err(why) => json!({ "problem": why }),
        })
    }

    /// Returns the places of a project that this page may show.
    pub(crate) fn places_of(&self, project: Option<String>) -> Result<Places, Problem> {
        let Some(project) = project.map(PathBuf::from) else {
            return Ok(Places::clone(&self.places));
        };
        if project == self.places.project {
            return Ok(Places::clone(&self.places));
        }
        let known = self.index.runs()?;
        if known.runs.iter().any(|run| run.project == project) {
            return Ok(self.places.seen_from(project));
        }
        let shown = one_line(&project.display().to_string());
        Err(Problem::not_found(format!("There is no run in {shown}.")))
    }

    fn gather(&self, places: &Places) -> Result<Arc<ReviewQueue>, Problem> {
        self.index.tended()?;
        let waiting = self.waiting_results()?;
        let queue = ReviewQueue::gather_among(places, self.index.known(), waiting, &[])?;
        let queue = Arc::new(queue);
        self.queues.keep(&places.project, &queue);
        Ok(queue)
    }

    /// Returns the results that wait in any project, each with its repository. Somebody may have merged one
    /// while no tab has looked.
    fn waiting_results(&self) -> Result<Vec<(IndexedRun, PathBuf)>, Problem> {
        let known = self.index.runs()?;
        self.finished.look_again(&known.runs);
        Ok(self.finished.waiting_with_repositories(known.runs.iter()))
    }

    /// Returns the queue that has a result, gathered again only if the last one does not have it.
    fn queue_with(
        &self,
        id: &str,
        project: Option<String>,
    ) -> Result<Option<Arc<ReviewQueue>>, Problem> {
        let places = self.places_of(project)?;
        let seen = self.queues.get(&places.project);
        if let Some(queue) = seen.filter(|queue| result_of(queue, id).is_some()) {
            return Ok(Some(queue));
        }
        let workspace = RunRow::read(&self.one(id)?).workspace;
        if workspace.is_none() {
            return Ok(None);
        }
        self.gather(&places).map(Some)
    }

    /// Counts the results that wait in other projects.
    fn waiting_elsewhere(&self, own: &Path) -> Result<Value, Problem> {
        let known = self.index.runs()?;
        let mut counts: HashMap<&Path, usize> = HashMap::new();
        for run in self.finished.waiting(known.of(&Scope::default())) {
            if run.project != own {
                *counts.entry(&run.project).or_default() += 1;
            }
        }
        let mut counts: Vec<(&Path, usize)> = counts.into_iter().collect();
        counts.sort();
        let counts = counts.into_iter().take(MOST_ELSEWHERE);
        Ok(counts
            .map(|(project, count)| json!({ "project": project, "count": count }))
            .collect())
    }
}

fn result_of<'a>(queue: &'a ReviewQueue, id: &str) -> Option<&'a WaitingResult> {
    let mut results = queue.results.iter();
    results.find(|result| result.facts.run.as_str() == id)
}

fn file_json(file: &TouchedPath) -> Value {
    json!({
        "path": file.path,
        "from": file.from,
        "isDeleted": file.is_deleted,
        "added": file.added,
        "removed": file.removed,
        "isFolded": is_folded(&file.path),
    })
}

fn part_json(part: &ChangePart) -> Value {
    json!({ "name": part.name, "path": part.path.to_string_lossy(), "hunk": part.hunk })
}

/// Writes a difference as lines: what each is, its old and its new number, and its text.
fn diff_json(diff: &FileDiff) -> Value {
    let lines: Vec<Value> = diff.lines.iter().map(line_json).collect();
    json!({ "lines": lines, "isCut": diff.is_cut })
}

fn line_json(line: &DiffLine) -> Value {
    let side = match line.side {
        DiffSide::Head => "hunk",
        DiffSide::Both => "",
        DiffSide::Added => "add",
        DiffSide::Removed => "del",
        DiffSide::About => "about",
    };
    json!([
        side,
        line.old,
        line.new,
        cut_characters(&line.text, LONGEST_LINE)
    ])
}
