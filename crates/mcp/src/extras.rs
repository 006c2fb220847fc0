//! Arguments that tools have only for MCP clients, which read answers and draw no windows: parts of
//! long texts, and the outputs of a call together with its summary.

use pi_subagents_vocabulary::text::cut_characters;
use serde_json::{Map, Value, json};

use pi_subagents_calls::families::delegation;
use pi_subagents_calls::service::ToolAnswer;
use pi_subagents_ground::error::CommandError;

const OFFSET: &str = "offset";
const LIMIT: &str = "limit";
const OUTPUTS: &str = "includeOutputs";

/// The number of characters of one output in the answer of a call.
const OUTPUT_CHARACTERS: usize = 20_000;

/// The arguments that this door takes beside those of the tool itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extras {
    offset: usize,
    limit: Option<usize>,
    with_outputs: bool,
}

/// Adds the further arguments to the schema of a tool.
pub(super) fn extend(tool: &str, schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    if is_read(tool) {
        properties.insert(OFFSET.to_owned(), json!({"type": "integer", "minimum": 0, "description": "The first character to return."}));
        properties.insert(LIMIT.to_owned(), json!({"type": "integer", "minimum": 1, "description": "How many characters to return."}));
    }
    if tool == delegation::DELEGATE {
        properties.insert(
            OUTPUTS.to_owned(),
            json!({"type": "boolean", "description": "Also return what each sub-agent answered."}),
        );
    }
}

fn is_read(tool: &str) -> bool {
    [delegation::OUTPUT, delegation::SESSION].contains(&tool)
}

impl Extras {
    /// Takes them out of the arguments.
    pub(super) fn take(
        tool: &str,
        arguments: &mut Map<String, Value>,
    ) -> Result<Self, CommandError> {
        let mut extras = Self::default();
        if is_read(tool) {
            extras.offset =
                number(OFFSET, arguments.remove(OFFSET).as_ref(), 0)?.unwrap_or_default();
            extras.limit = number(LIMIT, arguments.remove(LIMIT).as_ref(), 1)?;
        }
        if tool == delegation::DELEGATE {
            extras.with_outputs = match arguments.remove(OUTPUTS) {
                None | Some(Value::Null) => false,
                Some(Value::Bool(wanted)) => wanted,
                Some(Value::String(word)) if word == "true" => true,
                Some(Value::String(word)) if ["", "false"].contains(&&*word) => false,
                Some(_) => {
                    return Err(CommandError::usage(format!(
                        "{OUTPUTS} must be true or false"
                    )));
                }
            };
        }
        Ok(extras)
    }

    /// Changes an answer as these arguments ask for.
    pub(super) fn apply(&self, mut answer: ToolAnswer) -> ToolAnswer {
        if self.with_outputs {
            answer.text += &outputs(&answer.details);
        }
        if self.offset > 0 || self.limit.is_some() {
            answer.text = self.page(&answer.text);
        }
        answer
    }

    fn page(&self, text: &str) -> String {
        let total = text.chars().count();
        let limit = self.limit.unwrap_or(total);
        let shown: String = text.chars().skip(self.offset).take(limit).collect();
        let end = self.offset.saturating_add(limit).min(total);
        let next = if end < total {
            format!("; offset {end} reads on")
        } else {
            String::new()
        };
        let begin = self.offset.min(total);
        format!("{shown}\n\n(characters {begin} to {end} of {total}{next})")
    }
}

/// Returns the answers of the runs of a call, one after the other.
fn outputs(details: &Value) -> String {
    let runs = details["runs"].as_array().into_iter().flatten();
    let parts = runs.filter_map(|run| {
        let output = run["output"].as_str()?.trim_end();
        let name = run["name"].as_str().unwrap_or_default();
        let part = format!("\n\n## {name}\n\n{}", cut_characters(output, OUTPUT_CHARACTERS));
        if output.chars().count() > OUTPUT_CHARACTERS {
            let session = run["sessionId"].as_str().unwrap_or_default();
            return Some(format!(
                "{part}\n\n! It said more; get_subagent_output with sessionId {session} and offset {OUTPUT_CHARACTERS} reads on."
            ));
        }
        Some(part)
    });
    parts.collect()
}

fn number(field: &str, value: Option<&Value>, least: usize) -> Result<Option<usize>, CommandError> {
    let number = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(other) => other
            .as_u64()
            .and_then(|number| usize::try_from(number).ok()),
    };
    match number.filter(|number| *number >= least) {
        Some(number) => Ok(Some(number)),
        None => Err(CommandError::usage(format!(
            "{field} must be a whole number of at least {least}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::Door;
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(text: &str, arguments: Value) -> Result<String, String> {
        let Value::Object(mut arguments) = arguments else {
            panic!("{arguments}");
        };
        let extras = Extras::take(delegation::OUTPUT, &mut arguments);
        let extras = extras.map_err(|error| error.to_answer(Door::Mcp))?;
        assert!(arguments.is_empty());
        Ok(extras.apply(ToolAnswer::new(text, Value::Null)).text)
    }

    #[test]
    fn a_long_text_is_read_in_parts() {
        assert_eq!(read("größer", json!({})), Ok("größer".to_owned()));
        assert_eq!(
            read("größer", json!({"limit": 3})),
            Ok("grö\n\n(characters 0 to 3 of 6; offset 3 reads on)".to_owned())
        );
        assert_eq!(
            read("größer", json!({"offset": "3", "limit": 9})),
            Ok("ßer\n\n(characters 3 to 6 of 6)".to_owned())
        );
        assert_eq!(
            read("größer", json!({"offset": 9})),
            Ok("\n\n(characters 6 to 6 of 6)".to_owned())
        );
        assert_eq!(
            read("x", json!({"limit": 0})),
            Err("limit must be a whole number of at least 1".to_owned())
        );
    }

    #[test]
    fn outputs_stand_below_the_summary() {
        let mut arguments = Map::new();
        arguments.insert("includeOutputs".to_owned(), json!(true));
        let extras = Extras::take(delegation::DELEGATE, &mut arguments).unwrap();
        let details = json!({"runs": [
            {"name": "a", "output": "first\n", "sessionId": "s"},
            {"name": "b", "output": null, "sessionId": "t"},
            {"name": "c", "output": "x".repeat(20_001), "sessionId": "u"},
        ]});
        let text = extras.apply(ToolAnswer::new("summary", details)).text;
        assert!(
            text.starts_with("summary\n\n## a\n\nfirst\n\n## c\n\nxxx"),
            "{text}"
        );
        assert!(
            text.ends_with("sessionId u and offset 20000 reads on."),
            "{text}"
        );
    }
}
