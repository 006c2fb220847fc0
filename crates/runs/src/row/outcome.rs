//! The row of a run that this process has just seen to its end.

use pi_subagents_records::{RecordedRun, RunDir};
use pi_subagents_vocabulary::{Ending, RunSummary, Runner, StopReason, Task, Timestamp};

use super::{RowEnd, RunRow};

impl RunRow {
    /// Makes the row of a run that has just ended: from its record, or, if the disk did not take
    /// that, from its summary.
    pub fn of_outcome(task: &Task, run: &RunSummary) -> Self {
        let directory = task.directory.as_ref().map(RunDir::new);
        let record = directory.and_then(|directory| RecordedRun::read(&directory).ok());
        let mut row = match &record {
            Some(record) => Self::of_record(record),
            None => Self {
                task: Some(task.prompt.clone()),
                runner: run.runner.map(Runner::as_str).map(str::to_owned),
                ..Self::of_task(task, run.accepted_at.unwrap_or_else(Timestamp::now))
            },
        };
        if !row.is_over() {
            row.take_summary(run);
            row.end = RowEnd {
                started_at: run.started_at,
                ended_at: run.ended_at,
                exit_code: run.ending.as_ref().map(Ending::exit_code),
                ending: run.ending.clone().map(Box::new),
                error_message: run.problem(),
                output: run.output().map(str::to_owned),
                structured: run.structured.clone().map(Box::new),
                rejected: run.rejected.clone().map(Box::new),
                stop_reason: run
                    .stop_reason
                    .as_ref()
                    .map(StopReason::as_word)
                    .map(str::to_owned),
                usage: Some(run.usage),
                tool_calls: Some(run.tool_calls),
                receipt: run.receipt().map(Box::new),
                ..RowEnd::default()
            };
        }
        row
    }

    /// Puts another text in the place of the answer, if there is one.
    pub fn with_output(mut self, output: Option<String>) -> Self {
        self.end.output = output.or(self.end.output);
        self
    }
}
