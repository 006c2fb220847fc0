//! Servers of the user's own `mcp.json`, which a definition only names.

use std::collections::BTreeMap;

use pi_subagents_files::read_own_text;
use pi_subagents_pi_files::json;
use pi_subagents_vocabulary::ServerReach;
use serde_json::Value;

use super::failure::StartFailure;
use super::{LARGEST_FILE, ServerPlaces};

const FILE: &str = "mcp.json";

/// Returns how the server of this name is reached. Fields that say something else are passed over:
/// the file belongs to pi, and keys may stand in it.
pub(super) fn reach_of(name: &str, places: &ServerPlaces) -> Result<ServerReach, StartFailure> {
    let file = places.agent_dir.join(FILE);
    let refuse = |why: String| StartFailure::NotConfigured(format!("{}: {why}", file.display()));
    let text = read_own_text(&file, LARGEST_FILE)
        .map_err(|error| refuse(format!("it is named there and nowhere else: {error}")))?;
    let value = json::parse_relaxed(&text).map_err(|_| refuse("it is not JSON".to_owned()))?;
    let server = &value["mcpServers"][name];
    let text = |field: &str| server[field].as_str().map(str::to_owned);
    match (text("command"), text("url")) {
        (Some(command), _) => Ok(ServerReach::Program {
            command,
            arguments: texts(&server["args"]),
            environment: pairs(&server["env"]),
            directory: text("cwd"),
        }),
        (None, Some(url)) => Ok(ServerReach::Address {
            url,
            headers: pairs(&server["headers"]),
        }),
        (None, None) => Err(refuse(format!("it has no server {name}"))),
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
