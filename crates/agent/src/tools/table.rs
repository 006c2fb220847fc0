//! The table of tools, with the description of each that goes to the model.

use pi_subagents_vocabulary::{ASK_TOOL, FINALIZE_TOOL, OutputSchema};
use serde_json::{Value, json};

use crate::message::ToolDeclaration;

/// The tools there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolName {
    Read,
    Bash,
    Edit,
    Write,
    Grep,
    Find,
    Ls,
    Finalize,
    Ask,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: ToolName,
    /// The name the model uses.
    pub(crate) id: &'static str,
    description: &'static str,
    /// The line in the prompt's list of tools.
    pub(crate) snippet: &'static str,
    /// Rules in the prompt while the tool is there.
    pub(crate) guidelines: &'static [&'static str],
    schema: fn() -> Value,
}

impl Tool {
    /// Returns the JSON schema of the arguments.
    pub(crate) fn parameters(&self) -> Value {
        (self.schema)()
    }

    /// Returns what a request to a model declares; the report has the type of its schema.
    pub(crate) fn declaration(&self, schema: Option<&OutputSchema>) -> ToolDeclaration {
        let mut declared = ToolDeclaration {
            name: self.id.to_owned(),
            description: self.description.to_owned(),
            parameters: self.parameters(),
        };
        if let (ToolName::Finalize, Some(schema)) = (self.name, schema) {
            declared.parameters["properties"]["result"] = schema.offered();
            if let Some(remark) = schema.remark() {
                declared.description.push(' ');
                declared.description.push_str(&remark);
            }
        }
        declared
    }
}

/// Returns the row with this name.
#[cfg(test)]
pub(super) fn find_tool(id: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.id == id)
}

