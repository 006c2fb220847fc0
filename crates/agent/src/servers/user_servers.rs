//! Servers of the user's own `mcp.json`, which a definition only names.
//!
//! A sandbox hides the file, because keys may stand in it. So the owner of a confined agent reads it,
//! and hands over the entries that are named, where no shell command finds them.

use std::collections::BTreeMap;
use std::path::Path;

use pi_subagents_files::read_own_text;
use pi_subagents_pi_files::json;
use pi_subagents_vocabulary::{ServerReach, variables_in};
use serde_json::{Map, Value, json};

use super::failure::StartFailure;
use super::{LARGEST_FILE, ServerPlaces};

const FILE: &str = "mcp.json";

/// The field of the file with the servers.
const SERVERS: &str = "mcpServers";

/// The variable with the entries that were handed over.
pub(super) const HANDED: &str = "PI_SUBAGENTS_MCP_SERVERS";

/// Entries of `mcp.json` for an agent that does not see the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedServers {
    /// The variable in which the agent looks for them.
    pub variable: &'static str,
    /// Its value. Keys may stand in it.
    pub entries: String,
    /// The variables that the entries name.
    pub named: Vec<String>,
}

impl HandedServers {
    /// Reads the entries with these names. What cannot be read is missed by the agent, which says so.
    pub fn read(names: &[&str], agent_dir: &Path) -> Self {
        let entries = names.iter().filter_map(|name| {
            let entry = entry_of_file(name, agent_dir).ok()?;
            Some(((*name).to_owned(), entry))
        });
        let entries: Map<String, Value> = entries.collect();
        let entries = json!({ SERVERS: entries }).to_string();
        Self {
            variable: HANDED,
            named: variables_in(&entries),
            entries,
        }
    }
}

/// Returns the address of a server of `mcp.json`; `None` if it is a program, or is not there.
pub fn configured_address(name: &str, agent_dir: &Path) -> Option<String> {
    let entry = entry_of_file(name, agent_dir).ok()?;
    match reach(&entry)? {
        ServerReach::Address { url, .. } => Some(url),
        ServerReach::Program { .. } | ServerReach::Configured => None,
    }
}

/// Returns how the server of this name is reached.
pub(super) fn reach_of(name: &str, places: &ServerPlaces) -> Result<ServerReach, StartFailure> {
    let entry = match places.variables.get(HANDED) {
        Some(handed) => entry_of(handed, name),
        None => entry_of_file(name, &places.agent_dir),
    };
    let file = places.agent_dir.join(FILE);
    let refuse = |why: String| StartFailure::NotConfigured(format!("{}: {why}", file.display()));
    let entry = entry.map_err(refuse)?;
    reach(&entry).ok_or_else(|| refuse(format!("it has no server {name}")))
}

/// Returns the variables of the shell that the agent must keep from its commands: what was handed
/// over, and what that names.
pub(super) fn handed_variables(variables: &BTreeMap<String, String>) -> Vec<String> {
    let handed = variables.get(HANDED);
    let named = handed.map(|entries| variables_in(entries));
    let named = named.unwrap_or_default().into_iter();
    named.chain([HANDED.to_owned()]).collect()
}

fn entry_of_file(name: &str, agent_dir: &Path) -> Result<Value, String> {
    let text = read_own_text(&agent_dir.join(FILE), LARGEST_FILE)
        .map_err(|error| format!("it is named there and nowhere else: {error}"))?;
    entry_of(&text, name)
}

fn entry_of(text: &str, name: &str) -> Result<Value, String> {
    let mut value = json::parse_relaxed(text).map_err(|_| "it is not JSON".to_owned())?;
    Ok(value[SERVERS][name].take())
}

/// Fields that say something else are passed over: the file belongs to pi.
fn reach(server: &Value) -> Option<ServerReach> {
    let text = |field: &str| server[field].as_str().map(str::to_owned);
    match (text("command"), text("url")) {
        (Some(command), _) => Some(ServerReach::Program {
            command,
            arguments: texts(&server["args"]),
            environment: pairs(&server["env"]),
            directory: text("cwd"),
        }),
        (None, Some(url)) => Some(ServerReach::Address {
            url,
            headers: pairs(&server["headers"]),
        }),
        (None, None) => None,
    }
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn pairs(value: &Value) -> BTreeMap<String, String> {
    let pairs = value.as_object().into_iter().flatten();
    pairs
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}
