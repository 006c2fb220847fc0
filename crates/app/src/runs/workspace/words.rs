//! The worktree of a run in one line.

use pi_subagents_delegation::text::count;

use super::{Workspace, WorkspaceFile, WorkspaceState};

impl Workspace {
    /// Says what became of the worktree of a run. `id` is what a person types for the run.
    pub(crate) fn line(&self, id: &str) -> String {
        format!("worktree: {}", self.words(id))
    }

    /// Says it to somebody who has another way to merge it.
    pub(crate) fn line_with(&self, how_to_merge: &str) -> String {
        format!("worktree: {}", self.words_with(how_to_merge))
    }

    /// Says the same without naming what it is about.
    pub(crate) fn words(&self, id: &str) -> String {
        self.words_with(&format!("pi-subagents merge {id}"))
    }

    /// Says the same to somebody who has another way to merge it.
    pub(crate) fn words_with(&self, how_to_merge: &str) -> String {
        match self.state {
            WorkspaceState::Planned | WorkspaceState::Ready => {
                format!("{} on the branch {}", self.path.display(), self.branch)
            }
            WorkspaceState::Unchanged => "nothing was changed".to_owned(),
            WorkspaceState::Captured => {
                format!("{}; not merged ({how_to_merge})", self.result_words())
            }
            WorkspaceState::Uncaptured => {
                format!("what it left is only in {}", self.path.display())
            }
            WorkspaceState::Merged => format!("{}; merged", self.result_words()),
            WorkspaceState::Discarded => format!("{}; discarded", self.result_words()),
        }
    }

    fn result_words(&self) -> String {
        let Some(left) = &self.left else {
            return "nothing was changed".to_owned();
        };
        result_words(&left.files, left.commits)
    }
}

/// Writes how much a result changes: `3 files +40 −12, 2 commits`.
fn result_words(files: &[WorkspaceFile], commits: u64) -> String {
    let words = files_words(files);
    match usize::try_from(commits).unwrap_or(usize::MAX) {
        0 => words,
        commits => format!("{words}, {}", count(commits, "commit")),
    }
}

/// Writes how many files and lines: `3 files +40 −12`.
pub(crate) fn files_words(files: &[WorkspaceFile]) -> String {
    let added: u64 = files.iter().filter_map(|file| file.added).sum();
    let removed: u64 = files.iter().filter_map(|file| file.removed).sum();
    format!("{} +{added} −{removed}", count(files.len(), "file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::workspace::{WorkspaceBase, WorkspaceResult};

    fn workspace(state: WorkspaceState) -> Workspace {
        let file = |path: &str, lines: Option<(u64, u64)>| WorkspaceFile {
            path: path.to_owned(),
            status: "modified".to_owned(),
            from: None,
            added: lines.map(|(added, _)| added),
            removed: lines.map(|(_, removed)| removed),
        };
        Workspace {
            state,
            repository: "/project".into(),
            path: "/worktrees/api".into(),
            branch: "pi-subagents/api".to_owned(),
            base: Some(WorkspaceBase {
                commit: "1".repeat(40),
                uncommitted: 3,
            }),
            left: Some(WorkspaceResult {
                result: "2".repeat(40),
                commits: 2,
                left_uncommitted: 1,
                files: vec![file("a", Some((40, 12))), file("b", None)],
                patch: None,
            }),
            notes: Vec::new(),
        }
    }

    #[test]
    fn every_state_has_its_line() {
        let states = [
            WorkspaceState::Planned,
            WorkspaceState::Ready,
            WorkspaceState::Captured,
            WorkspaceState::Uncaptured,
            WorkspaceState::Unchanged,
            WorkspaceState::Merged,
            WorkspaceState::Discarded,
        ];
        let lines: Vec<String> = states.map(|state| workspace(state).line("37546890")).into();
        insta::assert_snapshot!(lines.join("\n"), @"
        worktree: /worktrees/api on the branch pi-subagents/api
        worktree: /worktrees/api on the branch pi-subagents/api
        worktree: 2 files +40 −12, 2 commits; not merged (pi-subagents merge 37546890)
        worktree: what it left is only in /worktrees/api
        worktree: nothing was changed
        worktree: 2 files +40 −12, 2 commits; merged
        worktree: 2 files +40 −12, 2 commits; discarded
        ");
    }

    #[test]
    fn it_reads_what_it_writes() {
        let place = tempfile::tempdir().unwrap();
        for state in [WorkspaceState::Planned, WorkspaceState::Captured] {
            let mut written = workspace(state);
            if state == WorkspaceState::Planned {
                written.left = None;
                written.base = None;
            }
            written.write(place.path()).unwrap();
            assert_eq!(Workspace::read(place.path()), Some(written));
        }
    }
}
