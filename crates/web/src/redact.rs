//! Takes secrets out of data that is passed on to other people, and remembers them.
//!
//! Nobody can find every secret in a text. These are the forms of known keys: a person who shares a
//! file still reads it first.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

/// The forms that are taken out: their names for people, and their patterns. The group `secret` is
/// replaced; without such a group the whole match is.
const FORMS: [(&str, &str); 9] = [
    (
        "private key",
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)",
    ),
    (
        "authorization header",
        r"(?i)\bauthorization['\x22]?\s*[:=]\s*['\x22]?(?:(?:bearer|basic|token)\s+)?(?P<secret>[^\s'\x22,;]{6,})",
    ),
    (
        "bearer token",
        r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/=-]{12,})",
    ),
    ("API key", r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{12,}"),
    (
        "token of GitHub or GitLab",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
    ),
    (
        "key of a cloud",
        r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}",
    ),
    (
        "JSON web token",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}",
    ),
    (
        "password in an address",
        r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:(?P<secret>[^\s/@]{3,})@",
    ),
    (
        "value of a variable with a secret name",
        r"(?i)\b[A-Z0-9_]*(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)[A-Z0-9_]*['\x22]?\s*[:=]\s*['\x22]?(?P<secret>[^\s'\x22,;]{8,})",
    ),
];

/// Takes secrets out of texts.
pub(crate) struct Redactor {
    forms: Vec<(&'static str, Regex)>,
    home: String,
    found: BTreeMap<&'static str, usize>,
}

impl Redactor {
    pub(crate) fn new(home: &Path) -> Self {
        let forms = FORMS
            .iter()
            .filter_map(|(name, form)| Some((*name, Regex::new(form).ok()?)));
        Self {
            forms: forms.collect(),
            home: home.display().to_string(),
            found: BTreeMap::new(),
        }
    }

    /// Takes the secrets out of all texts of a value.
    pub(crate) fn clean(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(values) => values.into_iter().map(|value| self.clean(value)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(name, value)| (name, self.clean(value)));
                Value::Object(fields.collect())
            }
            other => other,
        }
    }

    /// Returns the kinds that were taken out, with their numbers.
    pub(crate) fn list(&self) -> Value {
        let found = self.found.iter();
        found
            .map(|(name, times)| json!({"what": name, "times": times}))
            .collect()
    }

    fn text(&mut self, text: String) -> String {
        let mut text = if self.home.len() > 1 {
            text.replace(&self.home, "~")
        } else {
            text
        };
        for (name, form) in &self.forms {
            let mut times = 0;
            let replaced = form.replace_all(&text, |found: &regex::Captures<'_>| {
                times += 1;
                let whole = &found[0];
                match found.name("secret") {
                    Some(secret) => whole.replace(secret.as_str(), &mark(name)),
                    None => mark(name),
                }
            });
            if times > 0 {
                text = replaced.into_owned();
                *self.found.entry(name).or_default() += times;
            }
        }
        text
    }
}

fn mark(name: &str) -> String {
    format!("[{name} removed]")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_form_is_a_regular_expression() {
        for (name, form) in FORMS {
            assert!(Regex::new(form).is_ok(), "{name}");
        }
    }

    #[test]
    fn keys_are_taken_out_and_counted_and_words_stay() {
        let mut redactor = Redactor::new(Path::new("/home/ada"));
        let text = "export OPENAI_API_KEY=abcdefgh12345678\nsk-proj-0123456789abcdef\n\
                    Authorization: Bearer abcdef0123456789abcdef\npostgres://ada:hunter2@db/x\n\
                    /home/ada/lamp/src/main.rs takes 3 tokens: one, two";
        assert_eq!(
            redactor.clean(json!([text])),
            json!([
                "export OPENAI_API_KEY=[value of a variable with a secret name removed]\n\
                 [API key removed]\n\
                 Authorization: Bearer [authorization header removed]\n\
                 postgres://ada:[password in an address removed]@db/x\n\
                 ~/lamp/src/main.rs takes 3 tokens: one, two"
            ])
        );
        let found: Vec<String> = redactor.found.keys().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "API key",
                "authorization header",
                "password in an address",
                "value of a variable with a secret name"
            ]
        );
    }
}
