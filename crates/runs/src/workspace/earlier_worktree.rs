//! The worktree of an earlier run, in which another run goes on.

use serde::{Deserialize, Serialize};

use super::Workspace;

/// A worktree that a run goes on in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierWorktree {
    pub workspace: Workspace,
    /// The state of the checkout that is merged into it before the run begins, as a commit.
    pub onto: Option<String>,
}

impl EarlierWorktree {
    /// Goes on in a worktree as it is; `None` if the run had none on this machine.
    pub fn of(workspace: Workspace) -> Option<Self> {
        workspace.worktree.is_some().then_some(Self {
            workspace,
            onto: None,
        })
    }
}
