//! The look at attempts that have completed: their worktrees are settled and read, and the smallest is
//! picked or a judge is asked.

use pi_subagents_files::read_own_text;
use pi_subagents_runs::workspace::{Workspace, settle};
use pi_subagents_vocabulary::text::count;
use pi_subagents_vocabulary::{
    AttemptChanges, CompletedAttempt, Isolation, NeedResult, WeighedAttempts, judge_prompt,
    judge_schema, smallest,
};

use crate::request::TaskRequest;

/// The largest patch that is read.
const LARGEST_PATCH: u64 = 1 << 20;

/// The judge of the attempts at a task, as far as it is known before they are over.
pub(crate) struct AttemptJudge {
    /// Its task, with the prompt of the attempts.
    pub(crate) request: TaskRequest,
    /// What counts for it.
    pub(crate) rubric: Option<String>,
}

/// Returns the changes of each attempt, as their worktrees have them.
pub(super) fn changes_of(attempts: &[CompletedAttempt]) -> Vec<AttemptChanges> {
    let changes = attempts.iter().map(|attempt| changes(&attempt.result));
    changes.map(Option::unwrap_or_default).collect()
}

fn changes(result: &NeedResult) -> Option<AttemptChanges> {
    let directory = result.directory()?;
    let workspace: Workspace = settle(directory, result.run())?;
    let left = workspace.left?;
    let lines = left
        .files
        .iter()
        .map(|file| match (file.added, file.removed) {
            (Some(added), Some(removed)) => added + removed,
            _ => 1,
        });
    let files = left.files.iter().map(|file| {
        let (path, status, figures) = (&file.path, &file.status, file.figures());
        format!("{path} {status} {figures}")
    });
    let patch = left.patch.as_deref();
    let patch = patch.and_then(|patch| read_own_text(&directory.join(patch), LARGEST_PATCH).ok());
    Some(AttemptChanges {
        lines: lines.sum(),
        files: files.collect(),
        patch: patch.unwrap_or_else(|| "(it cannot be shown)".to_owned()),
    })
}

/// Picks the attempt with the fewest changed lines.
pub(super) fn pick_smallest(
    attempts: &[CompletedAttempt],
    changes: &[AttemptChanges],
) -> WeighedAttempts {
    let found = smallest(changes).and_then(|place| attempts.get(place).zip(changes.get(place)));
    match found {
        Some((attempt, changes)) => {
            let lines = usize::try_from(changes.lines).unwrap_or(usize::MAX);
            let (lines, all) = (count(lines, "changed line"), attempts.len());
            WeighedAttempts::Picked {
                attempt: attempt.attempt,
                why: format!("{lines}, the fewest of {all} that completed"),
            }
        }
        None => WeighedAttempts::Nobody("no attempt completed".to_owned()),
    }
}

impl AttemptJudge {
    /// Returns the task of the judge of these attempts.
    pub(super) fn about(
        &self,
        attempts: &[CompletedAttempt],
        changes: &[AttemptChanges],
    ) -> TaskRequest {
        let results = attempts.iter().map(|attempt| &attempt.result);
        let candidates: Vec<_> = results.zip(changes).collect();
        let mut request = self.request.clone();
        request.prompt = judge_prompt(&self.request.prompt, self.rubric.as_deref(), &candidates);
        request.terms.output_schema = Some(judge_schema(candidates.len()));
        // The gates and the worktree of its call are for the attempts.
        request.terms.gates = Some(Vec::new());
        request.terms.isolation = Some(Isolation::None);
        request
    }
}
