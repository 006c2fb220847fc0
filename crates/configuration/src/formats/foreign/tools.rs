//! The table of the names that other tools have for their tools, and ours for the same.

use pi_subagents_pi_files::BUILT_IN_TOOLS;
use pi_subagents_vocabulary::Dialect;

/// What another tool's name for a tool means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolMeaning {
    /// Tools of ours.
    Ours(&'static [&'static str]),
    /// All tools.
    Everything,
    /// No tool of ours, and nothing is lost by it.
    Needless,
    /// A tool that we do not have.
    Unknown,
}

use ToolMeaning::{Everything, Needless, Ours, Unknown};

/// The names of Claude Code, which several other tools understand too. Case does not matter.
#[rustfmt::skip]
const CLAUDE: &[(&str, ToolMeaning)] = &[
    ("read", Ours(&["read"])),
    ("notebookread", Ours(&["read"])),
    ("write", Ours(&["write"])),
    ("edit", Ours(&["edit"])),
    ("multiedit", Ours(&["edit"])),
    ("notebookedit", Ours(&["edit"])),
    ("bash", Ours(&["bash"])),
    ("grep", Ours(&["grep"])),
    ("glob", Ours(&["find"])),
    ("ls", Ours(&["ls"])),
    ("bashoutput", Needless),
    ("killshell", Needless),
    ("killbash", Needless),
    ("todowrite", Needless),
    ("todoread", Needless),
];

#[rustfmt::skip]
const GEMINI: &[(&str, ToolMeaning)] = &[
    ("*", Everything),
    ("read_file", Ours(&["read"])),
    ("read_many_files", Ours(&["read"])),
    ("write_file", Ours(&["write"])),
    ("replace", Ours(&["edit"])),
    ("run_shell_command", Ours(&["bash"])),
    ("grep_search", Ours(&["grep"])),
    ("search_file_content", Ours(&["grep"])),
    ("glob", Ours(&["find"])),
    ("list_directory", Ours(&["ls"])),
    ("write_todos", Needless),
];

#[rustfmt::skip]
const COPILOT: &[(&str, ToolMeaning)] = &[
    ("*", Everything),
    ("read", Ours(&["read"])),
    ("view", Ours(&["read"])),
    ("readfile", Ours(&["read"])),
    ("edit", Ours(&["edit", "write"])),
    ("editfiles", Ours(&["edit"])),
    ("create", Ours(&["write"])),
    ("createfile", Ours(&["write"])),
    ("execute", Ours(&["bash"])),
    ("shell", Ours(&["bash"])),
    ("powershell", Ours(&["bash"])),
    ("runcommands", Ours(&["bash"])),
    ("runinterminal", Ours(&["bash"])),
    ("search", Ours(&["grep", "find", "ls"])),
    ("codebase", Ours(&["grep", "find"])),
    ("textsearch", Ours(&["grep"])),
    ("filesearch", Ours(&["find"])),
    ("listdirectory", Ours(&["ls"])),
    ("todo", Needless),
    ("todos", Needless),
];

#[rustfmt::skip]
const OPENCODE: &[(&str, ToolMeaning)] = &[
    ("*", Everything),
    ("read", Ours(&["read"])),
    ("write", Ours(&["edit", "write"])),
    ("edit", Ours(&["edit", "write"])),
    ("patch", Ours(&["edit", "write"])),
    ("apply_patch", Ours(&["edit", "write"])),
    ("multiedit", Ours(&["edit", "write"])),
    ("bash", Ours(&["bash"])),
    ("grep", Ours(&["grep"])),
    ("glob", Ours(&["find"])),
    ("list", Ours(&["ls"])),
    ("todowrite", Needless),
    ("todoread", Needless),
];

#[rustfmt::skip]
const PI: &[(&str, ToolMeaning)] = &[
    ("*", Everything),
    ("all", Everything),
];

/// Groups of VS Code's tools; `edit/editFiles` is the same as `editFiles`.
const GROUPS: [&str; 7] = ["agent", "edit", "execute", "read", "search", "todo", "web"];

/// Returns the meaning of a name in the files of a tool.
pub(super) fn meaning_of(dialect: Dialect, name: &str) -> ToolMeaning {
    let name = name.to_ascii_lowercase();
    let own = own_names(dialect);
    let name = match name.split_once('/') {
        Some((group, "*")) if GROUPS.contains(&group) => group,
        Some((group, tool)) if GROUPS.contains(&group) => tool,
        _ => name.as_str(),
    };
    // People copy files from one tool to another, and mean the same.
    let tables = [own, CLAUDE, COPILOT, GEMINI, OPENCODE];
    let mut names = tables.into_iter().flatten();
    let found = names.find(|(known, _)| *known == name);
    match found {
        Some((_, meaning)) => *meaning,
        None => built_in(name),
    }
}

fn own_names(dialect: Dialect) -> &'static [(&'static str, ToolMeaning)] {
    match dialect {
        Dialect::Gemini => GEMINI,
        Dialect::Copilot => COPILOT,
        Dialect::Opencode => OPENCODE,
        Dialect::Tintinweb | Dialect::Nicobailon => PI,
        Dialect::Claude
        | Dialect::Codex
        | Dialect::Cursor
        | Dialect::Profile
        | Dialect::Preset
        | Dialect::Prompt => &[],
    }
}

fn built_in(name: &str) -> ToolMeaning {
    let position = BUILT_IN_TOOLS.iter().position(|known| *known == name);
    position.map_or(Unknown, |at| Ours(&BUILT_IN_TOOLS[at..=at]))
}

/// Returns whether names that we do not know may be tools of pi's extensions.
pub(super) fn names_tools_of_pi(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Tintinweb | Dialect::Nicobailon)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_name_of_the_tables_leads_to_a_tool_of_ours() {
        for table in [CLAUDE, GEMINI, COPILOT, OPENCODE, PI] {
            for (name, meaning) in table {
                assert_eq!(*name, name.to_ascii_lowercase());
                if let Ours(tools) = meaning {
                    assert!(
                        tools.iter().all(|tool| BUILT_IN_TOOLS.contains(tool)),
                        "{name}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_name_is_looked_up_in_its_own_tool_first() {
        assert_eq!(meaning_of(Dialect::Claude, "Edit"), Ours(&["edit"]));
        assert_eq!(
            meaning_of(Dialect::Copilot, "edit"),
            Ours(&["edit", "write"])
        );
        assert_eq!(
            meaning_of(Dialect::Copilot, "edit/editFiles"),
            Ours(&["edit"])
        );
        assert_eq!(meaning_of(Dialect::Copilot, "github/*"), Unknown);
        assert_eq!(meaning_of(Dialect::Copilot, "Bash"), Ours(&["bash"]));
        assert_eq!(
            meaning_of(Dialect::Claude, "codebase"),
            Ours(&["grep", "find"])
        );
        assert_eq!(meaning_of(Dialect::Claude, "*"), Everything);
        assert_eq!(meaning_of(Dialect::Claude, "mcp__x__y"), Unknown);
        assert_eq!(meaning_of(Dialect::Claude, "find"), Ours(&["find"]));
    }
}
