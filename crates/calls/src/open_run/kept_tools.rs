//! The tools of a pi that goes on with a session. By itself it keeps the tools that the session had,
//! so a definition that no longer restricts its tools would still be restricted.

use std::collections::BTreeSet;
use std::path::Path;

use pi_subagents_pi_files::{BUILT_IN_TOOLS, DEFAULT_TOOLS, SettingsFile, with_default_tools};
use pi_subagents_records::SessionTools;
use pi_subagents_vocabulary::FINALIZE_TOOL;
use serde_json::Value;

/// A tool of pi's own that the embedded agent does not have.
const POWERSHELL: &str = "powershell";

/// Tools of pi that it switches on by itself where they are needed.
const BY_NEED: [&str; 2] = ["codemode", "tool_search"];

/// Returns the changes in the tools of a session, in the form of pi's `--tools`, so that the child
/// has the same tools as in a new session; `None` if no change is needed.
pub(super) fn changes(
    session: &SessionTools,
    usual: &BTreeSet<String>,
    must_report: bool,
) -> Option<String> {
    let is_built_in = |name: &str| BUILT_IN_TOOLS.contains(&name) || name == POWERSHELL;
    let had: BTreeSet<&String> = session
        .now
        .iter()
        .filter(|name| is_built_in(name))
        .collect();
    let wanted: BTreeSet<&String> = usual.iter().filter(|name| is_built_in(name)).collect();
    let mut changes: Vec<String> = Vec::new();
    // If pi's own tools are the usual ones, nothing was restricted, and the tools that extensions
    // and people switched off stay off.
    if had != wanted {
        let of_extensions = session.ever.iter().filter(|name| {
            !is_built_in(name) && !BY_NEED.contains(&name.as_str()) && *name != FINALIZE_TOOL
        });
        let back = usual.iter().chain(of_extensions);
        let missing = back.filter(|name| !session.now.contains(*name));
        changes.extend(missing.map(|name| format!("+{name}")));
        changes.extend(had.difference(&wanted).map(|name| format!("-{name}")));
    }
    if must_report && !session.now.contains(FINALIZE_TOOL) {
        changes.push(format!("+{FINALIZE_TOOL}"));
    }
    (!changes.is_empty()).then(|| changes.join(","))
}

/// Returns the tools that pi's settings switch on: those of the user, changed by those of a project
/// that counts.
pub(super) fn usual_tools(agent_dir: &Path, trusted_project: Option<&Path>) -> BTreeSet<String> {
    let of_user = SettingsFile::of_user(agent_dir);
    let of_project = trusted_project.map(SettingsFile::of_project);
    // A file that cannot be read has been warned about where the settings were read.
    let files = std::iter::once(of_user).chain(of_project).flatten();
    files.fold(
        DEFAULT_TOOLS.map(str::to_owned).into(),
        |tools, file| match file.get("defaultTools") {
            Some(Value::Array(_)) => with_default_tools(tools, file.texts("defaultTools")),
            Some(_) | None => tools,
        },
    )
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn changed(now: &[&str], ever: &[&str], must_report: bool) -> Option<String> {
        let session = SessionTools {
            now: set(now),
            ever: set(ever),
        };
        changes(&session, &set(&DEFAULT_TOOLS), must_report)
    }

    #[test]
    fn a_session_that_was_restricted_gets_its_usual_tools_back() {
        assert_eq!(
            changed(&["read"], &["read"], false).as_deref(),
            Some("+bash,+edit,+write")
        );
        assert_eq!(
            changed(&["read", "ls"], &["read", "ls", "web", "codemode"], false).as_deref(),
            Some("+bash,+edit,+write,+web,-ls")
        );
        assert_eq!(
            changed(&[], &["subagent_finalize"], true).as_deref(),
            Some("+bash,+edit,+read,+write,+subagent_finalize")
        );
    }

    #[test]
    fn a_session_that_was_not_restricted_is_left_alone() {
        let ever = ["read", "bash", "edit", "write", "web"];
        assert_eq!(changed(&DEFAULT_TOOLS, &ever, false), None);
        assert_eq!(
            changed(&DEFAULT_TOOLS, &ever, true).as_deref(),
            Some("+subagent_finalize")
        );
    }
}
