//! Previews of the tools that keep a list of things to do.

use pi_subagents_vocabulary::text::{self, CUT_MARK};
use serde_json::Value;

use super::Sentence;
use super::arguments::Arguments;

/// Shows `write_todos → N todos written`.
pub(super) fn write(arguments: Arguments<'_>) -> Sentence {
    let count = match arguments.get(&["todos", "items"]) {
        Some(Value::Array(todos)) => text::count(todos.len(), "todo"),
        Some(_) | None => format!("{CUT_MARK} todos"),
    };
    Sentence::new("write_todos").about(&format!("{count} written"))
}

/// Shows `edit_todos → description`, `edit_todos → action [indices]`, or
/// `edit_todos → action: todo, todo`.
pub(super) fn edit(arguments: Arguments<'_>) -> Sentence {
    let sentence = Sentence::new("edit_todos");
    if let Some(description) = arguments.optional_text(&["description"]) {
        return sentence.about(&description);
    }
    let action = arguments.text(&["action", "status"]);
    match (
        arguments.get(&["indices", "index"]),
        arguments.get(&["todos", "items"]),
    ) {
        (Some(indices), _) => sentence.about(&format!("{action} [{}]", numbers(indices))),
        (None, Some(Value::Array(todos))) if !todos.is_empty() => {
            let named: Vec<&str> = todos.iter().map(named).collect();
            sentence.about(&format!("{action}: {}", named.join(", ")))
        }
        (None, _) => sentence.about(&action),
    }
}

/// Names one thing to do, which is a text or has a field with one.
fn named(todo: &Value) -> &str {
    let fields = ["description", "content", "text", "title"];
    let inside = || fields.iter().find_map(|field| todo.get(field)?.as_str());
    todo.as_str().or_else(inside).unwrap_or(CUT_MARK)
}

fn numbers(indices: &Value) -> String {
    let number = |value: &Value| match value {
        Value::Number(number) => number.to_string(),
        _ => CUT_MARK.to_owned(),
    };
    match indices {
        Value::Array(indices) => {
            let numbers: Vec<String> = indices.iter().map(number).collect();
            numbers.join(", ")
        }
        index => number(index),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::preview::CallOutcome;

    #[test]
    fn a_list_of_any_length_takes_little_room() {
        let todos: Vec<String> = (0..10_000).map(|number| format!("todo {number}")).collect();
        let arguments = json!({"action": "add", "todos": todos});
        assert!(edit(Arguments::new(&arguments)).size() < 5_000);
    }

    #[test]
    fn todos_that_are_added_are_named() {
        let shown = |arguments: Value| {
            edit(Arguments::new(&arguments))
                .fitted(&CallOutcome::Untold, 80)
                .text()
        };
        let todos = json!([{"description": "Buy milk"}, "Call Ada", 3]);
        assert_eq!(
            shown(json!({"action": "add", "todos": todos})),
            "edit_todos → add: Buy milk, Call Ada, ..."
        );
        assert_eq!(
            shown(json!({"action": "complete", "indices": [1, 2]})),
            "edit_todos → complete [1, 2]"
        );
        assert_eq!(
            shown(json!({"description": "Tidy up", "todos": []})),
            "edit_todos → Tidy up"
        );
    }
}
