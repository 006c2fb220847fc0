//! Bounds the effort of checking one value. A schema that leads back to itself in two ways at each
//! level doubles its checks with each level of the value, so whether a check ends soon can be said
//! of a schema and a value together, and of neither alone.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::references::{BY_NAME, DATA, local};

/// The number of schemas that are applied to the parts of one value, each counted as often as it is.
const MOST: u64 = 2_000_000;

/// Keywords whose schema or schemas apply to the same value.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Keywords whose schema applies to each part of the value that it may apply to.
const TO_EACH: [&str; 6] = [
    "items",
    "additionalItems",
    "contains",
    "unevaluatedItems",
    "additionalProperties",
    "unevaluatedProperties",
];

/// Keywords that lead to another place of the schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Returns whether a value can be checked with a schema within the bounds.
pub(crate) fn is_bounded(schema: &Value, value: &Value) -> bool {
    let mut anchors = BTreeMap::new();
    find_anchors(schema, &mut anchors);
    let mut effort = Effort {
        source: schema,
        anchors,
        left: MOST,
    };
    effort.spend(schema, value).is_some()
}

/// The effort that is left.
struct Effort<'a> {
    source: &'a Value,
    /// The schemas that references name by a word instead of their place.
    anchors: BTreeMap<&'a str, &'a Value>,
    left: u64,
}

impl<'a> Effort<'a> {
    /// Counts the schemas that are applied to a value; `None` if there are too many.
    fn spend(&mut self, schema: &'a Value, value: &Value) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let Some(fields) = schema.as_object() else {
            return Some(());
        };
        for keyword in REFERENCES {
            let target = fields.get(keyword).and_then(Value::as_str);
            if let Some(target) = target.and_then(|target| self.target(target)) {
                self.spend(target, value)?;
            }
        }
        for keyword in IN_PLACE {
            self.spend_each(fields.get(keyword), value)?;
        }
        match value {
            Value::Array(parts) => self.spend_on_list(fields, parts),
            Value::Object(parts) => self.spend_on_object(fields, parts, value),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(()),
        }
    }

    /// Counts a schema, or each of a list of schemas.
    fn spend_each(&mut self, schemas: Option<&'a Value>, value: &Value) -> Option<()> {
        match schemas {
            Some(Value::Array(schemas)) => {
                for schema in schemas {
                    self.spend(schema, value)?;
                }
                Some(())
            }
            Some(schema) => self.spend(schema, value),
            None => Some(()),
        }
    }

    fn spend_on_list(&mut self, fields: &'a Map<String, Value>, parts: &[Value]) -> Option<()> {
        // A list of schemas applies to the parts one by one; to count all of them is too much, and
        // safe.
        let each = TO_EACH.iter().chain(&["prefixItems"]);
        for keyword in each {
            for part in parts {
                self.spend_each(fields.get(*keyword), part)?;
            }
        }
        Some(())
    }

    fn spend_on_object(
        &mut self,
        fields: &'a Map<String, Value>,
        parts: &Map<String, Value>,
        value: &Value,
    ) -> Option<()> {
        let named = |keyword: &str| fields.get(keyword).and_then(Value::as_object);
        for (name, schema) in named("properties").into_iter().flatten() {
            if let Some(part) = parts.get(name) {
                self.spend(schema, part)?;
            }
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for schema in named(keyword).into_iter().flat_map(Map::values) {
                self.spend(schema, value)?;
            }
        }
        for part in parts.values() {
            for schema in named("patternProperties").into_iter().flat_map(Map::values) {
                self.spend(schema, part)?;
            }
            for keyword in TO_EACH {
                self.spend_each(fields.get(keyword), part)?;
            }
        }
        Some(())
    }

    fn target(&self, reference: &str) -> Option<&'a Value> {
        match local(reference) {
            Some(place) => self.source.pointer(&place),
            None => self.anchors.get(reference.strip_prefix('#')?).copied(),
        }
    }
}

/// Finds the schemas that have a name of their own.
fn find_anchors<'a>(schema: &'a Value, found: &mut BTreeMap<&'a str, &'a Value>) {
    let inner: Vec<&Value> = match schema {
        Value::Object(fields) => {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(name) = fields.get(keyword).and_then(Value::as_str) {
                    found.insert(name, schema);
                }
            }
            let of_field = |(keyword, value): (&'a String, &'a Value)| match value {
                _ if DATA.contains(&keyword.as_str()) => Vec::new(),
                Value::Object(named) if BY_NAME.contains(&keyword.as_str()) => {
                    named.values().collect()
                }
                Value::Array(list) => list.iter().collect(),
                other => vec![other],
            };
            fields.iter().flat_map(of_field).collect()
        }
        _ => Vec::new(),
    };
    for schema in inner {
        find_anchors(schema, found);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Makes a value of objects in each other.
    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!({}), |inner, _| json!({ "a": inner }))
    }

    #[test]
    fn a_schema_that_branches_at_each_level_is_bounded_by_the_value() {
        let again = json!({"properties": {"a": {"$ref": "#"}}});
        let branching = json!({"anyOf": [again, again]});
        assert!(is_bounded(&branching, &nested(10)));
        assert!(!is_bounded(&branching, &nested(60)));
        let again = json!({"properties": {"a": {"$ref": "#node"}}});
        let by_name = json!({"$anchor": "node", "anyOf": [again, again]});
        assert!(!is_bounded(&by_name, &nested(60)));
    }

    #[test]
    fn trees_and_long_lists_can_be_checked() {
        let tree = json!({"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}});
        assert!(is_bounded(&tree, &nested(120)));
        let list = json!({"items": {"properties": {"a": {"type": "object"}}}});
        let value: Value = vec![nested(1); 100_000].into();
        assert!(is_bounded(&list, &value));
    }
}
