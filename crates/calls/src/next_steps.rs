//! The doors, and the next steps behind each of them.

use serde::{Deserialize, Serialize};

/// The way by which a caller came in. It decides which words they can use next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Door {
    /// The command line, and the library, whose user has it at hand.
    CommandLine,
    /// The pi extension: its model calls tools, its person types commands.
    Pi,
    /// An MCP client, whose model calls tools.
    Mcp,
}

impl Door {
    /// Says how to read all messages of a session.
    pub(crate) fn how_to_read(self, session: &str) -> String {
        match self {
            Self::CommandLine => format!("Read all of it with pi-subagents output {session}."),
            Self::Pi | Self::Mcp => {
                format!("get_subagent_output with sessionId {session} returns all of it.")
            }
        }
    }

    /// Says how to merge what a run has left in its worktree.
    pub(crate) fn how_to_merge(self, run: &str) -> String {
        match self {
            Self::CommandLine => format!("pi-subagents merge {run}"),
            Self::Pi | Self::Mcp => format!("merge_subagents with runs [\"{run}\"]"),
        }
    }

    /// Says where ids of runs and sessions are found.
    pub(crate) fn how_to_list(self) -> &'static str {
        match self {
            Self::CommandLine => "pi-subagents status --all lists the runs of this project.",
            Self::Pi => "background_agent_status lists the background runs of this session.",
            Self::Mcp => "subagent_runs with includeCompleted lists the runs you have started.",
        }
    }

    /// Says how to find a definition, or to make one.
    pub fn how_to_get_a_definition(self) -> &'static str {
        match self {
            Self::CommandLine => {
                "List them with pi-subagents agents list, or create one with pi-subagents agents create NAME."
            }
            Self::Pi => {
                "list_subagent_profiles shows what there is; a person makes one with /profile create NAME."
            }
            Self::Mcp => "list_subagent_profiles shows what there is.",
        }
    }

    /// Says how to let the files of a project count.
    pub fn how_to_trust(self) -> &'static str {
        match self {
            Self::CommandLine => r#"Run "pi-subagents trust --yes" to allow that."#,
            // A model reads these, which is not to decide.
            Self::Pi => "Only the user can allow that, with /subagents trust.",
            Self::Mcp => "Only the user can allow that, with pi-subagents trust in a shell.",
        }
    }

    /// Says how to have fewer background runs.
    pub(crate) fn how_to_make_room(self) -> &'static str {
        match self {
            Self::CommandLine => {
                "pi-subagents status lists them; wait until one is over (pi-subagents wait RUN), or stop one (pi-subagents stop RUN)."
            }
            Self::Pi => {
                "background_agent_status lists those of this session; wait until one is over, or let a person stop one (/subagents)."
            }
            Self::Mcp => {
                "subagent_runs lists them; wait until one is over (action wait), or stop one (action stop)."
            }
        }
    }
}
