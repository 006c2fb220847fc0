//! From the tasks of a call as they are written to one task for each run, and to the graph of those
//! that wait.

use std::collections::HashMap;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::random;
use pi_subagents_vocabulary::text::first_of;
use pi_subagents_vocabulary::{
    Advice, AfterFailure, AskedTask, BaseChoice, CallOfRun, CallPlace, CheckedTask, ForEach,
    GraphFault, GraphNode, Isolation, MOST_ITEMS, NeedResult, PickNode, PickRule, TaskGraph,
    TaskResults, check_graph, item_name,
};
use serde_json::{Value, json};

use super::attempt_judge::AttemptJudge;
use super::bounds::CallBounds;
use super::map_items::items_of;
use crate::request::TaskRequest;

/// The tasks of a call as they are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenCall {
    pub(crate) tasks: Vec<TaskRequest>,
    /// The number of failures after which nothing more begins, if there is one.
    pub(crate) stop_after: Option<usize>,
    /// What earlier calls have done of it.
    pub(crate) done: DoneTasks,
}

/// The results that earlier calls have left for a call that does the rest.
#[derive(Debug, Clone, Default)]
pub(crate) struct DoneTasks {
    /// The id of the first call, if there was one.
    pub(crate) call: Option<String>,
    pub(crate) results: HashMap<CallPlace, NeedResult>,
}

impl DoneTasks {
    /// Returns the items of a map over a result that is there already.
    fn items(&self, map: &CheckedTask) -> Option<Vec<Value>> {
        let list = map.map.as_ref()?;
        let of_list = |need: &&usize| {
            let place = CallPlace {
                task: **need,
                item: 0,
            };
            self.results
                .get(&place)
                .is_some_and(|result| result.is_of(&list.task))
        };
        let task = *map.needs.iter().find(of_list)?;
        let result = self.results.get(&CallPlace { task, item: 0 })?;
        let results = TaskResults {
            name: &list.task,
            is_map: false,
            results: std::slice::from_ref(result),
        };
        match results.data(&list.path)? {
            Value::Array(items) if !items.is_empty() => Some(items),
            _ => None,
        }
    }

    /// Counts the runs of a task that are done.
    fn count_of(&self, task: usize) -> usize {
        self.results
            .keys()
            .filter(|place| place.task == task)
            .count()
    }
}

/// A call with one task for each run.
pub(crate) struct Unfolded {
    pub(crate) tasks: Vec<TaskRequest>,
    pub(crate) graph: CallGraph,
}

/// The part of a call that says what waits for what.
#[derive(Default)]
pub struct CallGraph {
    /// None if nothing waits.
    pub(crate) graph: Option<TaskGraph>,
    /// The tasks whose items stand in results that are not there yet, by their numbers.
    pub(crate) maps: HashMap<usize, TaskRequest>,
    /// The judges of attempts, by the numbers of the tasks that are tried.
    pub(crate) judges: HashMap<usize, AttemptJudge>,
    pub(crate) warnings: Vec<String>,
}

/// A task that was checked, with the items of its map.
struct WrittenTask {
    number: usize,
    request: TaskRequest,
    checked: CheckedTask,
    /// The items, if it is a map and they are known.
    items: Option<Vec<Value>>,
    /// The number of the task whose result its worktree begins with.
    base: Option<usize>,
}

