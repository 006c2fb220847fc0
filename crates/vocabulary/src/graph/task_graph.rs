//! The steps of a graph of tasks while its call is under way: which tasks begin, which never will
//! and why, and which maps are opened.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::attempts::{CompletedAttempt, PickRule, PickedAttempt, judges_words};
use super::for_each::MOST_ITEMS;
use super::need_result::{NeedResult, TaskResults};
use super::placeholder::ResultValue;
use crate::RunId;
use crate::text::{count, first_of};

/// The largest number of tasks that are named as those that a run waits for.
const MOST_AWAITED: usize = 3;

/// What becomes of a task if another one that it needs does not complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterFailure {
    /// It never begins.
    #[default]
    Skip,
    /// It begins, and is told of the failure.
    Run,
}

impl AfterFailure {
    /// Reads the word for a choice.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "skip" => Some(Self::Skip),
            "run" => Some(Self::Run),
            _ => None,
        }
    }
}

/// The tasks of a call, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskGraph {
    /// The tasks.
    pub tasks: Vec<GraphNode>,
    /// The number of failures after which nothing more begins, if there is one.
    pub stop_after: Option<usize>,
    /// The largest number of items of all its maps together.
    pub most_items: usize,
}

/// A task in a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphNode {
    /// The name of the task.
    pub name: String,
    /// The numbers of the tasks that it needs.
    pub needs: Vec<usize>,
    /// What becomes of it after a failure.
    pub after_failure: AfterFailure,
    /// True if it is done for each item of a list.
    pub is_map: bool,
    /// The number of its runs in this call.
    pub runs: usize,
    /// The list for whose items its runs are still to be opened, if they are.
    pub map: Option<ResultValue>,
    /// Results of an earlier call, with the numbers of their items.
    pub done: Vec<(usize, NeedResult)>,
    /// The number of the task whose result its worktree begins with. Its run is opened when that is
    /// there.
    pub base: Option<usize>,
    /// How its runs hang together, if they are several attempts at one task or judge such.
    pub pick: Option<PickNode>,
}

/// The part of a task in attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickNode {
    /// Its runs are attempts, of which one is picked by this rule.
    Attempts(PickRule),
    /// Its only run judges the attempts of the task of this number. It is opened when they are over.
    JudgeOf(usize),
}

/// The look at attempts that have completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeighedAttempts {
    /// One of them is picked, for this reason.
    Picked {
        /// Its number, from 0.
        attempt: usize,
        /// The reason.
        why: String,
    },
    /// The run of a judge was opened.
    Judged,
    /// None of them can be picked, for this reason.
    Nobody(String),
}

/// A step that follows from the end of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphStep {
    /// The runs of this task may begin.
    Begin(usize),
    /// The runs of this task wait for the results of these others.
    Await(usize, String),
    /// The runs of this task never begin, for this reason.
    Skip(usize, String),
    /// The runs of this map are to be opened: one for each item, or a run that never begins, for
    /// this reason.
    Open(usize, Result<Vec<Value>, String>),
    /// No run of the call that has not begun ever will, for this reason.
    Close(String),
    /// One of these attempts at the task is to be picked, or a judge of them to be opened.
    Weigh(usize, Vec<CompletedAttempt>),
    /// The runs of this task that are not over are stopped: one of them was the first.
    StopRest(usize),
    /// The attempts at a task are over, or need no end any more.
    Picked(PickedAttempt),
}

/// The part that a run has had in its task.
enum EndedPart {
    Usual,
    /// An attempt, of which the first counts.
    FirstCounts,
    /// The judge of the attempts at the task of this number.
    Judge(usize),
}

fn ended_part(node: &GraphNode) -> EndedPart {
    match &node.pick {
        Some(PickNode::Attempts(PickRule::First)) => EndedPart::FirstCounts,
        Some(PickNode::JudgeOf(task)) => EndedPart::Judge(*task),
        Some(PickNode::Attempts(PickRule::Gate | PickRule::Judge { .. })) | None => {
            EndedPart::Usual
        }
    }
}

/// A graph while its call is under way.
#[derive(Debug)]
pub struct GraphProgress {
    tasks: Vec<TaskProgress>,
    stop_after: Option<usize>,
    most_items: usize,
    failures: usize,
    /// The reason why nothing more begins, once nothing does.
    closed: Option<String>,
}

