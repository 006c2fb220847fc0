//! A run as every list and every program gets it: its report, its files, its workspace and its
//! owner. A field is there as soon as it is known.

mod artifacts;
mod lines;
mod outcome;
mod row_sources;
#[cfg(test)]
mod tests;
mod totals;

use std::path::PathBuf;

use pi_subagents_records::{Findable, FindableFacts, RunDir, RunIds};
use pi_subagents_vocabulary::{RunId, RunReport, SessionId, text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::artifacts::Artifacts;
pub use self::row_sources::shown_task;
pub use self::totals::RowTotals;
use crate::fleet_outage::Away;
use crate::workspace::Workspace;

/// The number of characters of an answer that are kept if the record itself is not far.
const SHORT_OUTPUT: usize = 2000;

/// One run, with the facts of the index, of its record and of a session of pi.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Run")]
pub struct RunRow {
    /// The run itself.
    #[serde(flatten)]
    pub report: RunReport,
    /// The files of its record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Box<Artifacts>>,
    /// The reason why the record cannot be read, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_problem: Option<String>,
    /// The worktree of its own, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Box<Workspace>>,
    /// The absence of its fleet's servers, while they are away or if nobody waits for them any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<Away>,
    /// The session of the pi that started it, for a background run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pi_session: Option<String>,
    /// Left out in the entries of pi's session, which do not need it.
    #[serde(flatten)]
    pub owner: Option<RowOwner>,
}

/// The owner of a run, and the place of its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RowOwner {
    /// True if a detached process owns the run.
    pub background: bool,
    /// The project in which its owner was started.
    pub(crate) project: PathBuf,
    /// The process that owns the run, or owned it.
    pub owner_pid: u32,
    /// True if somebody has suspended that process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owner_stopped: bool,
    /// The directory of its record.
    pub(crate) directory: PathBuf,
}

impl RunRow {
    /// Makes a row that has no more than a report.
    pub fn new(report: RunReport) -> Self {
        Self {
            report,
            artifacts: None,
            record_problem: None,
            workspace: None,
            away: None,
            pi_session: None,
            owner: None,
        }
    }

    /// Cuts the answer and the receipt to a size that an entry or a list can hold.
    pub fn shortened(mut self) -> Self {
        let report = &mut self.report;
        let output = report.output.take();
        report.output = output.map(|output| text::cut_characters(&output, SHORT_OUTPUT));
        // They are in the record whole.
        report.structured = None;
        report.rejected = None;
        report.warnings.clear();
        let receipt = report.receipt.take();
        report.receipt = receipt.map(|receipt| Box::new(receipt.shortened()));
        self
    }

    /// Cuts the answer to so many characters.
    #[must_use]
    pub fn cut_to(mut self, room: usize) -> Self {
        let output = self.report.output.take();
        self.report.output = output.map(|output| text::cut_characters(&output, room));
        self
    }

    /// Leaves out who owns the run: neither pi's session nor `background_agent_status` names it.
    pub fn without_owner(self) -> Self {
        Self {
            owner: None,
            ..self
        }
    }

    /// Returns whether the run has ended.
    pub fn is_over(&self) -> bool {
        self.report.is_over()
    }

    /// Returns the directory of the record, if the run has one.
    pub fn directory(&self) -> Option<RunDir> {
        let artifacts = self.artifacts.as_ref().map(|files| &files.directory);
        let owner = self.owner.as_ref().map(|owner| &owner.directory);
        artifacts.or(owner).map(RunDir::new)
    }
}

impl RunIds for RunRow {
    fn run_id(&self) -> &RunId {
        &self.report.run_id
    }

    fn session_id(&self) -> &SessionId {
        &self.report.session_id
    }
}

impl Findable for RunRow {
    fn facts(&self) -> FindableFacts<'_> {
        FindableFacts {
            name: &self.report.name,
            definition: self.report.agent.as_deref(),
            project: self.owner.as_ref().map(|owner| owner.project.as_path()),
            accepted_at: self.report.accepted_at,
            is_open: !self.is_over(),
        }
    }
}