/// Unfolds the tasks of a call. A call that cannot be done is refused as a whole: nothing was made
/// for it.
pub(crate) fn unfold(call: WrittenCall, bounds: &CallBounds<'_>) -> Result<Unfolded, CommandError> {
    let WrittenCall {
        tasks,
        stop_after,
        done,
    } = call;
    let has_needs = tasks.iter().any(|task| !task.needs.is_empty());
    let has_attempts = tasks.iter().any(|task| task.attempts.is_some());
    let waits = has_needs || stop_after.is_some() || has_attempts;
    if has_needs {
        bounds.check_graph(tasks.len())?;
    } else {
        bounds.check_tasks(tasks.len())?;
    }
    if waits && bounds.is_for_fleet {
        return Err(CommandError::usage(
            "tasks that need each other, attempts and stopAfter cannot be sent to a fleet yet",
        )
        .hint("Leave out --on to do them on this machine."));
    }
    let written = check(tasks, &done, bounds)?;
    let all: usize = written
        .iter()
        .map(|task| {
            let attempts = task.request.attempts.unwrap_or(1);
            task.items.as_ref().map_or(attempts, Vec::len)
        })
        .sum();
    if all > MOST_ITEMS {
        return Err(CommandError::usage(format!(
            "the call has {all} runs, and a call has at most {MOST_ITEMS}"
        ))
        .hint("Make several calls of them."));
    }
    let id = match &done.call {
        Some(id) => id.clone(),
        None => random::new_run_id()?.to_string(),
    };
    let mut unfolded = Unfolded {
        tasks: Vec::new(),
        graph: CallGraph::default(),
    };
    let recorded: Vec<Value> = written
        .iter()
        .map(|task| json!(task.recorded(bounds)))
        .collect();
    let mut graph = TaskGraph {
        tasks: Vec::new(),
        stop_after,
        most_items: bounds.most_items,
    };
    let mut judges = Vec::new();
    let written_tasks = written.len();
    for task in written {
        let judge_number = written_tasks + judges.len();
        judges.extend(task.judge(judge_number, &id, &mut unfolded));
        let call = CallOfRun {
            id: id.clone(),
            place: CallPlace {
                task: task.number,
                item: 0,
            },
            tasks: None,
        };
        let node = task.unfold(&call, &done, &mut unfolded)?;
        graph.tasks.push(node);
    }
    graph.tasks.extend(judges);
    if unfolded.tasks.is_empty() && unfolded.graph.maps.is_empty() {
        return Err(
            CommandError::usage("all runs of this call have completed").advise(
                "",
                Advice::ListRuns,
                ".",
            ),
        );
    }
    if let Some(call) = unfolded
        .tasks
        .first_mut()
        .and_then(|task| task.call.as_mut())
    {
        call.tasks = Some(recorded.into());
    }
    unfolded.graph.graph = waits.then_some(graph);
    Ok(unfolded)
}

fn check(
    tasks: Vec<TaskRequest>,
    done: &DoneTasks,
    bounds: &CallBounds<'_>,
) -> Result<Vec<WrittenTask>, CommandError> {
    let asked = tasks.iter().map(|task| AskedTask {
        name: &task.name,
        needs: &task.needs,
        for_each: task.for_each.as_ref(),
        prompt: &task.prompt,
    });
    let asked: Vec<AskedTask<'_>> = asked.collect();
    let checked = check_graph(&asked).map_err(|fault| {
        let error = CommandError::usage(fault.to_string());
        match fault {
            GraphFault::Circle(_) => error.hint("Leave one of these needs out."),
            GraphFault::UnknownNeed { .. } => {
                let names: Vec<String> = tasks.iter().map(|task| task.name.clone()).collect();
                let names = first_of(names, 8, ", ");
                error.hint(format!("The call has the tasks {names}."))
            }
            GraphFault::SharedName { .. }
            | GraphFault::Placeholder { .. }
            | GraphFault::Map { .. } => error,
        }
    })?;
    let names: Vec<String> = tasks.iter().map(|task| task.name.clone()).collect();
    let tasks = tasks.into_iter().zip(checked).enumerate();
    let written: Vec<WrittenTask> = tasks
        .map(|(number, (mut request, checked))| {
            let cwd = request.cwd.as_deref().unwrap_or(&bounds.cwd);
            check_attempts(&request)?;
            let base = base_task(&request, &checked, &names)?;
            let each = request.for_each.as_ref();
            let items = each.map(|each| items_of(&request.name, each, cwd));
            let items = items.transpose()?.flatten();
            let items = items.or_else(|| done.items(&checked));
            if let Some(ForEach::Lines(file)) = &request.for_each {
                request.items_from = Some(file.clone());
            }
            Ok(WrittenTask {
                number,
                request,
                checked,
                items,
                base,
            })
        })
        .collect::<Result<_, CommandError>>()?;
    let maps = written.iter().filter_map(|task| {
        let items = task.items.as_ref()?.len();
        let left = items.saturating_sub(done.count_of(task.number));
        Some((task.request.name.as_str(), left))
    });
    bounds.check_items(&maps.collect::<Vec<_>>())?;
    Ok(written)
}

