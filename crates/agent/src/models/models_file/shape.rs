//! Compares the keys and values of `models.json` with the allowed ones, key by key, so that an
//! error names the key and its place. The keys are those of pi; the values that only pi uses may be
//! anything.

use std::path::Path;

use pi_subagents_pi_files::json::{Step, position_of_relaxed};
use pi_subagents_vocabulary::nearest;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::super::entries::ProviderEntry;
use super::ModelsFile;

/// The type that the value of a key must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Switch,
    Number,
    Texts,
    Object,
    List,
    Anything,
}

type Keys = [(&'static str, Kind)];

const ROOT: &Keys = &[("providers", Kind::Object)];

const PROVIDER: &Keys = &[
    ("name", Kind::Text),
    ("baseUrl", Kind::Text),
    ("apiKey", Kind::Text),
    ("api", Kind::Text),
    ("oauth", Kind::Anything),
    ("headers", Kind::Object),
    ("compat", Kind::Object),
    ("authHeader", Kind::Switch),
    ("models", Kind::List),
    ("modelOverrides", Kind::Object),
];

const MODEL: &Keys = &[
    ("id", Kind::Text),
    ("name", Kind::Text),
    ("api", Kind::Text),
    ("baseUrl", Kind::Text),
    ("reasoning", Kind::Switch),
    ("thinkingLevelMap", Kind::Object),
    ("input", Kind::Texts),
    ("inputLimits", Kind::Anything),
    ("cost", Kind::Object),
    ("promptCache", Kind::Anything),
    ("contextWindow", Kind::Number),
    ("maxTokens", Kind::Number),
    ("samplingParams", Kind::Anything),
    ("headers", Kind::Object),
    ("compat", Kind::Object),
];

/// A file that is being compared.
pub(super) struct Shape<'a> {
    path: &'a Path,
    text: &'a str,
    warnings: Vec<String>,
}

impl<'a> Shape<'a> {
    pub(super) fn new(path: &'a Path, text: &'a str) -> Self {
        Self {
            path,
            text,
            warnings: Vec::new(),
        }
    }

    /// Reads the whole file. An error describes the fault and its place.
    pub(super) fn read(mut self, value: &Value) -> Result<ModelsFile, String> {
        let root = self.object(value, &[])?;
        self.compare(root, ROOT, &[])?;
        let mut file = ModelsFile::default();
        let providers = root.get("providers").and_then(Value::as_object);
        for (name, value) in providers.into_iter().flatten() {
            let entry = self.provider(value, &[Step::Key("providers"), Step::Key(name)])?;
            file.providers.insert(name.clone(), entry);
        }
        file.warnings = self.warnings;
        Ok(file)
    }

    fn provider(&mut self, value: &Value, at: &[Step<'_>]) -> Result<ProviderEntry, String> {
        let provider = self.object(value, at)?;
        self.compare(provider, PROVIDER, at)?;
        let models = provider.get("models").and_then(Value::as_array);
        for (index, model) in models.into_iter().flatten().enumerate() {
            let at = [at, &[Step::Key("models"), Step::Index(index)]].concat();
            let fields = self.object(model, &at)?;
            self.compare(fields, MODEL, &at)?;
            if !fields.contains_key("id") {
                return Err(self.wrong(&at, "has no id"));
            }
        }
        let changes = provider.get("modelOverrides").and_then(Value::as_object);
        for (id, model) in changes.into_iter().flatten() {
            let at = [at, &[Step::Key("modelOverrides"), Step::Key(id)]].concat();
            let fields = self.object(model, &at)?;
            self.compare(fields, MODEL, &at)?;
        }
        // The error of serde may repeat a value, and a header may hold a key.
        ProviderEntry::deserialize(value).map_err(|_| {
            self.wrong(
                at,
                "has a header, price, level or limit that is not understood",
            )
        })
    }

    fn object<'v>(
        &self,
        value: &'v Value,
        at: &[Step<'_>],
    ) -> Result<&'v Map<String, Value>, String> {
        let not = || self.wrong(at, &format!("must be an object, not {}", kind_of(value)));
        value.as_object().ok_or_else(not)
    }

    /// Compares the keys of an object with the allowed ones.
    fn compare(
        &mut self,
        fields: &Map<String, Value>,
        known: &Keys,
        at: &[Step<'_>],
    ) -> Result<(), String> {
        for (key, value) in fields {
            let at = [at, &[Step::Key(key)]].concat();
            match known.iter().find(|(name, _)| name == key) {
                Some((_, kind)) if kind.fits(value) => {}
                Some((_, kind)) => {
                    let (wanted, found) = (kind.as_str(), kind_of(value));
                    return Err(self.wrong(&at, &format!("must be {wanted}, not {found}")));
                }
                // A key that resembles no known key may belong to a newer pi, so there is no
                // warning.
                None => {
                    if let Some(meant) = nearest(key, known.iter().map(|(name, _)| *name)) {
                        let doubt = format!("is unknown and ignored; did you mean {meant}?");
                        self.warnings.push(self.wrong(&at, &doubt));
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes a sentence about a fault in the file: its place, its name, and the fault.
    fn wrong(&self, at: &[Step<'_>], what: &str) -> String {
        let place = match position_of_relaxed(self.text, at) {
            Some(position) => position.in_file(self.path),
            None => self.path.display().to_string(),
        };
        match name_of(at).as_str() {
            "" => format!("{place}: the file {what}"),
            name => format!("{place}: {name} {what}"),
        }
    }
}

/// Returns the name of something in the file, such as `providers.local.models[0]`.
fn name_of(at: &[Step<'_>]) -> String {
    let mut name = String::new();
    for step in at {
        match step {
            Step::Key(key) if name.is_empty() => name.push_str(key),
            Step::Key(key) => name.extend([".", key]),
            Step::Index(index) => name.extend(["[", &index.to_string(), "]"]),
        }
    }
    name
}

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Switch => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Texts => {
                let texts = value.as_array();
                texts.is_some_and(|texts| texts.iter().all(Value::is_string))
            }
            Self::Object => value.is_object(),
            Self::List => value.is_array(),
            Self::Anything => true,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Switch => "true or false",
            Self::Number => "a number",
            Self::Texts => "a list of texts",
            Self::Object => "an object",
            Self::List => "a list",
            Self::Anything => "a value",
        }
    }
}

/// Returns the kind of a value, without repeating the value: it may be a key.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_pi_files::json;

    use super::*;

    fn warnings_of(text: &str) -> String {
        let value = json::parse_relaxed(text).unwrap();
        match Shape::new(Path::new("models.json"), text).read(&value) {
            Ok(file) => file.warnings.join("\n"),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        let told = [
            "[]",
            r#"{"provider": {}}"#,
            r#"{"providers": 5}"#,
            "{\n \"providers\": {\n  \"a\": {\"baseURL\": \"http://x\"}}}",
            r#"{"providers": {"a": "http://x"}}"#,
            r#"{"providers": {"a": {"baseUrl": 5}}}"#,
            r#"{"providers": {"a": {"apiKey": ["k"]}}}"#,
            r#"{"providers": {"a": {"models": {"id": "m"}}}}"#,
            r#"{"providers": {"a": {"models": [{"id": "m"}, {"name": "n"}]}}}"#,
            r#"{"providers": {"a": {"models": [{"id": "m", "contextwindow": 5}]}}}"#,
            r#"{"providers": {"a": {"models": [{"id": "m", "input": "text"}]}}}"#,
            r#"{"providers": {"a": {"modelOverrides": {"m": {"maxToken": 5}}}}}"#,
            r#"{"providers": {"a": {"headers": {"x": 5}}}}"#,
            r#"{"providers": {"a": {"somethingOfTomorrow": 5}}}"#,
        ]
        .map(warnings_of);
        insta::assert_snapshot!(told.join("\n"), @"
        error: models.json:1:1: the file must be an object, not a list
        models.json:1:2: provider is unknown and ignored; did you mean providers?
        error: models.json:1:2: providers must be an object, not a number
        models.json:3:9: providers.a.baseURL is unknown and ignored; did you mean baseUrl?
        error: models.json:1:16: providers.a must be an object, not text
        error: models.json:1:22: providers.a.baseUrl must be text, not a number
        error: models.json:1:22: providers.a.apiKey must be text, not a list
        error: models.json:1:22: providers.a.models must be a list, not an object
        error: models.json:1:46: providers.a.models[1] has no id
        models.json:1:45: providers.a.models[0].contextwindow is unknown and ignored; did you mean contextWindow?
        error: models.json:1:45: providers.a.models[0].input must be a list of texts, not text
        models.json:1:47: providers.a.modelOverrides.m.maxToken is unknown and ignored; did you mean maxTokens?
        error: models.json:1:16: providers.a has a header, price, level or limit that is not understood
        ");
    }
}
