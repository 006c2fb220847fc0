//! The rule by which a worktree is settled, or left for later. Files that a child wrote decide how
//! long it takes to keep them, so a worktree that could not be kept costs somebody some time once an
//! hour and not with every command.

use std::time::Duration;

use pi_subagents_vocabulary::Timestamp;

use super::{Workspace, WorkspaceState};

/// The time between two tries to keep what a run left.
const PAUSE: Duration = Duration::from_hours(1);

/// The worktrees that somebody wants settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tries {
    /// Those that nobody has tried to settle.
    First,
    /// Those that could not be kept too, unless that was tried a short time ago.
    Again,
}

impl Workspace {
    /// Returns whether it is to be settled now.
    pub(super) fn is_due(&self, tries: Tries, now: Timestamp) -> bool {
        match (self.state, tries) {
            (WorkspaceState::Planned | WorkspaceState::Ready, _) => true,
            (WorkspaceState::Uncaptured, Tries::First)
            | (
                WorkspaceState::Captured
                | WorkspaceState::Unchanged
                | WorkspaceState::Merged
                | WorkspaceState::Discarded,
                _,
            ) => false,
            (WorkspaceState::Uncaptured, Tries::Again) => {
                // A time in the future is that of a clock that was set back.
                self.tried_at.is_none_or(|tried| {
                    Duration::try_from(now.duration_since(tried)).map_or(true, |age| age >= PAUSE)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::workspace;
    use super::*;

    #[test]
    fn what_could_not_be_kept_is_tried_once_an_hour() {
        let tried = Timestamp::from_second(1_800_000_000).unwrap();
        let after = |minutes: i64| Timestamp::from_second(1_800_000_000 + 60 * minutes).unwrap();
        let mut uncaptured = workspace(WorkspaceState::Uncaptured);
        assert!(uncaptured.is_due(Tries::Again, after(0)));
        assert!(!uncaptured.is_due(Tries::First, after(0)));
        uncaptured.tried_at = Some(tried);
        assert!(!uncaptured.is_due(Tries::Again, after(59)));
        assert!(uncaptured.is_due(Tries::Again, after(60)));
        assert!(uncaptured.is_due(Tries::Again, after(-1)));
        assert!(!uncaptured.is_due(Tries::First, after(60)));
        for state in [WorkspaceState::Planned, WorkspaceState::Ready] {
            assert!(workspace(state).is_due(Tries::First, after(0)));
        }
        for state in [WorkspaceState::Captured, WorkspaceState::Merged] {
            assert!(!workspace(state).is_due(Tries::Again, after(600)));
        }
    }
}
