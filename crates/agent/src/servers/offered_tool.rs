//! The tools of a server as a model sees them. A server may describe as many tools as it likes; so
//! many of them, with so many words, reach the model.

use std::collections::BTreeSet;

use pi_subagents_vocabulary::{SERVER_PREFIX, text};
use rmcp::model::Tool;
use serde_json::{Value, json};

use crate::message::ToolDeclaration;

/// The most tools of one server.
const MOST_TOOLS: usize = 128;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 2000;
/// The longest schema of arguments, in bytes.
const LONGEST_SCHEMA: usize = 32 << 10;
/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;

/// A tool of a server.
#[derive(Debug, Clone)]
pub(super) struct OfferedTool {
    /// The name that the server has for it.
    pub(super) name: String,
    /// What the model is told, under a name of ours.
    pub(super) declaration: ToolDeclaration,
}

/// The tools of a server that are used, and what is wrong with the others.
pub(super) struct OfferedTools {
    pub(super) tools: Vec<OfferedTool>,
    pub(super) doubts: Vec<String>,
}

impl OfferedTools {
    pub(super) fn of(server: &str, listed: Vec<Tool>) -> Self {
        let mut offered = Self {
            tools: Vec::new(),
            doubts: Vec::new(),
        };
        let mut names = BTreeSet::new();
        let count = listed.len();
        for tool in listed.into_iter().take(MOST_TOOLS) {
            let shown = our_name(server, &tool.name);
            let schema = Value::Object((*tool.input_schema).clone());
            if schema.to_string().len() > LONGEST_SCHEMA {
                offered.leave_out(&tool.name, "its arguments take more than 32 kB to describe");
            } else if !names.insert(shown.clone()) {
                offered.leave_out(&tool.name, "another tool has the same name");
            } else {
                offered.tools.push(OfferedTool {
                    name: tool.name.into_owned(),
                    declaration: ToolDeclaration {
                        name: shown,
                        description: described(tool.description.as_deref().unwrap_or_default()),
                        parameters: with_type(schema),
                    },
                });
            }
        }
        if count > MOST_TOOLS {
            let words = format!("only the first {MOST_TOOLS} of its {count} tools are used");
            offered.doubts.push(words);
        }
        offered
    }

    fn leave_out(&mut self, tool: &str, why: &str) {
        let tool = text::cut_characters(&text::one_line(tool), LONGEST_NAME);
        self.doubts
            .push(format!("its tool {tool} is left out: {why}"));
    }
}

fn described(description: &str) -> String {
    text::cut_characters(&text::clean(description), LONGEST_DESCRIPTION)
}

/// Returns a schema that providers take: arguments are an object.
fn with_type(mut schema: Value) -> Value {
    if schema["type"] != "object" {
        schema["type"] = json!("object");
    }
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema
}

/// Returns the name that the model uses. Providers take letters, digits, `-` and `_`.
fn our_name(server: &str, tool: &str) -> String {
    let plain = tool.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() || letter == '-' => letter,
        _ => '_',
    });
    let name = format!("{SERVER_PREFIX}{server}__");
    let room = LONGEST_NAME.saturating_sub(name.len());
    name + &plain.take(room).collect::<String>()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use pretty_assertions::assert_eq;
    use serde_json::Map;

    use super::*;

    fn tool(name: &str, description: &str, schema: Value) -> Tool {
        let schema: Map<String, Value> = serde_json::from_value(schema).unwrap();
        Tool::new(name.to_owned(), description.to_owned(), Arc::new(schema))
    }

    #[test]
    fn a_model_sees_so_many_tools_with_so_many_words() {
        let long = "x".repeat(LONGEST_SCHEMA);
        let mut listed = vec![
            tool("find.all", &"word ".repeat(1000), json!({})),
            tool("find_all", "", json!({"type": "object"})),
            tool("large", "", json!({"type": "object", "title": long})),
            tool(&"n".repeat(90), "", json!({"type": "object"})),
        ];
        let offered = OfferedTools::of("docs", listed.clone());
        let names: Vec<&str> = offered
            .tools
            .iter()
            .map(|tool| tool.declaration.name.as_str())
            .collect();
        assert_eq!(names[0], "mcp__docs__find_all");
        assert_eq!(names[1].len(), LONGEST_NAME);
        assert_eq!(
            offered.doubts,
            [
                "its tool find_all is left out: another tool has the same name",
                "its tool large is left out: its arguments take more than 32 kB to describe",
            ]
        );
        let first = &offered.tools[0].declaration;
        assert!(first.description.chars().count() < LONGEST_DESCRIPTION + 20);
        assert_eq!(
            first.parameters,
            json!({"type": "object", "properties": {}})
        );
        listed.extend((0..200).map(|number| tool(&format!("t{number}"), "", json!({}))));
        let flood = OfferedTools::of("docs", listed);
        assert_eq!(flood.tools.len(), MOST_TOOLS - 2);
        assert_eq!(
            flood.doubts.last().unwrap(),
            "only the first 128 of its 204 tools are used"
        );
    }
}
