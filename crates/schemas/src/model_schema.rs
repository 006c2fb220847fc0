//! The form of a schema for a model. Providers refuse parts of JSON Schema, and a refused tool ends
//! a run; the parts that are left out here are checked all the same.

use serde_json::{Map, Value, json};

use crate::references::{BY_NAME, DATA, local};

/// Keywords that are left out: providers refuse them, or they say nothing to a model.
const LEFT_OUT: [&str; 24] = [
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$comment",
    "$vocabulary",
    "$defs",
    "definitions",
    "if",
    "then",
    "else",
    "not",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// The depth to which references are followed.
const DEEPEST: usize = 24;

/// The number of schemas that are written out; a schema beyond that may be anything.
const MOST_SCHEMAS: usize = 2_000;

/// Returns the form of a schema that a model is shown.
pub(crate) fn of(source: &Value) -> Value {
    Offer {
        source,
        open: Vec::new(),
        made: 0,
    }
    .schema(source)
}

struct Offer<'a> {
    source: &'a Value,
    /// The references that are being written out.
    open: Vec<String>,
    made: usize,
}

impl Offer<'_> {
    fn schema(&mut self, schema: &Value) -> Value {
        self.made += 1;
        let Some(fields) = schema.as_object() else {
            // Either word may stand for a schema; a model needs an object.
            return json!({});
        };
        if self.made > MOST_SCHEMAS {
            return json!({});
        }
        let mut offered = self.referred(fields);
        for (keyword, value) in fields {
            if LEFT_OUT.contains(&keyword.as_str()) || is_loose_pattern(keyword, value) {
                continue;
            }
            match keyword.as_str() {
                // For the words that a provider knows, exactly one is one at least.
                "oneOf" => {
                    offered.entry("anyOf").or_insert(self.value("anyOf", value));
                }
                _ => {
                    offered.insert(keyword.clone(), self.value(keyword, value));
                }
            }
        }
        Value::Object(offered)
    }

    /// Writes out the schema that this one refers to, because models cannot follow references.
    fn referred(&mut self, fields: &Map<String, Value>) -> Map<String, Value> {
        let reference = fields.get("$ref").and_then(Value::as_str).and_then(local);
        let Some(reference) = reference else {
            return Map::new();
        };
        if self.open.contains(&reference) || self.open.len() >= DEEPEST {
            return Map::new();
        }
        let Some(target) = self.source.pointer(&reference) else {
            return Map::new();
        };
        self.open.push(reference);
        let written = self.schema(target);
        self.open.pop();
        match written {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    fn value(&mut self, keyword: &str, value: &Value) -> Value {
        match value {
            _ if DATA.contains(&keyword) => value.clone(),
            Value::Object(named) if BY_NAME.contains(&keyword) => named
                .iter()
                .map(|(name, schema)| (name.clone(), self.schema(schema)))
                .collect(),
            Value::Object(_) => self.schema(value),
            Value::Array(list) if list.iter().any(Value::is_object) => {
                list.iter().map(|schema| self.schema(schema)).collect()
            }
            _ => value.clone(),
        }
    }
}

/// Returns whether this is a pattern that may match in the middle, which some servers refuse.
fn is_loose_pattern(keyword: &str, value: &Value) -> bool {
    let is_anchored = |pattern: &str| {
        pattern.starts_with('^') && pattern.ends_with('$') && !pattern.ends_with("\\$")
    };
    keyword == "pattern" && !value.as_str().is_some_and(is_anchored)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::OutputSchema;

    #[test]
    fn a_model_is_shown_the_shape_without_what_providers_refuse() {
        let schema = OutputSchema::new(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "required": ["findings"],
            "additionalProperties": false,
            "properties": {
                "findings": {"type": "array", "items": {"$ref": "#/$defs/finding", "description": "One."}},
                "pattern": {"type": "string", "pattern": "a|b"},
                "id": {"type": "string", "pattern": "^[a-z]+$"},
                "tree": {"$ref": "#/$defs/node"},
                "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
                "const": {"const": {"$ref": "data"}},
                "any": true,
            },
            "if": {"required": ["id"]}, "then": {"required": ["tree"]},
            "$defs": {
                "finding": {"type": "object", "properties": {"file": {"type": "string"}}},
                "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}},
            },
        }))
        .unwrap();
        let offered = serde_json::to_string_pretty(&schema.offered()).unwrap();
        insta::assert_snapshot!(offered, @r#"
        {
          "type": "object",
          "required": [
            "findings"
          ],
          "additionalProperties": false,
          "properties": {
            "findings": {
              "type": "array",
              "items": {
                "type": "object",
                "properties": {
                  "file": {
                    "type": "string"
                  }
                },
                "description": "One."
              }
            },
            "pattern": {
              "type": "string"
            },
            "id": {
              "type": "string",
              "pattern": "^[a-z]+$"
            },
            "tree": {
              "type": "object",
              "properties": {
                "next": {}
              }
            },
            "either": {
              "anyOf": [
                {
                  "type": "string"
                },
                {
                  "type": "integer"
                }
              ]
            },
            "const": {
              "const": {
                "$ref": "data"
              }
            },
            "any": {}
          }
        }
        "#);
    }
}
