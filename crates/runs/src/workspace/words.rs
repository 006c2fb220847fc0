//! The worktree of a run in one line.

use pi_subagents_vocabulary::Advice;
use pi_subagents_vocabulary::Door;
use std::path::PathBuf;

use pi_subagents_git::Brought;
use pi_subagents_vocabulary::text::{count, first_of, one_line};

use super::{LeftOutFile, Workspace, WorkspaceFile, WorkspaceState, Worktree};
use pi_subagents_view::figures::bytes;

impl Workspace {
    /// Says what became of the worktree of a run, and in further lines what somebody should look at
    /// before it is merged. `id` is what somebody behind the door calls the run.
    pub fn lines(&self, id: &str, door: Door) -> Vec<String> {
        let mut lines = vec![self.line(id, door)];
        lines.extend(self.flags(id, door).map(|flag| format!("! {flag}")));
        lines
    }

    /// Says what became of the worktree of a run.
    pub fn line(&self, id: &str, door: Door) -> String {
        format!("{}: {}", self.label(), self.words(id, door))
    }

    /// Names it before a colon.
    pub fn label(&self) -> &'static str {
        match self.worktree {
            Some(_) => "worktree",
            None => "changes",
        }
    }

    /// Names it at the beginning of a line.
    pub fn title(&self) -> &'static str {
        match self.worktree {
            Some(_) => "Worktree",
            None => "Changes",
        }
    }

    /// Says what was seen that somebody should look at.
    pub fn flags(&self, id: &str, door: Door) -> impl Iterator<Item = String> {
        let meanwhile = &self.checkout_changed;
        let meanwhile = (!meanwhile.is_empty())
            .then(|| format!("the main checkout changed meanwhile: {}", named(meanwhile)));
        let copies = &self.added_copies;
        let copies = (!copies.is_empty()).then(|| {
            let how = Advice::MergeCopies(id.to_owned()).words(door);
            format!(
                "it added {} to git, which .worktreeinclude had copied; {how} merges it all the same",
                named(copies)
            )
        });
        let left_out = (!self.left_out.is_empty() && !self.merged_in_part).then(|| {
            let how = Advice::MergeCopies(id.to_owned()).words(door);
            let words = self.left_out_words();
            format!("its result lacks {words}; {how} takes large files too")
        });
        meanwhile.into_iter().chain(copies).chain(left_out)
    }

    /// Describes the same as the line without naming the worktree.
    pub fn words(&self, id: &str, door: Door) -> String {
        let words = self.state_words();
        match self.state {
            WorkspaceState::Captured => {
                // What is merged already would not be merged again without the large files.
                let advice = if self.merged_in_part {
                    Advice::MergeCopies(id.to_owned())
                } else {
                    Advice::Merge(id.to_owned())
                };
                format!("{words} ({})", advice.words(door))
            }
            WorkspaceState::Planned
            | WorkspaceState::Ready
            | WorkspaceState::Uncaptured
            | WorkspaceState::Unchanged
            | WorkspaceState::Merged
            | WorkspaceState::Discarded => words,
        }
    }

    /// Says what became of it, without advice.
    pub(crate) fn state_words(&self) -> String {
        match self.state {
            WorkspaceState::Planned | WorkspaceState::Ready => self.place_words(),
            WorkspaceState::Unchanged => "nothing was changed".to_owned(),
            WorkspaceState::Captured if self.merged_in_part => {
                format!(
                    "{}; merged, except {}",
                    self.result_words(),
                    self.left_out_words()
                )
            }
            WorkspaceState::Captured => format!("{}; not merged", self.result_words()),
            WorkspaceState::Uncaptured => {
                let path = self.path().unwrap_or(&self.repository);
                format!("what it left is only in {}", path.display())
            }
            WorkspaceState::Merged => format!("{}; merged", self.result_words()),
            WorkspaceState::Discarded => format!("{}; discarded", self.result_words()),
        }
    }

    /// Returns whether its directory has files that its result lacks, and so must stay.
    pub(crate) fn keeps_files(&self) -> bool {
        !self.left_out.is_empty() && self.path().is_some_and(std::path::Path::exists)
    }

    /// Names the files that only its directory has.
    pub(crate) fn left_out_words(&self) -> String {
        let path = self.path().unwrap_or(&self.repository);
        let names = self.left_out.iter().map(LeftOutFile::words);
        let names = first_of(names, MOST_NAMED, ", ");
        format!("{names}, only in {}", path.display())
    }

    fn place_words(&self) -> String {
        let worktree = self.worktree.as_ref();
        let words = worktree.map(|Worktree { path, branch, .. }| {
            format!("{} on the branch {branch}", path.display())
        });
        words.unwrap_or_else(|| "on another machine".to_owned())
    }

    fn result_words(&self) -> String {
        let Some(left) = &self.left else {
            return "nothing was changed".to_owned();
        };
        if left.files.is_empty() && left.commits == 0 && !self.submodules.is_empty() {
            return "only submodules were changed".to_owned();
        }
        result_words(&left.files, left.commits)
    }
}

