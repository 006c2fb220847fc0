//! The MCP servers of an agent file: the forms of Claude Code, Gemini CLI and Copilot → ours.
//!
//! A server is a capability: one that cannot be had here is lost. What a file says about the tools of
//! a server restricts, so it is kept, or the whole server is lost.

use std::time::Duration;

use pi_subagents_pi_files::yaml::YamlEntry;
use pi_subagents_vocabulary::{Field, McpServer, read_servers};
use serde_json::{Map, Value, json};

use super::super::values::json;
use super::draft::Draft;

/// Fields that other tools have for looks and habits.
const QUIET: [&str; 7] = [
    "type",
    "transport",
    "trust",
    "description",
    "alwaysAllow",
    "autoApprove",
    "disabled",
];

/// Takes the servers of a file.
pub(super) fn take(draft: &mut Draft, entry: &YamlEntry, key: &'static str) {
    for (name, config) in named(&json(&entry.value.value)) {
        match ours(&name, &config) {
            Ok(Some(server)) => draft.definition.mcp_servers.push(server),
            Ok(None) => {}
            Err(why) => draft.lose(entry, &format!("the server {name}: {why}")),
        }
    }
    if !draft.definition.mcp_servers.is_empty() {
        draft.origin(Field::McpServers, key, entry);
    }
    let servers = draft.definition.mcp_servers.iter();
    draft.tools.servers = servers.map(|server| server.name.clone()).collect();
}

/// Returns the servers by their names; one that is only named has no configuration.
fn named(value: &Value) -> Vec<(String, Value)> {
    match value {
        Value::Object(servers) => {
            let servers = servers.iter();
            servers
                .map(|(name, config)| (name.clone(), config.clone()))
                .collect()
        }
        Value::Array(items) => items.iter().flat_map(named).collect(),
        Value::String(names) => names
            .split(',')
            .map(|name| (name.trim().to_owned(), Value::Null))
            .filter(|(name, _)| !name.is_empty())
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns a server in our form; `None` if its file has switched it off.
fn ours(name: &str, config: &Value) -> Result<Option<McpServer>, String> {
    let Value::Object(theirs) = config else {
        return read(name, config.clone()).map(Some);
    };
    if theirs.get("disabled") == Some(&json!(true)) {
        return Ok(None);
    }
    let kind = theirs.get("type").or(theirs.get("transport"));
    if kind.and_then(Value::as_str) == Some("sse") {
        return Err("it speaks the protocol of 2024 over SSE, which is not spoken here".to_owned());
    }
    let mut fields = Map::new();
    let mut milliseconds = None;
    for (field, value) in theirs {
        match field.as_str() {
            "command" | "args" | "cwd" => _ = fields.insert(field.clone(), value.clone()),
            "env" | "headers" => _ = fields.insert(field.clone(), with_braces(value)?),
            "httpUrl" | "url" => _ = fields.insert("url".to_owned(), value.clone()),
            "timeout" => milliseconds = value.as_f64(),
            "tools" | "includeTools" => {
                if let Some(list) = listed(field, value)? {
                    fields.insert("tools".to_owned(), list);
                }
            }
            "excludeTools" => {
                if let Some(list) = listed(field, value)? {
                    fields.insert("excludeTools".to_owned(), list);
                }
            }
            quiet if QUIET.contains(&quiet) => {}
            other => return Err(format!("its field {other} is not known here")),
        }
    }
    let mut server = read(name, Value::Object(fields))?;
    if let Some(time) = milliseconds {
        let time = Duration::try_from_secs_f64((time / 1000.0).max(1.0)).ok();
        server.timeout = time.map_or(McpServer::LONGEST_TIMEOUT, |time| {
            Duration::from_secs(time.as_secs()).min(McpServer::LONGEST_TIMEOUT)
        });
    }
    Ok(Some(server))
}

fn read(name: &str, config: Value) -> Result<McpServer, String> {
    let one = Value::Object(Map::from_iter([(name.to_owned(), config)]));
    let mut servers = read_servers(&one).map_err(|fault| fault.to_string())?;
    servers.pop().ok_or_else(|| "there is none".to_owned())
}

/// Returns a list of tools; `None` for all of them.
fn listed(field: &str, value: &Value) -> Result<Option<Value>, String> {
    let words: Vec<&str> = match value {
        Value::String(word) => vec![word.as_str()],
        Value::Array(list) => list
            .iter()
            .map(|word| {
                word.as_str()
                    .ok_or_else(|| format!("its {field} must be names"))
            })
            .collect::<Result<_, _>>()?,
        _ => return Err(format!("its {field} must be names")),
    };
    let is_all = words.contains(&"*") && field != "excludeTools";
    Ok((!is_all).then(|| json!(words)))
}

/// Writes `$NAME` as `${NAME}`, which is how we name a variable.
fn with_braces(values: &Value) -> Result<Value, String> {
    let Value::Object(values) = values else {
        return Ok(values.clone());
    };
    let written = values.iter().map(|(name, value)| {
        let Some(text) = value.as_str() else {
            return Ok((name.clone(), value.clone()));
        };
        if text.contains("${{") || text.contains("${input:") {
            return Err(format!(
                "{name} needs a value that only another tool can give"
            ));
        }
        let bare = text.strip_prefix('$').filter(|rest| {
            !rest.is_empty()
                && rest
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let text = bare.map_or_else(
            || text.replace("${env:", "${"),
            |bare| format!("${{{bare}}}"),
        );
        Ok((name.clone(), json!(text)))
    });
    written.collect::<Result<Map<_, _>, _>>().map(Value::Object)
}
