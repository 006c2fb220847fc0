//! Reads the servers of a definition: names of the user's servers, or an object by name.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::check::{check_name, check_reach};
use super::{McpServer, ServerReach};

/// The reason why servers cannot be read, as the end of a sentence that begins with the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ServerFault(String);

const FIELDS: &str =
    "command, args, env, cwd, url, headers, required, startTimeout, timeout, tools, excludeTools";

/// Reads servers: an object by their names, or a list whose texts name servers of the user's
/// `mcp.json`.
pub fn read_servers(value: &Value) -> Result<Vec<McpServer>, ServerFault> {
    let servers = read(value).map_err(ServerFault)?;
    if servers.len() > McpServer::MOST {
        let count = servers.len();
        let most = McpServer::MOST;
        return Err(ServerFault(format!(
            "must have at most {most} servers, not {count}"
        )));
    }
    for (at, server) in servers.iter().enumerate() {
        let checked =
            check_name(&server.name).and_then(|()| check_reach(&server.name, &server.reach));
        checked.map_err(ServerFault)?;
        if servers[..at].iter().any(|other| other.name == server.name) {
            return Err(ServerFault(format!(
                "has the server \"{}\" twice",
                server.name
            )));
        }
    }
    Ok(servers)
}

fn read(value: &Value) -> Result<Vec<McpServer>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(|name| McpServer::new(name, ServerReach::Configured))
            .collect()),
        Value::Array(list) => {
            let items: Result<Vec<_>, _> = list.iter().map(read_item).collect();
            Ok(items?.into_iter().flatten().collect())
        }
        Value::Object(by_name) => by_name
            .iter()
            .map(|(name, fields)| read_one(name, fields))
            .collect(),
        Value::Bool(_) | Value::Number(_) => {
            Err("must be servers by their names, or a list of names of your mcp.json".to_owned())
        }
    }
}

fn read_item(item: &Value) -> Result<Vec<McpServer>, String> {
    match item {
        Value::String(name) => Ok(vec![McpServer::new(name.trim(), ServerReach::Configured)]),
        Value::Object(_) => read(item),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            Err("must be a list of names, or of servers by their names".to_owned())
        }
    }
}

fn read_one(name: &str, value: &Value) -> Result<McpServer, String> {
    let of = |why: String| format!("has the server \"{name}\", which {why}");
    let fields = match value {
        Value::Null => return Ok(McpServer::new(name, ServerReach::Configured)),
        Value::Object(fields) => fields,
        _ => return Err(of(format!("must be an object with some of {FIELDS}"))),
    };
    let reach = reach_of(fields).map_err(of)?;
    let mut server = McpServer::new(name, reach);
    for (field, value) in fields {
        match field.as_str() {
            "command" | "args" | "env" | "cwd" | "url" | "headers" => {}
            "required" => {
                let is_on = value.as_bool();
                server.is_required =
                    is_on.ok_or_else(|| of("needs true or false for \"required\"".to_owned()))?;
            }
            "startTimeout" => server.start_timeout = seconds(field, value).map_err(of)?,
            "timeout" => server.timeout = seconds(field, value).map_err(of)?,
            "tools" => server.tools = Some(texts(field, value).map_err(of)?),
            "excludeTools" => server.excluded_tools = texts(field, value).map_err(of)?,
            other => return Err(of(format!("has no field {other}; known are {FIELDS}"))),
        }
    }
    Ok(server)
}

fn reach_of(fields: &Map<String, Value>) -> Result<ServerReach, String> {
    let of_program = ["command", "args", "env", "cwd"];
    let has = |names: &[&str]| names.iter().any(|name| fields.contains_key(*name));
    match (fields.get("command"), fields.get("url")) {
        (Some(_), Some(_)) => Err("has both a command and a url; keep one".to_owned()),
        (Some(command), None) if !has(&["headers"]) => Ok(ServerReach::Program {
            command: text("command", command)?,
            arguments: fields
                .get("args")
                .map_or(Ok(Vec::new()), |value| texts("args", value))?,
            environment: fields
                .get("env")
                .map_or(Ok(BTreeMap::new()), |value| pairs("env", value))?,
            directory: fields
                .get("cwd")
                .map(|value| text("cwd", value))
                .transpose()?,
        }),
        (None, Some(url)) if !has(&of_program) => Ok(ServerReach::Address {
            url: text("url", url)?,
            headers: fields
                .get("headers")
                .map_or(Ok(BTreeMap::new()), |value| pairs("headers", value))?,
        }),
        (Some(_), None) => Err("has headers, which only a url has".to_owned()),
        (None, Some(_)) => Err("has a url, and with it no args, env or cwd".to_owned()),
        (None, None) if has(&["args", "env", "cwd", "headers"]) => {
            Err("needs a command or a url".to_owned())
        }
        (None, None) => Ok(ServerReach::Configured),
    }
}

fn text(field: &str, value: &Value) -> Result<String, String> {
    let text = value
        .as_str()
        .map(str::trim)
        .filter(|text| !text.is_empty());
    text.map(str::to_owned)
        .ok_or_else(|| format!("needs a text for \"{field}\""))
}

fn texts(field: &str, value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().and_then(|list| {
        let words = list.iter().map(plain);
        words.collect::<Option<Vec<_>>>()
    });
    list.ok_or_else(|| format!("needs a list of texts for \"{field}\""))
}

fn pairs(field: &str, value: &Value) -> Result<BTreeMap<String, String>, String> {
    let pairs = value.as_object().and_then(|pairs| {
        let pairs = pairs
            .iter()
            .map(|(name, value)| Some((name.clone(), plain(value)?)));
        pairs.collect::<Option<BTreeMap<_, _>>>()
    });
    pairs.ok_or_else(|| format!("needs texts by name for \"{field}\""))
}

/// Returns a text; YAML takes a bare port or a bare `true` for something else.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn seconds(field: &str, value: &Value) -> Result<Duration, String> {
    let time = value.as_u64().map(Duration::from_secs);
    time.filter(|time| (Duration::from_secs(1)..=McpServer::LONGEST_TIMEOUT).contains(time))
        .ok_or_else(|| format!("needs whole seconds from 1 to 3600 for \"{field}\""))
}