#[derive(Debug)]
struct TaskProgress {
    node: GraphNode,
    /// True if nothing is waited for any more: its runs may begin, or never will.
    is_decided: bool,
    /// The names of the tasks that it was said to wait for.
    awaited: Option<String>,
    /// The number of runs that are not over.
    left: usize,
    /// True while its runs are still to be opened.
    is_unopened: bool,
    /// The results, in the order of their items, which stand beside them.
    results: Vec<NeedResult>,
    items: Vec<usize>,
    /// The result of the attempt that was picked, or the reason why none was, once that is known.
    picked: Option<Result<NeedResult, String>>,
    /// True once its attempts are being weighed.
    is_weighed: bool,
    /// The outcome of its attempts, until all of them are over.
    untold: Option<PickedAttempt>,
}

impl TaskProgress {
    fn is_over(&self) -> bool {
        match self.node.pick {
            Some(PickNode::Attempts(_)) => self.picked.is_some(),
            Some(PickNode::JudgeOf(_)) | None => self.left == 0 && !self.is_unopened,
        }
    }

    /// Returns the attempts that have completed.
    fn completed(&self) -> Vec<CompletedAttempt> {
        let numbered = self.items.iter().zip(&self.results);
        let completed = numbered.filter(|(_, result)| result.is_completed());
        let attempts = completed.map(|(attempt, result)| CompletedAttempt {
            attempt: *attempt,
            result: result.clone(),
        });
        attempts.collect()
    }

    /// Counts the runs of the task that are known so far, with those of earlier calls.
    fn runs(&self) -> usize {
        if self.is_unopened {
            self.node.runs
        } else {
            self.left + self.results.len()
        }
    }

    fn take(&mut self, item: usize, result: NeedResult) {
        let place = self.items.partition_point(|known| *known <= item);
        self.items.insert(place, item);
        self.results.insert(place, result);
    }

    fn results(&self) -> TaskResults<'_> {
        let results = match (&self.node.pick, &self.picked) {
            (Some(PickNode::Attempts(_)), Some(Ok(picked))) => std::slice::from_ref(picked),
            (Some(PickNode::Attempts(_)), _) => &[],
            (Some(PickNode::JudgeOf(_)) | None, _) => self.results.as_slice(),
        };
        TaskResults {
            name: &self.node.name,
            is_map: self.node.is_map,
            results,
        }
    }

    /// Describes the failure of the task, if all is over and not all completed.
    fn failure(&self) -> Option<String> {
        match (&self.node.pick, &self.picked) {
            (Some(PickNode::Attempts(_)), Some(Err(_))) => {
                return Some(format!(
                    "{}, of which no attempt was picked",
                    self.node.name
                ));
            }
            (Some(PickNode::Attempts(_)), _) => return None,
            (Some(PickNode::JudgeOf(_)) | None, _) => {}
        }
        if self.is_over() && self.results.is_empty() {
            return Some(format!("{}, which has no result", self.node.name));
        }
        let failed = self
            .results
            .iter()
            .filter(|result| !result.is_completed())
            .count();
        let name = &self.node.name;
        match (self.is_over(), failed) {
            (false, _) | (true, 0) => None,
            (true, _) if !self.node.is_map => Some(format!("{name}, which did not complete")),
            (true, failed) => {
                let all = self.results.len();
                Some(format!(
                    "{name}, of which {failed} of {all} did not complete"
                ))
            }
        }
    }
}

impl GraphProgress {
    /// Begins a call. Returns its first steps.
    pub fn begin(graph: TaskGraph) -> (Self, Vec<GraphStep>) {
        let TaskGraph {
            tasks,
            stop_after,
            most_items,
        } = graph;
        let tasks = tasks.into_iter().map(|mut node| {
            let done = std::mem::take(&mut node.done);
            let is_judge = matches!(node.pick, Some(PickNode::JudgeOf(_)));
            let mut task = TaskProgress {
                // The end of the attempts decides about their judge.
                is_decided: is_judge,
                awaited: None,
                left: node.runs,
                is_unopened: node.map.is_some() || node.base.is_some() || is_judge,
                picked: None,
                is_weighed: false,
                untold: None,
                results: Vec::new(),
                items: Vec::new(),
                node,
            };
            for (item, result) in done {
                task.take(item, result);
            }
            task
        });
        let mut progress = Self {
            tasks: tasks.collect(),
            stop_after,
            most_items,
            failures: 0,
            closed: None,
        };
        let steps = progress.advance();
        (progress, steps)
    }

