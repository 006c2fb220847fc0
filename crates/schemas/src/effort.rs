//! Bounds the effort of checking one value. A schema that leads back to itself in two ways at each
//! level doubles its checks with each level of the value, so whether a check ends soon can be said
//! of a schema and a value together, and of neither alone.

use serde_json::{Map, Value};

use crate::references::{IN_PLACE, Targets};

/// The number of schemas that are applied to the parts of one value, each counted as often as it is.
const MOST: u64 = 2_000_000;

/// Keywords whose schema applies to each part of the value that it may apply to.
const TO_EACH: [&str; 6] = [
    "items",
    "additionalItems",
    "contains",
    "unevaluatedItems",
    "additionalProperties",
    "unevaluatedProperties",
];

/// The number of schemas that may lead from one to the next, down into the value. All of them are on
/// the stack at once.
const DEEPEST: usize = 1_000;

/// Returns whether a value can be checked with a schema within the bounds.
pub(crate) fn is_bounded(schema: &Value, value: &Value) -> bool {
    let mut effort = Effort {
        targets: Targets::of(schema),
        left: MOST,
        deeper: DEEPEST,
    };
    effort.spend(schema, value).is_some()
}

/// The effort that is left.
struct Effort<'a> {
    targets: Targets<'a>,
    left: u64,
    /// The number of levels that are left below the present one.
    deeper: usize,
}

impl<'a> Effort<'a> {
    /// Counts the schemas that are applied to a value; `None` if there are too many.
    fn spend(&mut self, schema: &'a Value, value: &Value) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        self.deeper = self.deeper.checked_sub(1)?;
        if let Some(fields) = schema.as_object() {
            self.spend_on_fields(fields, value)?;
        }
        self.deeper += 1;
        Some(())
    }

    fn spend_on_fields(&mut self, fields: &'a Map<String, Value>, value: &Value) -> Option<()> {
        for (_, target) in self.targets.all_of(fields) {
            self.spend(target, value)?;
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
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::OutputSchema;

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
    fn a_schema_that_never_goes_into_the_value_has_an_end() {
        let in_place = json!({"dependentSchemas": {"a": {"$ref": "#"}}});
        assert!(!is_bounded(&in_place, &nested(1)));
    }

    #[test]
    fn the_deepest_check_has_room_on_the_stack_of_a_thread() {
        let links = |count: usize| {
            let next = |link: usize| json!({"$ref": format!("#/$defs/d{}", (link + 1) % count)});
            let definitions = (0..count).map(|link| {
                let schema = match link {
                    0 => json!({"properties": {"a": next(0)}}),
                    _ => next(link),
                };
                (format!("d{link}"), schema)
            });
            json!({"$ref": "#/$defs/d0", "$defs": definitions.collect::<Map<_, _>>()})
        };
        let schema = OutputSchema::new(links(8)).unwrap();
        assert_eq!(schema.check(&nested(100)), Ok(nested(100)));
        let schema = OutputSchema::new(links(90)).unwrap();
        assert_eq!(schema.check(&nested(100)).unwrap_err().count, 1);
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
