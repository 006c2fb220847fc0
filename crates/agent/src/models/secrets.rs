//! Finds the variables of the environment that hold secrets: those of the built-in providers, and
//! those that the user's files name.

use std::collections::BTreeSet;
use std::path::Path;

use pi_subagents_files::read_own_text;
use pi_subagents_pi_files::json;
use serde_json::Value;

use super::credentials::AUTH_FILE;
use super::models_file::MODELS_FILE;
use super::{LARGEST_FILE, builtin, interpolation};

/// A command that prints a key, or a server, may name these; they are no secrets, and no shell works without.
const EVERYDAY: [&str; 10] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TMPDIR", "PWD",
];

/// Returns the names of the variables that hold secrets, which no shell command gets: those of
/// the built-in providers, and those that `models.json` and `auth.json` name.
pub fn secret_variables(agent_dir: &Path) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = builtin::key_variables().map(str::to_owned).collect();
    for file in [MODELS_FILE, AUTH_FILE] {
        // A file that cannot be read names no variable, and has no key either.
        let text = read_own_text(&agent_dir.join(file), LARGEST_FILE).unwrap_or_default();
        if let Ok(value) = json::parse_relaxed(&text) {
            collect(&value, &mut names);
        }
    }
    names.retain(|name| !is_everyday(name));
    names
}

/// Returns whether a variable is no secret, whoever names it.
pub fn is_everyday(name: &str) -> bool {
    EVERYDAY.contains(&name)
}

/// Adds the names in keys and headers, at every level.
fn collect(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("apiKey" | "key", Value::String(key)) => names.extend(named(key)),
                    ("headers", Value::Object(headers)) => {
                        let headers = headers.values().filter_map(Value::as_str);
                        names.extend(headers.flat_map(named));
                    }
                    (_, value) => collect(value, names),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the variables in a value, also where it is a command that uses them.
fn named(value: &str) -> Vec<String> {
    interpolation::names(value.strip_prefix('!').unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_headers_and_commands_name_secrets() {
        let directory = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write(
            MODELS_FILE,
            r#"{ // The user's own.
            "providers": {"a": {
                "baseUrl": "http://$HOST/", "apiKey": "$ONE", "headers": {"x": "Bearer ${TWO}"},
                "models": [{"id": "$ID", "headers": {"y": "!pass $THREE $HOME"}}],
                "modelOverrides": {"m": {"headers": {"z": "$FOUR-$$NONE"}}}}}}"#,
        );
        write(AUTH_FILE, r#"{"b": {"type": "api_key", "key": "$FIVE"}}"#);
        let mut names = secret_variables(directory.path());
        for name in builtin::key_variables() {
            names.remove(name);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["FIVE", "FOUR", "ONE", "THREE", "TWO"]);
    }
}