/// All tools, in the order in which the model sees them.
pub(crate) static TOOLS: [Tool; 9] = [
    Tool {
        name: ToolName::Read,
        id: "read",
        description: "Read the contents of a file. Supports text files and images (jpg, png, gif, webp). Images are sent as attachments. For text files, output is truncated to 2000 lines or 50KB (whichever is hit first). Use offset/limit for large files. When you need the full file, continue with offset until complete.",
        snippet: "Read file contents",
        guidelines: &["Use read to examine files instead of cat or sed."],
        schema: || {
            object(
                &json!({
                    "path": string("Path to the file to read (relative or absolute)"),
                    "offset": number("Line number to start reading from (1-indexed)"),
                    "limit": number("Maximum number of lines to read"),
                }),
                &["path"],
            )
        },
    },
    Tool {
        name: ToolName::Bash,
        id: "bash",
        description: "Execute a bash command in the current working directory. Returns stdout and stderr. Output is truncated to last 2000 lines or 50KB (whichever is hit first). If truncated, full output is saved to a temp file. Optionally provide a timeout in seconds.",
        snippet: "Execute bash commands (ls, grep, find, etc.)",
        guidelines: &[
            "A command ends together with everything it started; nothing stays in the background after the call.",
        ],
        schema: || {
            object(
                &json!({
                    "command": string("Shell command to execute"),
                    "timeout": number("Timeout in seconds (optional, no default timeout)"),
                }),
                &["command"],
            )
        },
    },
    Tool {
        name: ToolName::Edit,
        id: "edit",
        description: "Edit a single file using exact text replacement. Every edits[].oldText must match a unique, non-overlapping region of the original file. If two changes affect the same block or nearby lines, merge them into one edit. Do not include large unchanged regions just to connect distant changes.",
        snippet: "Make precise file edits with exact text replacement, including several disjoint edits in one call",
        guidelines: &[
            "Use edit for precise changes; edits[].oldText must match the file exactly and be unique in it.",
            "Change several places of one file with one edit call: every oldText is matched against the original file, so edits must not overlap.",
        ],
        schema: || {
            object(
                &json!({
                    "path": string("Path to the file to edit (relative or absolute)"),
                    "edits": {
                        "type": "array",
                        "description": "One or more targeted replacements. Each edit is matched against the original file, not incrementally. Do not include overlapping or nested edits.",
                        "items": object(
                            &json!({
                                "oldText": string("Exact text for one targeted replacement. It must be unique in the original file and must not overlap with any other edits[].oldText in the same call."),
                                "newText": string("Replacement text for this targeted edit."),
                            }),
                            &["oldText", "newText"],
                        ),
                    },
                }),
                &["path", "edits"],
            )
        },
    },
    Tool {
        name: ToolName::Write,
        id: "write",
        description: "Write content to a file. Creates the file if it doesn't exist, overwrites if it does. Automatically creates parent directories.",
        snippet: "Create or overwrite files",
        guidelines: &["Use write only for new files or complete rewrites."],
        schema: || {
            object(
                &json!({
                    "path": string("Path to the file to write (relative or absolute)"),
                    "content": string("Content to write to the file"),
                }),
                &["path", "content"],
            )
        },
    },
    Tool {
        name: ToolName::Grep,
        id: "grep",
        description: "Search file contents for a pattern. Returns matching lines with file paths and line numbers. Respects .gitignore. Output is truncated to 100 matches or 50KB (whichever is hit first). Long lines are truncated to 500 chars.",
        snippet: "Search file contents for patterns (respects .gitignore)",
        guidelines: &[],
        schema: || {
            object(
                &json!({
                    "pattern": string("Search pattern (regex or literal string)"),
                    "path": string("Directory or file to search (default: current directory)"),
                    "glob": string("Filter files by glob pattern, e.g. '*.ts' or '**/*.spec.ts'"),
                    "ignoreCase": boolean("Case-insensitive search (default: false)"),
                    "literal": boolean("Treat pattern as literal string instead of regex (default: false)"),
                    "context": number("Number of lines to show before and after each match (default: 0)"),
                    "limit": number("Maximum number of matches to return (default: 100)"),
                }),
                &["pattern"],
            )
        },
    },
    Tool {
        name: ToolName::Find,
        id: "find",
        description: "Search for files by glob pattern. Returns matching file paths relative to the search directory. Respects .gitignore. Output is truncated to 1000 results or 50KB (whichever is hit first).",
        snippet: "Find files by glob pattern (respects .gitignore)",
        guidelines: &[],
        schema: || {
            object(
                &json!({
                    "pattern": string("Glob pattern to match files, e.g. '*.ts', '**/*.json', or 'src/**/*.spec.ts'"),
                    "path": string("Directory to search in (default: current directory)"),
                    "limit": number("Maximum number of results (default: 1000)"),
                }),
                &["pattern"],
            )
        },
    },
    Tool {
        name: ToolName::Ls,
        id: "ls",
        description: "List directory contents. Returns entries sorted alphabetically, with '/' suffix for directories. Includes dotfiles. Output is truncated to 500 entries or 50KB (whichever is hit first).",
        snippet: "List directory contents",
        guidelines: &[],
        schema: || {
            object(
                &json!({
                    "path": string("Directory to list (default: current directory)"),
                    "limit": number("Maximum number of entries to return (default: 500)"),
                }),
                &[],
            )
        },
    },
    Tool {
        name: ToolName::Finalize,
        id: FINALIZE_TOOL,
        description: "Report the final result as your last action.",
        snippet: "Report the final result",
        guidelines: &["Always end by calling subagent_finalize."],
        schema: || {
            object(
                &json!({
                    "status": {
                        "type": "string",
                        "enum": ["SUCCESS", "ERROR"],
                        "description": "SUCCESS when the task is done, ERROR when it cannot be done",
                    },
                    "result": string("The complete answer to the task; required for SUCCESS"),
                    "error": string("What went wrong; required for ERROR"),
                }),
                &["status"],
            )
        },
    },
    Tool {
        name: ToolName::Ask,
        id: ASK_TOOL,
        description: "Ask the person or the agent that gave you this task, and wait for the answer. Use it only for a decision that you cannot make from the task and the files.",
        snippet: "Ask whoever gave you this task",
        guidelines: &[],
        schema: || {
            object(
                &json!({
                    "question": string("The question, in one or two sentences"),
                    "options": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Answers to choose from, if there are a few",
                    },
                    "context": string("What somebody who has not read the files must know to answer"),
                }),
                &["question"],
            )
        },
    },
];

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "required": required, "properties": properties})
}

fn string(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number(description: &str) -> Value {
    json!({"type": "number", "description": description})
}

fn boolean(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

#[cfg(test)]
mod tests {
    use pi_subagents_pi_files::BUILT_IN_TOOLS;

    use super::*;

    #[test]
    fn the_table_holds_the_tools_that_definitions_may_name() {
        let expected = BUILT_IN_TOOLS.into_iter().chain([FINALIZE_TOOL, ASK_TOOL]);
        let ids = TOOLS.iter().map(|tool| tool.id);
        assert!(ids.eq(expected));
    }
}
