//! Sessions and their results as resources, for clients that let a person choose some.

use rmcp::model::{Resource, ResourceTemplate};
use serde_json::{Value, json};

use crate::protocol_lists::{listed_resource, listed_template};
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::{delegation, runs};
use pi_subagents_calls::service::{CallService, ToolRequest};
use pi_subagents_calls::watch::Watch;
use pi_subagents_ground::error::CommandError;

const SESSIONS: &str = "subagent://sessions/";
const OUTPUT: &str = "/output";

/// The number of sessions that are listed, the newest first.
const MOST: usize = 100;

/// Lists the results of the sessions of this client.
pub(super) fn list(service: &CallService, caller: &Caller) -> Result<Vec<Resource>, CommandError> {
    let mut listed: Vec<Resource> = Vec::new();
    for run in runs::of_caller(service, caller)?.iter().rev() {
        let uri = format!("{SESSIONS}{}{OUTPUT}", run.session);
        if listed.len() < MOST && !listed.iter().any(|known| known.uri == uri) {
            let title = format!("Result of {}", run.name);
            let description = format!("What session {} answered.", run.session);
            listed.push(listed_resource(uri, run.name.clone(), title, description));
        }
    }
    Ok(listed)
}

/// Returns the patterns of further resources that a client can read.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        listed_template(
            format!("{SESSIONS}{{sessionId}}{OUTPUT}"),
            "result",
            "Result of a sub-agent session",
            "What its latest run answered.",
        ),
        listed_template(
            format!("{SESSIONS}{{sessionId}}"),
            "session",
            "Transcript of a sub-agent session",
            "Everything that was said in it, with tool calls and their results.",
        ),
    ]
}

/// Returns the tool that reads a resource, with its arguments; `None` if there is no such resource.
fn reading(uri: &str) -> Option<(&'static str, Value)> {
    let rest = uri.strip_prefix(SESSIONS)?;
    let (tool, session) = match rest.strip_suffix(OUTPUT) {
        Some(session) => (delegation::OUTPUT, session),
        None => (delegation::SESSION, rest),
    };
    let is_id = !session.is_empty() && !session.contains('/');
    is_id.then(|| (tool, json!({"sessionId": session})))
}

/// Reads a resource.
pub(super) async fn read(
    service: &std::sync::Arc<CallService>,
    caller: &Caller,
    uri: &str,
) -> Result<String, CommandError> {
    let Some((tool, arguments)) = reading(uri) else {
        return Err(CommandError::not_found(format!(
            "there is no resource {uri}"
        )));
    };
    let call = ToolRequest {
        tool,
        arguments: &arguments,
        caller,
        configuration: None,
    };
    Ok(service.call(call, Watch::nobody()).await?.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_a_session_or_its_result() {
        let session = |id: &str| json!({"sessionId": id});
        assert_eq!(
            reading("subagent://sessions/abc"),
            Some((delegation::SESSION, session("abc")))
        );
        assert_eq!(
            reading("subagent://sessions/abc/output"),
            Some((delegation::OUTPUT, session("abc")))
        );
        for wrong in [
            "",
            "file:///etc/passwd",
            "subagent://sessions/",
            "subagent://sessions/a/b",
            "subagent://sessions//output",
        ] {
            assert_eq!(reading(wrong), None, "{wrong}");
        }
    }
}
