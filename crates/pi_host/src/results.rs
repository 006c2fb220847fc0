//! The entry that pi's session gets when a run has left something in a worktree of its own. With
//! the first one the extension registers the tools for results, now and whenever the session is
//! opened again.

use serde_json::{Value, json};

use super::link::HostLink;
use pi_subagents_runs::workspace::{Workspace, WorkspaceState};

/// The type of these entries; the extension looks for it.
const RESULT_TYPE: &str = "pi-subagents:result";

/// Gives pi's session an entry for each run of an answer that has a result.
pub(super) fn note_results(link: &HostLink, pi_session: &str, details: &Value) {
    let runs = details["runs"].as_array().into_iter().flatten();
    for run in runs {
        let workspace = serde_json::from_value(run["workspace"].clone()).ok();
        if let Some(id) = run["runId"].as_str() {
            note_result(link, pi_session, id, workspace.as_ref());
        }
    }
}

/// Gives pi's session an entry if a run has a result.
pub(super) fn note_result(
    link: &HostLink,
    pi_session: &str,
    run: &str,
    workspace: Option<&Workspace>,
) {
    if workspace.is_some_and(|workspace| workspace.state != WorkspaceState::Unchanged) {
        link.append_entry(pi_session, RESULT_TYPE, &json!({ "runId": run }));
    }
}
