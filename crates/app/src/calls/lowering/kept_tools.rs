//! The tools of a pi that goes on with a session: it has those the session had, unless it is told
//! otherwise. So a definition that restricts its tools no longer would still be restricted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pi_subagents_files::read_own;
use pi_subagents_sessions::SessionTools;
use serde_json::Value;

/// The tools a pi has where nobody has chosen any.
const USUAL: [&str; 4] = ["read", "bash", "edit", "write"];

/// All tools that are pi's own.
const BUILT_IN: [&str; 8] = [
    "read",
    "bash",
    "powershell",
    "edit",
    "write",
    "grep",
    "find",
    "ls",
];

/// Tools of pi that it switches on by itself where they are needed.
const BY_NEED: [&str; 2] = ["codemode", "tool_search"];

/// The tool by which a child reports.
const FINALIZE: &str = "subagent_finalize";

/// Settings are not read beyond this.
const LARGEST_SETTINGS: u64 = 1 << 20;

/// Returns what must be changed in the tools of a session, as pi's `--tools` writes it, so that the
/// child has the tools it would have in a new one; none if nothing must be changed.
pub(super) fn changes(
    session: &SessionTools,
    usual: &BTreeSet<String>,
    must_report: bool,
) -> Option<String> {
    let is_built_in = |name: &str| BUILT_IN.contains(&name);
    let had: BTreeSet<&String> = session
        .now
        .iter()
        .filter(|name| is_built_in(name))
        .collect();
    let wanted: BTreeSet<&String> = usual.iter().filter(|name| is_built_in(name)).collect();
    let mut changes: Vec<String> = Vec::new();
    // Where pi's own tools are the usual ones, nothing was restricted, and what extensions and
    // people switched off stays off.
    if had != wanted {
        let of_extensions = session.ever.iter().filter(|name| {
            !is_built_in(name) && !BY_NEED.contains(&name.as_str()) && *name != FINALIZE
        });
        let back = usual.iter().chain(of_extensions);
        let missing = back.filter(|name| !session.now.contains(*name));
        changes.extend(missing.map(|name| format!("+{name}")));
        changes.extend(had.difference(&wanted).map(|name| format!("-{name}")));
    }
    if must_report && !session.now.contains(FINALIZE) {
        changes.push(format!("+{FINALIZE}"));
    }
    (!changes.is_empty()).then(|| changes.join(","))
}

/// Returns the tools that pi's settings switch on, those of the user and then those of a project
/// that counts.
pub(super) fn usual_tools(agent_dir: &Path, trusted_project: Option<&Path>) -> BTreeSet<String> {
    let of_user = Some(agent_dir.join("settings.json"));
    let of_project = trusted_project.map(|project| project.join(".pi/settings.json"));
    let files: Vec<PathBuf> = of_user.into_iter().chain(of_project).collect();
    let settings = files.iter().map(|file| {
        let content = read_own(file, LARGEST_SETTINGS).unwrap_or_default();
        serde_json::from_slice(&content).unwrap_or_default()
    });
    settings.fold(USUAL.map(str::to_owned).into(), |tools, setting: Value| {
        with_setting(tools, &setting)
    })
}

/// Plain names replace what there is; `+name` adds one and `-name` takes one away.
fn with_setting(mut tools: BTreeSet<String>, settings: &Value) -> BTreeSet<String> {
    let Some(listed) = settings.get("defaultTools").and_then(Value::as_array) else {
        return tools;
    };
    let names: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
    if names.is_empty() || names.iter().any(|name| !name.starts_with(['+', '-'])) {
        tools.clear();
    }
    for name in names {
        match (name.strip_prefix('+'), name.strip_prefix('-')) {
            (_, Some(taken)) => {
                tools.remove(taken);
            }
            (added, None) => {
                tools.insert(added.unwrap_or(name).to_owned());
            }
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn changed(now: &[&str], ever: &[&str], must_report: bool) -> Option<String> {
        let session = SessionTools {
            now: set(now),
            ever: set(ever),
        };
        changes(&session, &set(&USUAL), must_report)
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
        assert_eq!(changed(&USUAL, &ever, false), None);
        assert_eq!(
            changed(&USUAL, &ever, true).as_deref(),
            Some("+subagent_finalize")
        );
    }

    #[test]
    fn settings_replace_add_and_take_away() {
        let usual = || USUAL.map(str::to_owned).into();
        let tools = |names: Value| with_setting(usual(), &json!({"defaultTools": names}));
        assert_eq!(tools(json!(["read"])), set(&["read"]));
        assert_eq!(tools(json!([])), set(&[]));
        assert_eq!(
            tools(json!(["+ls", "-bash"])),
            set(&["read", "edit", "write", "ls"])
        );
        assert_eq!(with_setting(usual(), &Value::Null), set(&USUAL));
    }
}