/// Returns the number of the task whose result the worktree of a task begins with, if it names one.
fn base_task(
    task: &TaskRequest,
    checked: &CheckedTask,
    names: &[String],
) -> Result<Option<usize>, CommandError> {
    let Some(BaseChoice::Revision(base)) = &task.base else {
        return Ok(None);
    };
    // Its own name is that of a branch.
    let is_meant = |name: &String| name == base && *name != task.name;
    let Some(number) = names.iter().position(is_meant) else {
        return Ok(None);
    };
    let name = &task.name;
    if !checked.needs.contains(&number) {
        let error = format!("{name} has the base {base}, a task that it does not need");
        let hint = format!("Add \"needs\": [\"{base}\"], or write refs/heads/{base} for a branch.");
        return Err(CommandError::usage(error).hint(hint));
    }
    if task.for_each.is_some() || task.attempts.is_some() || task.continues.is_some() {
        return Err(CommandError::usage(format!(
            "{name} has the result of {base} as its base, which goes with neither forEach, attempts nor resume"
        )));
    }
    Ok(Some(number))
}

/// Refuses attempts that cannot be done.
fn check_attempts(task: &TaskRequest) -> Result<(), CommandError> {
    let name = &task.name;
    let given = task.pick.is_some() || !task.models.is_empty();
    let problem = match task.attempts {
        None if given => "has pick or models, which are about attempts, and no attempts",
        Some(_) if task.for_each.is_some() => "has attempts and forEach, which do not go together",
        Some(_) if task.continues.is_some() => {
            "has attempts, which cannot continue one session side by side"
        }
        Some(_) if task.terms.isolation == Some(Isolation::None) => {
            "has attempts, each of which needs a separate worktree"
        }
        Some(_) | None => return Ok(()),
    };
    let hint = "Write \"attempts\": 3 and, if you like, \"pick\" and \"models\".";
    Err(CommandError::usage(format!("{name} {problem}")).hint(hint))
}

impl WrittenTask {
    /// Adds the judge of the attempts at the task, if it has one. Returns its node of the graph.
    fn judge(&self, number: usize, call: &str, unfolded: &mut Unfolded) -> Option<GraphNode> {
        let (Some(_), Some(PickRule::Judge { judge, rubric })) =
            (self.request.attempts, &self.request.pick)
        else {
            return None;
        };
        let name = format!("{} judge", self.request.name);
        let request = TaskRequest {
            agent: Some(judge.clone()),
            cwd: self.request.cwd.clone(),
            call: Some(CallOfRun {
                id: call.to_owned(),
                place: CallPlace {
                    task: number,
                    item: 0,
                },
                tasks: None,
            }),
            ..TaskRequest::new(name.clone(), self.request.prompt.clone())
        };
        let rubric = rubric.clone();
        let judge = AttemptJudge { request, rubric };
        unfolded.graph.judges.insert(self.number, judge);
        Some(GraphNode {
            name,
            needs: vec![self.number],
            after_failure: AfterFailure::default(),
            is_map: false,
            runs: 0,
            map: None,
            done: Vec::new(),
            base: None,
            pick: Some(PickNode::JudgeOf(self.number)),
        })
    }

