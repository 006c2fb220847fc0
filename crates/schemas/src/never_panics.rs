//! Any JSON is a schema or refused, and any value meets it or not.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::OutputSchema;

/// Makes JSON out of the words that schemas use.
fn words() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3..9_i64).prop_map(Value::from),
        prop::sample::select(vec![
            "object",
            "array",
            "string",
            "#",
            "#/$defs/a",
            "^a$",
            "("
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let keyword = prop::sample::select(vec![
            "type",
            "properties",
            "items",
            "$ref",
            "$defs",
            "a",
            "allOf",
            "oneOf",
            "not",
            "if",
            "then",
            "required",
            "enum",
            "pattern",
            "minLength",
            "additionalProperties",
            "$id",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keyword, inner), 0..4).prop_map(|fields| {
                let fields: Map<String, Value> = fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect();
                Value::Object(fields)
            }),
        ]
    })
}

proptest! {
    #[test]
    fn schemas_and_values_of_any_shape_are_judged(source in words(), value in words()) {
        if let Ok(schema) = OutputSchema::new(source) {
            schema.offered();
            if let Err(misfit) = schema.check(&value) {
                prop_assert!((1..=5).contains(&misfit.lines.len()));
                prop_assert!(misfit.count >= misfit.lines.len());
            }
        }
    }

    #[test]
    fn a_value_that_meets_the_schema_meets_the_offered_one(value in words()) {
        let source = json!({
            "properties": {"a": {"$ref": "#/$defs/a"}, "items": {"oneOf": [{"type": "array"}, {"type": "null"}]}},
            "$defs": {"a": {"type": ["object", "string"], "pattern": "o", "properties": {"a": {"$ref": "#/$defs/a"}}}},
        });
        let schema = OutputSchema::new(source).unwrap();
        let offered = OutputSchema::new(schema.offered()).unwrap();
        if schema.check(&value).is_ok() {
            prop_assert!(offered.check(&value).is_ok());
        }
    }
}