    /// Takes the result of a run that is over. Returns the steps that follow.
    pub fn ended(&mut self, task: usize, item: usize, result: NeedResult) -> Vec<GraphStep> {
        let Some(ended) = self.tasks.get_mut(task) else {
            return Vec::new();
        };
        // An attempt that fails is none: its task fails if no attempt is picked.
        let is_failure = result.is_failure() && ended.node.pick.is_none();
        ended.left = ended.left.saturating_sub(1);
        let is_completed = result.is_completed();
        let report = result.structured().cloned();
        ended.take(item, result);
        let mut steps = Vec::new();
        if is_failure {
            steps.extend(self.fail());
        }
        match ended_part(&self.tasks[task].node) {
            EndedPart::FirstCounts if is_completed && self.tasks[task].picked.is_none() => {
                let why = "the first that completed".to_owned();
                steps.push(GraphStep::StopRest(task));
                steps.extend(self.pick(task, Ok((item, why)), Vec::new()));
            }
            EndedPart::Judge(attempts) => steps.extend(self.judge(attempts, report.as_ref())),
            EndedPart::FirstCounts | EndedPart::Usual => {}
        }
        steps.extend(self.advance());
        steps
    }

    /// Counts a failure. Returns the step that follows from one too many.
    fn fail(&mut self) -> Option<GraphStep> {
        self.failures += 1;
        if self.stop_after != Some(self.failures) {
            return None;
        }
        let failures = count(self.failures, "failure");
        let reason = format!("The call begins nothing more after {failures}.");
        self.closed = Some(reason.clone());
        Some(GraphStep::Close(reason))
    }

    /// Takes what was found out about the attempts at a task. Returns the steps that follow.
    pub fn weighed(&mut self, task: usize, weighed: WeighedAttempts) -> Vec<GraphStep> {
        let outcome = match weighed {
            WeighedAttempts::Judged => {
                let judge = self.judge_of(task);
                return judge.map_or_else(Vec::new, |judge| self.opened(judge, 1));
            }
            WeighedAttempts::Picked { attempt, why } => Ok((attempt, why)),
            WeighedAttempts::Nobody(reason) => Err(reason),
        };
        let failed = self.pick(task, outcome, Vec::new());
        failed.into_iter().chain(self.advance()).collect()
    }

    /// Returns the number of the task that judges the attempts at another one.
    pub fn judge_of(&self, task: usize) -> Option<usize> {
        let is_judge = |other: &TaskProgress| other.node.pick == Some(PickNode::JudgeOf(task));
        self.tasks.iter().position(is_judge)
    }

    /// Reads the report of the judge of a task.
    fn judge(&mut self, task: usize, report: Option<&Value>) -> Option<GraphStep> {
        let candidates = self.tasks[task].completed();
        let words = judges_words(report, candidates.len());
        let (outcome, remarks) = match words {
            Ok(words) => {
                let run = |place: usize| candidates[place].result.run().clone();
                let remarks = words
                    .reasons
                    .into_iter()
                    .map(|(place, why)| (run(place), why));
                let remarks: Vec<_> = remarks.collect();
                let winner = &candidates[words.winner];
                let about = |(run, _): &&(RunId, String)| run == winner.result.run();
                let why = remarks.iter().find(about).map(|(_, why)| why.clone());
                let why = why.unwrap_or_else(|| "the choice of the judge".to_owned());
                (Ok((winner.attempt, why)), remarks)
            }
            Err(problem) => {
                let why = format!("{problem}, so all attempts are kept");
                (Err(why), Vec::new())
            }
        };
        self.pick(task, outcome, remarks)
    }

