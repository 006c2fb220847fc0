//! `result.json`: the report of a run that has ended.

use pi_subagents_vocabulary::{Ending, RunReport, RunSummary, Timestamp, text};
use serde::{Deserialize, Serialize};

use super::FORMAT;

/// The content of the file: the report, without the facts that `meta.json` has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunResult {
    format: u32,
    #[serde(flatten)]
    pub(crate) report: RunReport,
    /// The number of messages.
    #[serde(default)]
    pub(crate) messages: usize,
}

/// The number of bytes of an answer that a result keeps if there is little room.
const SHORT_OUTPUT: usize = 32 << 10;

impl RunResult {
    /// Returns the result of a run; `None` before the run has a task.
    pub(crate) fn of(summary: &RunSummary) -> Option<Self> {
        let mut report = summary.report()?;
        report.ended_at.get_or_insert_with(Timestamp::now);
        report.agent = None;
        report.task = None;
        report.cwd = None;
        report.runner = None;
        report.requested_model = None;
        Some(Self {
            format: FORMAT,
            report,
            messages: summary.messages,
        })
    }

    /// Takes state, exit code and error from the ending: their words change from version to
    /// version. Returns the ending, or `None` if the file has none.
    pub(crate) fn end(&mut self) -> Option<Ending> {
        let ending = *self.report.ending.take()?;
        self.report.take_ending(ending.clone());
        self.report.no_text = ending == Ending::Completed && self.report.output.is_none();
        Some(ending)
    }

    /// Returns the same with as much of the answer as fits where there is little room.
    pub(crate) fn shortened(mut self) -> Self {
        let report = &mut self.report;
        if let Some(output) = report.output.take_if(|output| output.len() > SHORT_OUTPUT) {
            let bytes = output.len();
            report.output = Some(text::cut_bytes(output, SHORT_OUTPUT));
            report
                .incomplete
                .push(format!("its answer of {bytes} bytes was cut"));
        }
        // It is the answer once more.
        report.structured.take_if(|_| !report.incomplete.is_empty());
        report.warnings.clear();
        self
    }
}
