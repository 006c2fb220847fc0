//! The name of a tool: ours, where an agent's tool does the same.

use pi_subagents_vocabulary::FINALIZE_TOOL;

/// Names of agents' tools, in small letters, and ours.
const NAMES: [(&str, &str); 26] = [
    ("bash", "bash"),
    ("shell", "bash"),
    ("run_shell_command", "bash"),
    ("exec_command", "bash"),
    ("local_shell", "bash"),
    ("read", "read"),
    ("view", "read"),
    ("read_file", "read"),
    ("read_many_files", "read"),
    ("notebookread", "read"),
    ("write", "write"),
    ("create", "write"),
    ("write_file", "write"),
    ("edit", "edit"),
    ("multiedit", "edit"),
    ("notebookedit", "edit"),
    ("replace", "edit"),
    ("patch", "edit"),
    ("apply_patch", "edit"),
    ("grep", "grep"),
    ("grep_search", "grep"),
    ("search_file_content", "grep"),
    ("glob", "find"),
    ("ls", "ls"),
    ("list", "ls"),
    ("list_directory", "ls"),
];

/// The number of characters of a name that are kept.
const LONGEST: usize = 100;

/// Returns the name of a tool by the agent's name for it and by its kind.
pub(crate) fn tool_name(own: &str, kind: &str) -> String {
    if own.contains(FINALIZE_TOOL) {
        return FINALIZE_TOOL.to_owned();
    }
    let small = own.to_lowercase();
    if let Some(row) = NAMES.iter().find(|row| row.0 == small) {
        return row.1.to_owned();
    }
    let of_kind = match kind {
        "execute" => Some("bash"),
        "read" => Some("read"),
        "edit" => Some("edit"),
        "search" => Some("grep"),
        _ => None,
    };
    // A tool of an MCP server keeps its name, whatever kind its agent takes it for.
    match of_kind {
        Some(name) if !small.starts_with("mcp__") => name.to_owned(),
        _ if own.is_empty() => if kind.is_empty() { "other" } else { kind }.to_owned(),
        _ => own.chars().take(LONGEST).collect(),
    }
}