/// At most so many files are named in a line.
const MOST_NAMED: usize = 3;

/// Names files: `src/a.rs, b.rs and 2 more`.
pub fn named(files: &[PathBuf]) -> String {
    let names = files
        .iter()
        .map(|file| one_line(&file.display().to_string()));
    first_of(names, MOST_NAMED, ", ")
}

/// Says what was merged into a worktree, to its child and to people.
pub fn brought_words(brought: &Brought) -> String {
    let conflicts = count(brought.conflicts.len(), "conflict");
    format!("the caller's checkout was merged into the worktree, with {conflicts}")
}

/// Writes how much a result changes: `3 files +40 −12, 2 commits`.
fn result_words(files: &[WorkspaceFile], commits: u64) -> String {
    let words = files_words(files);
    match usize::try_from(commits).unwrap_or(usize::MAX) {
        0 => words,
        commits => format!("{words}, {}", count(commits, "commit")),
    }
}

/// Writes how much of some files has changed: `3 files +40 −12`, `1 file, mode 644 → 755`.
pub fn files_words(files: &[WorkspaceFile]) -> String {
    let added: u64 = files.iter().filter_map(|file| file.added).sum();
    let removed: u64 = files.iter().filter_map(|file| file.removed).sum();
    let modes: Vec<&str> = files
        .iter()
        .filter_map(|file| file.mode.as_deref())
        .collect();
    if files.is_empty() {
        return "no files".to_owned();
    }
    let number = count(files.len(), "file");
    let lines = format!("{number} +{added} −{removed}");
    match modes.as_slice() {
        [] => lines,
        [only] if files.len() == 1 && added + removed == 0 => format!("{number}, mode {only}"),
        [only] => format!("{lines}, mode {only}"),
        several => format!("{lines}, {} modes", several.len()),
    }
}

impl LeftOutFile {
    /// Names it with its size: `model.bin (1.5 GB)`.
    pub(crate) fn words(&self) -> String {
        let path = one_line(&self.path);
        match self.bytes {
            Some(size) => format!("{path} ({})", bytes(size)),
            None => format!("{path} (a repository)"),
        }
    }

    /// Says that the result lacks it.
    pub(super) fn sentence(&self) -> String {
        let path = one_line(&self.path);
        match self.bytes {
            Some(size) => format!(
                "{path} is not in the result: it is untracked and has {}",
                bytes(size)
            ),
            None => format!("{path} is a separate repository and was not kept"),
        }
    }
}

