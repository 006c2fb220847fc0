//! Sessions and their results as resources, for clients that let a person choose some.

use pi_subagents_mcp::{ResourceDescription, ResourceTemplateDescription};
use serde_json::{Value, json};

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::{delegation, runs};
use pi_subagents_calls::service::{CallService, ToolCall};
use pi_subagents_calls::watch::Watch;
use pi_subagents_ground::error::CommandError;

const SESSIONS: &str = "subagent://sessions/";
const OUTPUT: &str = "/output";

/// The number of sessions that are listed, the newest first.
const MOST: usize = 100;

/// Lists the results of the sessions of this client.
pub(super) fn list(
    service: &CallService,
    caller: &Caller,
) -> Result<Vec<ResourceDescription>, CommandError> {
    let mut listed: Vec<ResourceDescription> = Vec::new();
    for run in runs::of_client(service, caller)?.iter().rev() {
        let uri = format!("{SESSIONS}{}{OUTPUT}", run.session);
        if listed.len() < MOST && !listed.iter().any(|known| known.uri == uri) {
            listed.push(ResourceDescription {
                uri,
                name: run.name.clone(),
                title: format!("Result of {}", run.name),
                description: format!("What session {} answered.", run.session),
            });
        }
    }
    Ok(listed)
}

/// Returns the patterns of further resources that a client can read.
pub(super) fn templates() -> Vec<ResourceTemplateDescription> {
    vec![
        ResourceTemplateDescription {
            uri_template: format!("{SESSIONS}{{sessionId}}{OUTPUT}"),
            name: "result".to_owned(),
            title: "Result of a sub-agent session".to_owned(),
            description: "What its latest run answered.".to_owned(),
        },
        ResourceTemplateDescription {
            uri_template: format!("{SESSIONS}{{sessionId}}"),
            name: "session".to_owned(),
            title: "Transcript of a sub-agent session".to_owned(),
            description: "Everything that was said in it, with tool calls and their results."
                .to_owned(),
        },
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
    let call = ToolCall {
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
