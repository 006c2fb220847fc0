//! A schema that a result must meet.

use std::fmt;
use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::effort;
use crate::error::{SchemaError, pointer};
use crate::misfit::{self, Misfit};
use crate::model_schema;
use crate::references;

/// The size of the largest schema that is read, in bytes.
pub const LARGEST_SCHEMA: usize = 64 << 10;

/// The size of the largest schema that a model is told in whole, in bytes.
const LONGEST_TOLD: usize = 8 << 10;

/// The limit of backtracking for a pattern in one text, so that no text can keep us busy.
const MOST_BACKTRACKING: usize = 100_000;

/// A schema that can be checked with. Copies share what was compiled.
#[derive(Clone)]
pub struct OutputSchema {
    source: Arc<Value>,
    validator: Arc<Validator>,
}

impl OutputSchema {
    /// Reads a schema from the text of a file.
    pub fn read(text: &str) -> Result<Self, SchemaError> {
        if text.len() > LARGEST_SCHEMA {
            return Err(SchemaError::TooLarge(text.len()));
        }
        let source = serde_json::from_str(text.trim_start_matches('\u{feff}'));
        Self::new(source.map_err(|error| SchemaError::NotJson(error.to_string()))?)
    }

    /// Compiles a schema.
    pub fn new(source: Value) -> Result<Self, SchemaError> {
        if !source.is_object() {
            return Err(SchemaError::NotAnObject(misfit::kind(&source)));
        }
        let size = source.to_string().len();
        if size > LARGEST_SCHEMA {
            return Err(SchemaError::TooLarge(size));
        }
        references::check(&source)?;
        let validator = jsonschema::options()
            .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MOST_BACKTRACKING))
            .offline()
            .build(&source)
            .map_err(|error| SchemaError::Invalid {
                pointer: pointer(error.instance_path().as_str()),
                message: misfit::short(&error.to_string()),
            })?;
        Ok(Self {
            source: Arc::new(source),
            validator: Arc::new(validator),
        })
    }

    /// Returns the schema as it was written.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Returns the schema as a model is shown it, without what providers refuse.
    pub fn offered(&self) -> Value {
        model_schema::of(&self.source)
    }

    /// Returns what a model should know beside the offered form, if that leaves anything out.
    pub fn remark(&self) -> Option<String> {
        let text = self.source.to_string();
        let is_told = self.offered() == *self.source || text.len() > LONGEST_TOLD;
        (!is_told).then(|| format!("The result is checked against this JSON schema: {text}"))
    }

    /// Checks a value, and returns the value that fits. Models like to write an object as a text;
    /// a text that does not fit but is the JSON of something that does counts as that.
    pub fn check(&self, value: &Value) -> Result<Value, Misfit> {
        let Some(misfit) = self.misfit(value) else {
            return Ok(value.clone());
        };
        let Some(meant) = value
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok())
        else {
            return Err(misfit);
        };
        match self.misfit(&meant) {
            None => Ok(meant),
            // A text that looks like an object was meant as one.
            Some(closer) if meant.is_object() || meant.is_array() => Err(closer),
            Some(_) => Err(misfit),
        }
    }

    /// Returns what does not fit in a value, or `None` if it fits.
    fn misfit(&self, value: &Value) -> Option<Misfit> {
        if !effort::is_bounded(&self.source, value) {
            let words = "it has too many levels to be checked with a schema that refers to itself";
            return Some(Misfit::one(format!("{}: {words}", pointer(""))));
        }
        Misfit::of(&self.validator, value)
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OutputSchema({})", self.source)
    }
}

impl PartialEq for OutputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for OutputSchema {}

/// In JSON it is the schema as it was written.
impl Serialize for OutputSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.source.serialize(serializer)
    }
}

/// A schema of another machine has the same limits as one of this machine.
impl<'de> Deserialize<'de> for OutputSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = Value::deserialize(deserializer)?;
        Self::new(source)
            .map_err(|why| D::Error::custom(format!("outputSchema cannot be used: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn refusal(source: Value) -> String {
        OutputSchema::new(source).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_schema_is_refused_with_its_place() {
        let large = json!({"description": "x".repeat(LARGEST_SCHEMA)});
        let refusals = [
            OutputSchema::read("{").unwrap_err().to_string(),
            refusal(json!([])),
            refusal(json!(true)),
            refusal(large),
            refusal(json!({"type": "strin"})),
            refusal(json!({"properties": {"a": {"minLength": -1}}})),
            refusal(json!({"properties": {"a": {"pattern": "("}}})),
            refusal(json!({"properties": {"a": {"$ref": "https://example.com/a.json"}}})),
            refusal(json!({"properties": {"a": {"$ref": "other.json#/a"}}})),
            refusal(json!({"items": {"$ref": "#/$defs/missing"}})),
            refusal(json!({"$schema": "https://example.com/own"})),
        ];
        insta::assert_snapshot!(refusals.join("\n"), @r#"
        it is not JSON: EOF while parsing an object at line 1 column 1
        a schema is an object, such as {"type": "object"}, not a list
        a schema is an object, such as {"type": "object"}, not a boolean
        it has 65 KB, and a schema may have 64 KB
        at /type: "strin" is not valid under any of the schemas listed in the 'anyOf' keyword
        at /properties/a/minLength: -1 is less than the minimum of 0
        at /properties/a/pattern: "(" is not a "regex"
        at /properties/a/$ref: "https://example.com/a.json" is not in this schema; only references that begin with # are followed
        at /properties/a/$ref: "other.json#/a" is not in this schema; only references that begin with # are followed
        at /: Pointer '/$defs/missing' does not exist
        at /: Unknown meta-schema: 'https://example.com/own'. Custom meta-schemas must be registered in the registry before use
        "#);
    }

    #[test]
    fn names_that_look_like_keywords_are_names() {
        let schema = json!({
            "properties": {"$ref": {"type": "string"}, "pattern": {"type": "string"}},
            "const": {"$ref": "https://example.com/just-data"},
        });
        OutputSchema::new(schema).unwrap();
    }

    #[test]
    fn a_text_that_is_the_json_of_what_fits_counts_as_that() {
        let schema = OutputSchema::new(json!({
            "type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}},
        }))
        .unwrap();
        assert_eq!(schema.check(&json!("{\"n\": 3}")), Ok(json!({"n": 3})));
        assert_eq!(
            schema.check(&json!("{\"m\": 3}")).unwrap_err().lines,
            ["/n: \"n\" is a required property"]
        );
        let text = OutputSchema::new(json!({"type": "string"})).unwrap();
        assert_eq!(text.check(&json!("{\"n\": 3}")), Ok(json!("{\"n\": 3}")));
    }

    #[test]
    fn a_value_that_would_take_for_ever_is_refused_in_words() {
        let again = json!({"properties": {"a": {"$ref": "#"}}});
        let schema = OutputSchema::new(json!({"anyOf": [again, again]})).unwrap();
        let value = (0..100).fold(json!({}), |inner, _| json!({ "a": inner }));
        let misfit = schema.check(&value).unwrap_err();
        assert_eq!(
            misfit.lines,
            ["/: it has too many levels to be checked with a schema that refers to itself"]
        );
    }
}