impl WorkspaceFile {
    /// Writes how much of the file has changed: `+40 −12`, `binary`, `mode 644 → 755`.
    pub fn figures(&self) -> String {
        let lines = match (self.added, self.removed) {
            (Some(added), Some(removed)) => format!("+{added} −{removed}"),
            _ => "binary".to_owned(),
        };
        match &self.mode {
            Some(mode) if self.added == Some(0) && self.removed == Some(0) => {
                format!("mode {mode}")
            }
            Some(mode) => format!("{lines}, mode {mode}"),
            None => lines,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::workspace::{WorkspaceBase, WorkspaceResult};

    pub(in super::super) fn workspace(state: WorkspaceState) -> Workspace {
        let file = |path: &str, lines: Option<(u64, u64)>| WorkspaceFile {
            path: path.to_owned(),
            status: "modified".to_owned(),
            from: None,
            added: lines.map(|(added, _)| added),
            removed: lines.map(|(_, removed)| removed),
            mode: None,
        };
        Workspace {
            state,
            repository: "/project".into(),
            worktree: Some(Worktree {
                path: "/worktrees/api".into(),
                branch: "pi-subagents/api".to_owned(),
                git_dir: None,
            }),
            base: Some(WorkspaceBase {
                commit: "1".repeat(40),
                uncommitted: 3,
                is_moved: false,
            }),
            begin: None,
            left: Some(WorkspaceResult {
                result: "2".repeat(40),
                commits: 2,
                left_uncommitted: 1,
                files: vec![file("a", Some((40, 12))), file("b", None)],
                patch: None,
            }),
            notes: Vec::new(),
            inside: PathBuf::new(),
            is_kept: false,
            note: None,
            submodules: Vec::new(),
            included: Vec::new(),
            added_copies: vec![".env".into()],
            checkout_changed: ["a", "b", "c", "d"].map(PathBuf::from).into(),
            left_out: Vec::new(),
            merged_in_part: false,
            is_trusted: false,
            tried_at: None,
            parts: None,
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
        let mut lines: Vec<String> = states
            .map(|state| workspace(state).line("37546890", Door::CommandLine))
            .into();
        lines.extend(workspace(WorkspaceState::Merged).flags("37546890", Door::CommandLine));
        let in_part = Workspace {
            merged_in_part: true,
            left_out: vec![LeftOutFile {
                path: "model.bin".to_owned(),
                bytes: Some(11_000_000),
            }],
            ..workspace(WorkspaceState::Captured)
        };
        lines.push(in_part.line("37546890", Door::CommandLine));
        insta::assert_snapshot!(lines.join("\n"), @"
        worktree: /worktrees/api on the branch pi-subagents/api
        worktree: /worktrees/api on the branch pi-subagents/api
        worktree: 2 files +40 −12, 2 commits; not merged (pi-subagents merge 37546890)
        worktree: what it left is only in /worktrees/api
        worktree: nothing was changed
        worktree: 2 files +40 −12, 2 commits; merged
        worktree: 2 files +40 −12, 2 commits; discarded
        the main checkout changed meanwhile: a, b, c and 1 more
        it added .env to git, which .worktreeinclude had copied; pi-subagents merge --force 37546890 merges it all the same
        worktree: 2 files +40 −12, 2 commits; merged, except model.bin (11 MB), only in /worktrees/api (pi-subagents merge --force 37546890)
        ");
    }

    #[test]
    fn a_file_whose_mode_alone_changed_does_not_read_as_if_nothing_had() {
        let file = |lines: Option<u64>, mode: Option<&str>| WorkspaceFile {
            path: "run.sh".to_owned(),
            status: "modified".to_owned(),
            from: None,
            added: lines,
            removed: lines,
            mode: mode.map(str::to_owned),
        };
        let mode = Some("644 → 755");
        let files = [
            file(Some(0), mode),
            file(Some(2), mode),
            file(None, mode),
            file(Some(2), None),
            file(None, None),
        ];
        let figures = files.each_ref().map(WorkspaceFile::figures);
        let words = [&files[..1], &files[3..4], &files[2..4], &files, &[]];
        let words = words.map(files_words);
        insta::assert_snapshot!(figures.join("\n") + "\n" + &words.join("\n"), @"
        mode 644 → 755
        +2 −2, mode 644 → 755
        binary, mode 644 → 755
        +2 −2
        binary
        1 file, mode 644 → 755
        1 file +2 −2
        2 files +2 −2, mode 644 → 755
        5 files +4 −4, 3 modes
        no files
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
