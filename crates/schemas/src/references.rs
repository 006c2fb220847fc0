//! Bounds what a schema may refer to: nothing outside of it, and no more than can be checked.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::{SchemaError, pointer};

/// Keywords whose values are data and no schemas.
pub(crate) const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// Keywords whose values are schemas by name.
pub(crate) const BY_NAME: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// Keywords that apply to the same value as the schema they stand in.
pub(crate) const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/// Keywords that lead to another place of the schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The number of schemas that may lead from one to the next at one place of a value. All of them are
/// on the stack at once.
const MOST_STEPS: usize = 200;

/// The number of schemas that one value may be checked with.
const MOST_AT_ONE_PLACE: u64 = 10_000;

/// Refuses a schema that refers to anything outside of it, or whose references multiply.
pub(crate) fn check(source: &Value) -> Result<(), SchemaError> {
    refuse_external(source, "")?;
    let mut weights = Weights {
        targets: Targets::of(source),
        known: BTreeMap::new(),
        steps: 0,
    };
    weights.visit(source, "")
}

fn refuse_external(schema: &Value, place: &str) -> Result<(), SchemaError> {
    for_each_inner(schema, place, &mut |inner, place| {
        refuse_external(inner, place)
    })?;
    let Some(fields) = schema.as_object() else {
        return Ok(());
    };
    for keyword in REFERENCES {
        if let Some(reference) = fields.get(keyword).and_then(Value::as_str)
            && !reference.starts_with('#')
        {
            return Err(SchemaError::External {
                pointer: format!("{place}/{keyword}"),
                reference: reference.to_owned(),
            });
        }
    }
    Ok(())
}

/// Calls `act` with every schema that stands directly in this one.
fn for_each_inner(
    schema: &Value,
    place: &str,
    act: &mut dyn FnMut(&Value, &str) -> Result<(), SchemaError>,
) -> Result<(), SchemaError> {
    let Some(fields) = schema.as_object() else {
        return Ok(());
    };
    for (keyword, value) in fields {
        if DATA.contains(&keyword.as_str()) {
            continue;
        }
        let place = format!("{place}/{}", escaped(keyword));
        match value {
            Value::Object(named) if BY_NAME.contains(&keyword.as_str()) => {
                for (name, inner) in named {
                    act(inner, &format!("{place}/{}", escaped(name)))?;
                }
            }
            Value::Object(_) => act(value, &place)?,
            Value::Array(list) => {
                for (index, inner) in list.iter().enumerate() {
                    act(inner, &format!("{place}/{index}"))?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The number of schemas that a value is checked with at each place of the schema, references
/// followed.
struct Weights<'a> {
    targets: Targets<'a>,
    /// `None` while a place is being weighed.
    known: BTreeMap<String, Option<u64>>,
    /// The number of places that are being weighed.
    steps: usize,
}

impl Weights<'_> {
    /// Weighs every schema there is.
    fn visit(&mut self, schema: &Value, place: &str) -> Result<(), SchemaError> {
        self.weigh(schema, place)?;
        for_each_inner(schema, place, &mut |inner, place| self.visit(inner, place))
    }

    fn weigh(&mut self, schema: &Value, place: &str) -> Result<u64, SchemaError> {
        match self.known.get(place) {
            Some(Some(weight)) => return Ok(*weight),
            Some(None) => {
                return Err(SchemaError::Endless {
                    pointer: pointer(place),
                    why: "it refers to itself without going into the value",
                });
            }
            None => {}
        }
        self.known.insert(place.to_owned(), None);
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(SchemaError::Endless {
                pointer: pointer(place),
                why: "more than 200 references and choices lead to it without going into the value",
            });
        }
        let weight = match schema.as_object() {
            Some(fields) => 1 + self.weigh_fields(fields, place)?,
            None => 1,
        };
        self.steps -= 1;
        if weight > MOST_AT_ONE_PLACE {
            return Err(SchemaError::Endless {
                pointer: pointer(place),
                why: "its references lead to more than 10,000 checks of one value",
            });
        }
        self.known.insert(place.to_owned(), Some(weight));
        Ok(weight)
    }

    fn weigh_fields(
        &mut self,
        fields: &Map<String, Value>,
        place: &str,
    ) -> Result<u64, SchemaError> {
        let mut weight: u64 = 0;
        for (place, schema) in self.targets.all_of(fields) {
            weight += self.weigh(schema, &place)?;
        }
        for keyword in IN_PLACE {
            match fields.get(keyword) {
                Some(Value::Array(list)) => {
                    for (index, inner) in list.iter().enumerate() {
                        weight += self.weigh(inner, &format!("{place}/{keyword}/{index}"))?;
                    }
                }
                Some(inner @ Value::Object(_)) => {
                    weight += self.weigh(inner, &format!("{place}/{keyword}"))?;
                }
                _ => {}
            }
        }
        Ok(weight)
    }
}

/// The places of a schema that references can lead to.
pub(crate) struct Targets<'a> {
    source: &'a Value,
    /// The schemas that references name by a word instead of their place.
    anchors: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Targets<'a> {
    pub(crate) fn of(source: &'a Value) -> Self {
        let mut anchors = BTreeMap::new();
        find_anchors(source, &mut anchors);
        Self { source, anchors }
    }

    /// Returns the schemas that the fields of a schema refer to, each with a name for its place.
    pub(crate) fn all_of(&self, fields: &Map<String, Value>) -> Vec<(String, &'a Value)> {
        let references = REFERENCES
            .iter()
            .filter_map(|keyword| fields.get(*keyword)?.as_str());
        references.filter_map(|one| self.find(one)).collect()
    }

    fn find(&self, reference: &str) -> Option<(String, &'a Value)> {
        if let Some(place) = local(reference) {
            let schema = self.source.pointer(&place)?;
            return Some((place, schema));
        }
        let schema = self.anchors.get(reference.strip_prefix('#')?)?;
        Some((reference.to_owned(), schema))
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

/// Returns the place in the schema that a reference names by its path.
pub(crate) fn local(reference: &str) -> Option<String> {
    let path = reference.strip_prefix('#')?;
    (path.is_empty() || path.starts_with('/')).then(|| path.replace("%25", "%"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::OutputSchema;

    fn refusal(source: Value) -> String {
        match OutputSchema::new(source) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    /// Makes a schema in which every definition asks twice for the next one.
    fn doubling(levels: usize) -> Value {
        let definitions: serde_json::Map<String, Value> = (0..levels)
            .map(|level| {
                let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
                (format!("d{level}"), json!({"allOf": [next, next]}))
            })
            .chain([(format!("d{levels}"), json!({"type": "string"}))])
            .collect();
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    }

    #[test]
    fn references_may_go_round_only_by_way_of_the_value() {
        let tree = json!({"properties": {"children": {"items": {"$ref": "#"}}}});
        let refusals = [
            refusal(tree),
            refusal(json!({"$ref": "#"})),
            refusal(
                json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#"}]}}}),
            ),
            refusal(json!({"$anchor": "a", "$ref": "#a"})),
            refusal(json!({"$dynamicRef": "#"})),
            refusal(doubling(5)),
            refusal(doubling(64)),
            refusal(doubling(200)),
        ];
        insta::assert_snapshot!(refusals.join("\n"), @"
        fine
        at /: it refers to itself without going into the value
        at /: it refers to itself without going into the value
        at #a: it refers to itself without going into the value
        at /: it refers to itself without going into the value
        fine
        at /$defs/d52: its references lead to more than 10,000 checks of one value
        at /$defs/d99/allOf/0: more than 200 references and choices lead to it without going into the value
        ");
    }
}
