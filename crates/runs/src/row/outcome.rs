//! The row of a run that this process has just seen to its end.

use std::path::Path;

use pi_subagents_records::RunDir;
use pi_subagents_vocabulary::RunSummary;

use super::{Artifacts, RowOwner, RunRow};
use crate::workspace::Workspace;

impl RunRow {
    /// Makes the row of a run that has just ended, from memory; `None` for a run without a task.
    /// `project` is that of its owner, which is this process.
    pub fn of_outcome(
        run: &RunSummary,
        workspace: Option<&Workspace>,
        project: &Path,
    ) -> Option<Self> {
        let mut report = run.report()?;
        report.error_message = run.problem();
        let directory = run.task.as_ref()?.directory.as_ref().map(RunDir::new);
        let row = Self {
            artifacts: directory
                .as_ref()
                .map(|files| Box::new(Artifacts::of(files))),
            owner: directory
                .as_ref()
                .map(|directory| RowOwner::this_process(project, directory)),
            ..Self::new(report)
        };
        Some(row.with_workspace(workspace.cloned()))
    }

    /// Puts another text in the place of the answer, if there is one.
    pub fn with_output(mut self, output: Option<String>) -> Self {
        self.report.output = output.or(self.report.output);
        self
    }
}