    /// Returns the task as a record keeps it, so that another process can do it: with the terms of
    /// its call, and with a list in the place of a pattern.
    fn recorded(&self, bounds: &CallBounds<'_>) -> TaskRequest {
        let mut request = self.request.clone();
        request.terms = request.terms.or(bounds.overrides.terms.clone());
        request.base = request.base.or_else(|| bounds.overrides.base.clone());
        request.cwd.get_or_insert_with(|| bounds.cwd.clone());
        if let Some(items) = &self.items {
            request.for_each = Some(ForEach::Items(items.clone()));
        }
        request
    }

    /// Adds a task for each run that is still to be done. Returns its node of the graph.
    fn unfold(
        self,
        call: &CallOfRun,
        done: &DoneTasks,
        unfolded: &mut Unfolded,
    ) -> Result<GraphNode, CommandError> {
        let Self {
            number,
            mut request,
            checked,
            items,
            base,
        } = self;
        let name = request.name.clone();
        let doubts = checked.doubts.iter().map(|doubt| {
            format!("{name}: {doubt} in its prompt names no task of this call, and stays as it is")
        });
        unfolded.graph.warnings.extend(doubts);
        let mut node = GraphNode {
            name,
            needs: checked.needs,
            after_failure: request.after_failure.unwrap_or_default(),
            is_map: request.for_each.is_some(),
            runs: 0,
            map: None,
            done: Vec::new(),
            base: base.filter(|_| done.count_of(number) == 0),
            pick: request
                .attempts
                .map(|_| PickNode::Attempts(request.pick.clone().unwrap_or(PickRule::Gate))),
        };
        request.item_of = checked.map.as_ref().map(|list| list.task.clone());
        request.template = Some(checked.template);
        request.call = Some(call.clone());
        // A list that is there already is like one that the call names.
        if items.is_none() && checked.map.is_some() {
            node.map = checked.map;
            unfolded.graph.maps.insert(number, request);
            return Ok(node);
        }
        if node.base.is_some() {
            unfolded.graph.maps.insert(number, request);
            return Ok(node);
        }
        let attempts = request.attempts.unwrap_or(1);
        let count = items.as_ref().map_or(attempts, Vec::len);
        let is_done_before = done.count_of(number) > 0;
        for item in 0..count {
            let place = CallPlace { task: number, item };
            if let Some(result) = done.results.get(&place) {
                node.done.push((item, result.clone()));
                continue;
            }
            if is_done_before && request.attempts.is_some() {
                // One of the attempts that have completed is picked.
                continue;
            }
            let one = match &items {
                Some(items) => with_item(&request, &items[item], item),
                None if request.attempts.is_some() => Ok(attempt_of(&request, item)),
                None => Ok(request.clone()),
            };
            let one = one.map_err(|problem| {
                CommandError::usage(format!(
                    "the prompt of {} cannot be filled: {problem}",
                    node.name
                ))
            })?;
            node.runs += 1;
            unfolded.tasks.push(one);
        }
        Ok(node)
    }
}

/// Returns one attempt at a task; attempts are counted from 0 here.
fn attempt_of(request: &TaskRequest, attempt: usize) -> TaskRequest {
    let mut one = request.clone();
    one.name = item_name(&request.name, attempt);
    one.terms.isolation = Some(Isolation::Worktree);
    let models = &request.models;
    if let Some(model) = models.get(attempt % models.len().max(1)) {
        one.terms.model = Some(model.clone());
    }
    if let Some(call) = &mut one.call {
        call.place.item = attempt;
    }
    one
}

/// Returns the task for one item of a map; items are counted from 0 here.
pub(super) fn with_item(
    request: &TaskRequest,
    value: &Value,
    item: usize,
) -> Result<TaskRequest, String> {
    let mut one = request.clone();
    one.for_each = None;
    one.name = item_name(&request.name, item);
    if let Some(call) = &mut one.call {
        call.place.item = item;
    }
    let template = request.template.clone().unwrap_or_default();
    let template = template.with_item(value, item + 1)?;
    one.prompt = template.to_string();
    one.template = Some(template);
    Ok(one)
}
