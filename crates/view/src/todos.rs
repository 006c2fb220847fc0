//! The progress of a child's list of todos, as far as its calls show it.

use std::collections::VecDeque;

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use serde_json::Value;

/// The number of things to do, and how many of them are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TodoProgress {
    /// Done.
    pub completed: usize,
    /// All.
    pub total: usize,
}

/// More calls than this are hardly under way at once.
const MAX_OPEN_CALLS: usize = 64;

/// The list, as a fold over the calls that write it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Todos {
    is_done: Vec<bool>,
    /// The ids and arguments of the newest calls under way; a call that fails changes nothing.
    calls: VecDeque<(String, Value)>,
}

impl Todos {
    pub(crate) fn progress(&self) -> Option<TodoProgress> {
        (!self.is_done.is_empty()).then(|| TodoProgress {
            completed: self.is_done.iter().filter(|is_done| **is_done).count(),
            total: self.is_done.len(),
        })
    }

    pub(crate) fn take(&mut self, record: &ChildRecord) {
        match record {
            ChildRecord::ToolStarted {
                call_id,
                tool,
                arguments,
            } if is_about_todos(tool) => {
                if self.calls.len() == MAX_OPEN_CALLS {
                    self.calls.pop_front();
                }
                self.calls.push_back((call_id.clone(), arguments.clone()));
            }
            ChildRecord::ToolEnded {
                call_id,
                tool,
                is_error,
                details,
                ..
            } if is_about_todos(tool) => {
                let place = self.calls.iter().rposition(|(id, _)| id == call_id);
                let call = place.and_then(|place| self.calls.remove(place));
                let arguments = call.map(|(_, arguments)| arguments).unwrap_or_default();
                if !is_error {
                    self.ended(tool, &arguments, details.as_ref());
                }
            }
            _ => {}
        }
    }

    /// Takes the result of a call. A list that the tool returns counts more than the arguments of
    /// the call.
    fn ended(&mut self, tool: &str, arguments: &Value, details: Option<&Value>) {
        if let Some(list) = details.and_then(list_in) {
            self.is_done = list;
        } else if tool == "write_todos" {
            self.is_done = list_in(arguments).unwrap_or_default();
        } else {
            self.edited(arguments);
        }
    }

    fn edited(&mut self, arguments: &Value) {
        let word = ["action", "status"]
            .iter()
            .find_map(|key| arguments.get(key)?.as_str())
            .unwrap_or_default();
        let places = self.places(arguments);
        match word {
            "add" | "append" | "insert" => {
                let added = list_in(arguments).unwrap_or_else(|| vec![false]);
                self.is_done.extend(added);
            }
            "remove" | "delete" => {
                let mut place = 0;
                self.is_done.retain(|_| {
                    place += 1;
                    !places.contains(&(place - 1))
                });
            }
            "clear" => self.is_done.clear(),
            word => {
                for place in places {
                    if let Some(is_done) = self.is_done.get_mut(place) {
                        *is_done = is_done_word(word);
                    }
                }
            }
        }
    }

    /// Returns the places that a call names. Lists count from 0 or from 1; a call that names the place
    /// behind the last counts from 1.
    fn places(&self, arguments: &Value) -> Vec<usize> {
        let named: Vec<usize> = ["indices", "index", "ids", "id"]
            .iter()
            .find_map(|key| arguments.get(key))
            .map(numbers)
            .unwrap_or_default();
        let first = usize::from(named.contains(&self.is_done.len()) && !named.contains(&0));
        named.iter().map(|number| number - first).collect()
    }
}

fn is_about_todos(tool: &str) -> bool {
    matches!(tool, "write_todos" | "edit_todos")
}

fn numbers(value: &Value) -> Vec<usize> {
    let number = |value: &Value| {
        value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
    };
    match value {
        Value::Array(values) => values.iter().filter_map(number).collect(),
        value => number(value).into_iter().collect(),
    }
}

fn list_in(value: &Value) -> Option<Vec<bool>> {
    let list = ["todos", "items"]
        .iter()
        .find_map(|key| value.get(key)?.as_array())?;
    Some(list.iter().map(is_done).collect())
}

fn is_done(todo: &Value) -> bool {
    let is_flagged = ["done", "completed"]
        .iter()
        .any(|key| todo.get(key).and_then(Value::as_bool) == Some(true));
    let is_called_done = todo
        .get("status")
        .and_then(Value::as_str)
        .is_some_and(is_done_word);
    is_flagged || is_called_done
}

fn is_done_word(word: &str) -> bool {
    matches!(
        word,
        "complete" | "completed" | "done" | "check" | "finish" | "finished"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_that_never_end_are_not_kept_for_ever() {
        let mut todos = Todos::default();
        for number in 0..1000 {
            todos.take(&ChildRecord::ToolStarted {
                call_id: number.to_string(),
                tool: "write_todos".to_owned(),
                arguments: json!({"todos": [{"done": true}, {}]}),
            });
        }
        assert_eq!(todos.calls.len(), MAX_OPEN_CALLS);
        todos.take(&ChildRecord::ToolEnded {
            call_id: "999".to_owned(),
            tool: "write_todos".to_owned(),
            is_error: false,
            details: None,
            last_line: String::new(),
        });
        let progress = todos.progress().unwrap();
        assert_eq!((progress.completed, progress.total), (1, 2));
    }
}
