//! Previews of the tools that keep a list of things to do.

use pi_subagents_delegation::text::{self, CUT_MARK};
use serde_json::Value;

use super::Sentence;
use super::arguments::Arguments;

/// `write_todos → N todos written`
pub(super) fn write(arguments: Arguments<'_>) -> Sentence {
    let count = match arguments.get(&["todos", "items"]) {
        Some(Value::Array(todos)) => text::count(todos.len(), "todo"),
        Some(_) | None => format!("{CUT_MARK} todos"),
    };
    Sentence::new("write_todos").about(&format!("{count} written"))
}

/// `edit_todos → description`, or `edit_todos → action [indices]`
pub(super) fn edit(arguments: Arguments<'_>) -> Sentence {
    let sentence = Sentence::new("edit_todos");
    if let Some(description) = arguments.optional_text(&["description"]) {
        return sentence.about(&description);
    }
    let action = arguments.text(&["action", "status"]);
    match arguments.get(&["indices", "index"]) {
        Some(indices) => sentence.about(&format!("{action} [{}]", numbers(indices))),
        None => sentence.about(&action),
    }
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
