//! The steps of a graph of tasks while its call is under way: which tasks begin, which never will
//! and why, and which maps are opened.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::for_each::MOST_ITEMS;
use super::need_result::{NeedResult, TaskResults};
use super::placeholder::ResultValue;
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
}

impl TaskProgress {
    fn is_over(&self) -> bool {
        self.left == 0 && !self.is_unopened
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
        TaskResults {
            name: &self.node.name,
            is_map: self.node.is_map,
            results: &self.results,
        }
    }

    /// Describes the failure of the task, if all is over and not all completed.
    fn failure(&self) -> Option<String> {
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
            let mut task = TaskProgress {
                is_decided: false,
                awaited: None,
                left: node.runs,
                is_unopened: node.map.is_some(),
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
        let is_failure = result.is_failure();
        ended.left = ended.left.saturating_sub(1);
        ended.take(item, result);
        let mut steps = Vec::new();
        if is_failure {
            self.failures += 1;
            if self.stop_after == Some(self.failures) {
                let failures = count(self.failures, "failure");
                let reason = format!("The call begins nothing more after {failures}.");
                steps.push(GraphStep::Close(reason.clone()));
                self.closed = Some(reason);
            }
        }
        steps.extend(self.advance());
        steps
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

    /// Returns whether runs of maps are still to be opened.
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
        task.is_some_and(|task| task.is_decided && task.node.map.is_some())
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
            (Some(reason), None) => Some(GraphStep::Skip(number, reason)),
            (Some(reason), Some(_)) => Some(GraphStep::Open(number, Err(reason))),
            (None, _) if !is_free => None,
            (None, None) => Some(GraphStep::Begin(number)),
            (None, Some(list)) => Some(GraphStep::Open(number, self.items(list))),
        }
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
