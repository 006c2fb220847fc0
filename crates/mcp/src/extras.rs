//! Arguments that the tools of the seeds have only for MCP clients, which read answers and draw no
//! windows: parts of long texts.

use serde_json::{Map, Value, json};

use pi_subagents_calls::families::delegation;
use pi_subagents_calls::service::ToolAnswer;
use pi_subagents_calls::shared_room::{ROOM, page};
use pi_subagents_ground::error::CommandError;

const OFFSET: &str = "offset";
const LIMIT: &str = "limit";

/// The part of a text that a client wants to read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extras {
    offset: usize,
    limit: usize,
}

/// Adds the further arguments to the schema of a tool.
pub(super) fn extend(tool: &str, schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    if is_read(tool) {
        properties.insert(
            OFFSET.to_owned(),
            json!({"type": "integer", "minimum": 0, "description": "First character to return."}),
        );
        properties.insert(LIMIT.to_owned(), json!({"type": "integer", "minimum": 1, "description": "Most characters to return, 20000 unless given."}));
    }
}

fn is_read(tool: &str) -> bool {
    [delegation::OUTPUT, delegation::SESSION].contains(&tool)
}

impl Extras {
    /// Takes them out of the arguments; `None` if the tool has none.
    pub(super) fn take(
        tool: &str,
        arguments: &mut Map<String, Value>,
    ) -> Result<Option<Self>, CommandError> {
        if !is_read(tool) {
            return Ok(None);
        }
        Ok(Some(Self {
            offset: number(OFFSET, arguments.remove(OFFSET).as_ref())?.unwrap_or_default(),
            limit: number(LIMIT, arguments.remove(LIMIT).as_ref())?.unwrap_or(ROOM),
        }))
    }

    /// Changes an answer as these arguments ask for.
    pub(super) fn apply(&self, mut answer: ToolAnswer) -> ToolAnswer {
        answer.text = page(&answer.text, self.offset, self.limit);
        answer
    }
}

/// Reads a whole number; zero counts as left out.
fn number(field: &str, value: Option<&Value>) -> Result<Option<usize>, CommandError> {
    let number = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(other) => other
            .as_u64()
            .and_then(|number| usize::try_from(number).ok()),
    };
    match number {
        Some(0) => Ok(None),
        Some(number) => Ok(Some(number)),
        None => Err(CommandError::usage(format!(
            "{field} must be a whole number"
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
        let extras = extras.map_err(|error| error.to_answer(Door::Mcp))?.unwrap();
        assert!(arguments.is_empty());
        Ok(extras.apply(ToolAnswer::new(text, Value::Null)).text)
    }

    #[test]
    fn a_long_text_is_read_in_parts_and_never_whole_by_accident() {
        assert_eq!(read("größer", json!({})), Ok("größer".to_owned()));
        assert_eq!(
            read("größer", json!({"offset": "3", "limit": 0})),
            Ok("ßer\n\n(characters 3 to 6 of 6)".to_owned())
        );
        let long = read(&"x".repeat(20_001), json!({})).unwrap();
        assert!(
            long.ends_with("x\n\n(characters 0 to 20000 of 20001; offset 20000 reads on)"),
            "{}",
            long.len()
        );
        assert_eq!(
            read("x", json!({"limit": -1})),
            Err("limit must be a whole number".to_owned())
        );
    }
}
