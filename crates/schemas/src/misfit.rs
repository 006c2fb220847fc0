//! The misfit of a value, in a few lines for the model that wrote it.

use jsonschema::Validator;
use jsonschema::error::{ValidationError, ValidationErrorKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::pointer;

/// The number of lines that a model reads at once.
const MOST_LINES: usize = 5;

/// The number of mistakes that are counted.
const MOST_COUNTED: usize = 1_000;

/// The number of characters of a mistake that are shown; a message repeats the value.
const LONGEST: usize = 200;

/// The mistakes of a value that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Misfit {
    /// The first mistakes, each with its place: `/findings/0/file: "file" is a required property`.
    #[serde(rename = "errors")]
    pub lines: Vec<String>,
    /// The number of mistakes, up to a thousand.
    #[serde(rename = "errorCount")]
    pub count: usize,
}

impl Misfit {
    /// Returns what does not fit in a value, or `None` if it fits.
    pub(crate) fn of(validator: &Validator, value: &Value) -> Option<Self> {
        let mut errors = validator.iter_errors(value).take(MOST_COUNTED);
        let lines: Vec<String> = errors
            .by_ref()
            .take(MOST_LINES)
            .map(|error| line(&error))
            .collect();
        let count = lines.len() + errors.count();
        (count > 0).then_some(Self { lines, count })
    }

    /// Returns the words by which a model is told that its result does not fit.
    pub fn correction(&self) -> String {
        let lines = self.lines.join("\n");
        let more = match self.count - self.lines.len().min(self.count) {
            0 => String::new(),
            more => format!("\n(and {more} more)"),
        };
        format!(
            "The result does not meet the schema:\n{lines}{more}\nCall subagent_finalize again with a result that meets it."
        )
    }

    /// Makes a misfit of one mistake.
    pub fn one(line: impl Into<String>) -> Self {
        Self {
            lines: vec![line.into()],
            count: 1,
        }
    }
}

fn line(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let place = match error.kind() {
        // The place where it is missing is where it belongs.
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
        }
        _ => pointer(place),
    };
    format!("{place}: {}", short(&error.to_string()))
}

/// Cuts a message in the middle: its end says what is wrong, its beginning with what.
pub(crate) fn short(message: &str) -> String {
    let one_line: Vec<char> = message
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if one_line.len() <= LONGEST {
        return one_line.into_iter().collect();
    }
    let half = LONGEST / 2;
    let head: String = one_line[..half].iter().collect();
    let tail: String = one_line[one_line.len() - half..].iter().collect();
    format!("{head} … {tail}")
}

/// Returns the word for the kind of a value.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::OutputSchema;

    #[test]
    fn five_mistakes_are_told_and_all_are_counted() {
        let schema = OutputSchema::new(json!({
            "type": "object",
            "required": ["findings"],
            "additionalProperties": false,
            "properties": {"findings": {"type": "array", "items": {
                "type": "object",
                "required": ["file", "line"],
                "properties": {
                    "file": {"type": "string"},
                    "line": {"type": "integer", "minimum": 1},
                    "kind": {"enum": ["bug", "style"]},
                },
            }}},
        }))
        .unwrap();
        let value = json!({"findings": [
            {"line": 0, "kind": "x".repeat(500)}, {"file": 7, "line": "one"}, {}, "no",
        ], "a/b": 1});
        let misfit = schema.check(&value).unwrap_err();
        let text = format!("{}\n{} mistakes", misfit.lines.join("\n"), misfit.count);
        insta::assert_snapshot!(text, @r#"
        /findings/0/file: "file" is a required property
        /findings/0/line: 0 is less than the minimum of 1
        /findings/0/kind: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx … xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is not one of "bug" or "style"
        /findings/1/file: 7 is not of type "string"
        /findings/1/line: "one" is not of type "integer"
        9 mistakes
        "#);
    }
}
