//! Logs the events that wake the unit of a child, and the phases that follow.

use pi_subagents_vocabulary::RunId;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::Wake;
use crate::keeper::Report;
use crate::request::UnitRequest;
use crate::stop_phases::{Phase, Trust};

impl Wake {
    /// Logs the event that woke the unit, unless the child merely printed something: its record has
    /// that.
    pub(super) fn log(&self, run: &RunId) {
        match self {
            Self::Output(Some(_)) | Self::Stderr(Some(_)) => {}
            Self::Output(None) => debug!(%run, "child closed its stdout"),
            Self::Stderr(None) => debug!(%run, "child closed its stderr"),
            Self::Keeper(Some(Report::Exited { code, signal })) => {
                info!(%run, code, signal, "child exited");
            }
            Self::Keeper(Some(Report::Gone { killed })) => info!(%run, killed, "tree is gone"),
            Self::Keeper(Some(report)) => info!(%run, ?report, "keeper reported"),
            Self::Keeper(None) => warn!(%run, "keeper is gone"),
            Self::Asked(UnitRequest::End(decision)) => info!(%run, ?decision, "asked to end"),
            Self::Asked(UnitRequest::Pause { .. }) => info!(%run, "asked to pause"),
            Self::Asked(UnitRequest::Resume { pause }) => {
                info!(%run, paused_s = pause.as_secs_f64(), "asked to go on");
            }
            Self::Asked(UnitRequest::Send { .. }) => debug!(%run, "asked to send"),
            Self::Alarm => debug!(%run, "time is over for this phase"),
        }
    }
}

impl Phase {
    /// Logs that the run has got from another phase into this one.
    pub(super) fn log_change(self, before: Self, run: &RunId) {
        if self != before {
            let left = self
                .alarm()
                .map(|end| end.saturating_duration_since(Instant::now()));
            let left_s = left.map(|left| left.as_secs_f64());
            info!(%run, phase = self.as_str(), left_s, "phase changed");
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Aborting { .. } => "aborting",
            Self::Leaving { .. } => "leaving",
            Self::Ending { keeper, .. } => match keeper {
                Trust::Ordered => "ending",
                Trust::Roused => "ending, keeper roused",
                Trust::Killed => "ending, keeper killed",
            },
            Self::Draining { .. } => "draining",
        }
    }
}