    /// Notes the outcome of attempts. Returns the step that follows if there is none.
    fn pick(
        &mut self,
        task: usize,
        outcome: Result<(usize, String), String>,
        remarks: Vec<(RunId, String)>,
    ) -> Option<GraphStep> {
        let judge = self.judge_of(task);
        let judged_by = judge.and_then(|judge| self.tasks[judge].results.first());
        let judged_by = judged_by.map(|result| result.run().clone());
        if let Some(judge) = judge.filter(|judge| self.tasks[*judge].is_unopened) {
            // Nobody is needed to judge.
            self.tasks[judge].is_unopened = false;
        }
        let of_task = &mut self.tasks[task];
        let numbered = of_task.items.iter().zip(&of_task.results);
        let named = |wanted: usize| {
            let mut numbered = numbered.clone();
            numbered.find_map(|(attempt, result)| (*attempt == wanted).then_some(result))
        };
        let picked = outcome.and_then(|(attempt, why)| {
            let result = named(attempt).ok_or("the attempt that was picked is gone")?;
            Ok((result.clone(), why))
        });
        of_task.untold = Some(PickedAttempt {
            task: of_task.node.name.clone(),
            runs: Vec::new(),
            outcome: picked
                .clone()
                .map(|(result, why)| (result.run().clone(), why)),
            remarks,
            judge: judged_by,
        });
        let has_failed = picked.is_err() && of_task.results.iter().any(NeedResult::is_failure);
        of_task.picked = Some(picked.map(|(result, _)| result));
        if has_failed { self.fail() } else { None }
    }

    /// Returns the outcome of attempts that are all over, once.
    fn tell(&mut self, task: usize) -> Option<GraphStep> {
        let attempts = &mut self.tasks[task];
        let untold = attempts.untold.take_if(|_| attempts.left == 0)?;
        let runs = attempts.results.iter().map(|result| result.run().clone());
        Some(GraphStep::Picked(PickedAttempt {
            runs: runs.collect(),
            ..untold
        }))
    }

    /// Returns the step that follows when all attempts at a task are over.
    fn weigh(&mut self, task: usize) -> Option<GraphStep> {
        let attempts = &mut self.tasks[task];
        let is_due = attempts.is_decided && attempts.left == 0 && !attempts.is_weighed;
        let are_attempts = matches!(attempts.node.pick, Some(PickNode::Attempts(_)));
        if !is_due || !are_attempts || attempts.picked.is_some() {
            return None;
        }
        attempts.is_weighed = true;
        let completed = attempts.completed();
        let all = attempts.results.len();
        match completed.as_slice() {
            [] => {
                let problem = format!("none of the {all} attempts completed");
                self.pick(task, Err(problem), Vec::new())
            }
            [only] => {
                let why = "the only one that completed".to_owned();
                self.pick(task, Ok((only.attempt, why)), Vec::new())
            }
            _ => Some(GraphStep::Weigh(task, completed)),
        }
    }

    /// Takes the number of runs that were opened for a map. Returns the steps that follow.
    pub fn opened(&mut self, task: usize, runs: usize) -> Vec<GraphStep> {
        if let Some(opened) = self.tasks.get_mut(task) {
            opened.left = runs;
            opened.node.runs = runs;
            opened.is_unopened = false;
        }
        self.advance()
    }

    /// Returns whether runs of maps or of judges are still to be opened.
    pub fn is_opening(&self) -> bool {
        self.tasks.iter().any(|task| task.is_unopened)
    }

    /// Returns the results that a task needs, in the order of its needs.
    pub fn results_for(&self, task: usize) -> Vec<TaskResults<'_>> {
        let needs = self.tasks.get(task).map(|task| task.node.needs.as_slice());
        let needs = needs.unwrap_or_default().iter();
        needs.map(|need| self.tasks[*need].results()).collect()
    }

    /// Returns whether the runs of a task may begin as soon as they are accepted: those of a map that
    /// was opened late.
    pub fn has_begun(&self, task: usize) -> bool {
        let task = self.tasks.get(task);
        task.is_some_and(|task| {
            let is_judge = matches!(task.node.pick, Some(PickNode::JudgeOf(_)));
            let is_late = task.node.map.is_some() || task.node.base.is_some() || is_judge;
            task.is_decided && is_late
        })
    }

    /// Names the tasks that the runs of a task wait for; `None` if it waits for none, or has no run.
    fn awaited(&self, task: &TaskProgress) -> Option<String> {
        if task.is_decided || task.node.runs == 0 {
            return None;
        }
        let needs = task.node.needs.iter().map(|need| &self.tasks[*need]);
        let open = needs.filter(|need| !need.is_over());
        let names: Vec<String> = open.map(|need| need.node.name.clone()).collect();
        (!names.is_empty()).then(|| first_of(names, MOST_AWAITED, ", "))
    }

    fn advance(&mut self) -> Vec<GraphStep> {
        let mut steps = Vec::new();
        loop {
            let known = steps.len();
            for number in 0..self.tasks.len() {
                if !self.tasks[number].is_decided
                    && let Some(step) = self.decide(number)
                {
                    self.tasks[number].is_decided = true;
                    if let GraphStep::Open(_, Ok(items)) = &step {
                        self.tasks[number].node.runs = items.len();
                    }
                    steps.push(step);
                }
                steps.extend(self.weigh(number));
                steps.extend(self.tell(number));
            }
            // A choice may let others begin.
            if steps.len() == known {
                break;
            }
        }
        for number in 0..self.tasks.len() {
            let awaited = self.awaited(&self.tasks[number]);
            if let Some(names) = &awaited
                && self.tasks[number].awaited != awaited
            {
                steps.push(GraphStep::Await(number, names.clone()));
                self.tasks[number].awaited = awaited;
            }
        }
        steps
    }

    /// Returns what becomes of a task, as soon as that is decided.
    fn decide(&self, number: usize) -> Option<GraphStep> {
        let task = &self.tasks[number];
        let needs = || task.node.needs.iter().map(|need| &self.tasks[*need]);
        let failure = needs().find_map(TaskProgress::failure);
        let failure = failure.filter(|_| task.node.after_failure == AfterFailure::Skip);
        let failure = failure.map(|failure| format!("It needs {failure}."));
        let is_free = needs().all(TaskProgress::is_over);
        match (self.closed.clone().or(failure), &task.node.map) {
            (Some(reason), None) if task.node.base.is_some() => {
                Some(GraphStep::Open(number, Err(reason)))
            }
            (Some(reason), None) => Some(GraphStep::Skip(number, reason)),
            (Some(reason), Some(_)) => Some(GraphStep::Open(number, Err(reason))),
            (None, _) if !is_free => None,
            (None, None) => Some(match task.node.base {
                Some(base) => GraphStep::Open(number, self.place_of(base).map(|one| vec![one])),
                None => GraphStep::Begin(number),
            }),
            (None, Some(list)) => Some(GraphStep::Open(number, self.items(list))),
        }
    }

    /// Returns the run of a task with its directory, or the reason why there is none.
    fn place_of(&self, task: usize) -> Result<Value, String> {
        let results = self.tasks[task].results();
        let [result] = results.results else {
            return Err(format!("{} has no single result.", results.name));
        };
        let directory = result.directory();
        let directory = directory.ok_or_else(|| format!("{} has no record.", results.name))?;
        Ok(json!({ "run": result.run(), "directory": directory }))
    }

    /// Returns the items of a map, or the reason why it has none.
    fn items(&self, list: &ResultValue) -> Result<Vec<Value>, String> {
        let mut tasks = self.tasks.iter().map(TaskProgress::results);
        let of_task = tasks.find(|results| results.name == list.task);
        match of_task.and_then(|results| results.data(&list.path)) {
            Some(Value::Array(items)) if items.is_empty() => {
                Err(format!("The list {list} is empty."))
            }
            Some(Value::Array(items)) => match self.excess(items.len()) {
                Some(excess) => Err(format!(
                    "The list {list} has {} items, {excess}",
                    items.len()
                )),
                None => Ok(items),
            },
            Some(_) => Err(format!("{list} is not a list.")),
            None => Err(format!("There is no {list}.")),
        }
    }

    /// Says why a call that has these maps already cannot do so many items more, if it cannot.
    fn excess(&self, items: usize) -> Option<String> {
        let all: usize = self.tasks.iter().map(TaskProgress::runs).sum();
        if all + items > MOST_ITEMS {
            return Some(format!(
                "the call has {all} other runs, and a call has at most {MOST_ITEMS}."
            ));
        }
        let maps = self.tasks.iter().filter(|task| task.node.is_map);
        let begun: usize = maps.map(|task| task.node.runs).sum();
        let most = self.most_items;
        (begun + items > most).then(|| match begun {
            0 => format!("and at most {most} are done without a budget."),
            _ => format!(
                "and the other maps have {begun}: at most {most} of them are done without a budget."
            ),
        })
    }
}

#[cfg(test)]
#[path = "task_graph_tests.rs"]
mod tests;
