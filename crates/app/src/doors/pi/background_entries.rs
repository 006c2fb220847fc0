//! What a pi session keeps of its background runs: one entry when a run begins, one when it ends,
//! and the message by which it was told.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::runs::row::{Row, RowEnd, RowStatus};

/// The entry of a run that begins; its data is a [`Row`].
pub(crate) const RUN_ENTRY: &str = "pi-subagents:bg-run";

/// The entry of a run that is over; its data is a [`RunUpdate`].
pub(crate) const UPDATE_ENTRY: &str = "pi-subagents:bg-update";

/// The message a session gets when a run is over; its details are a [`Told`].
pub(crate) const DONE_MESSAGE: &str = "pi-subagents:bg-done";

/// Of which run a message tells.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Told {
    pub(crate) run_id: String,
}

/// The background runs of a session, as its entries tell of them.
#[derive(Default)]
pub(crate) struct KeptRuns {
    /// In the order they began.
    pub(crate) rows: Vec<Row>,
    /// Those of whose end the session was told.
    pub(crate) told: HashSet<String>,
}

/// What is new of a run that is over.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunUpdate {
    run_id: String,
    status: RowStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resolved_model: Option<String>,
    #[serde(flatten)]
    end: Option<RowEnd>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    custom_type: String,
    data: Value,
}

impl RunUpdate {
    pub(crate) fn of(row: &Row) -> Self {
        Self {
            run_id: row.run_id.clone(),
            status: row.status,
            resolved_model: row.resolved_model.clone(),
            end: row.end.clone(),
        }
    }

    fn apply(self, row: &mut Row) {
        row.status = self.status;
        row.end = self.end;
        if self.resolved_model.is_some() {
            row.resolved_model = self.resolved_model;
        }
    }
}

impl KeptRuns {
    /// Reads them; what is no entry of ours is passed over.
    pub(crate) fn read(entries: &[Value]) -> Self {
        let mut kept = Self::default();
        for entry in entries {
            if let Ok(entry) = Entry::deserialize(entry) {
                // A session file may have been edited: what does not fit is none of ours.
                _ = kept.take(entry);
            }
        }
        kept
    }

    fn take(&mut self, entry: Entry) -> serde_json::Result<()> {
        match entry.custom_type.as_str() {
            RUN_ENTRY => {
                let row: Row = serde_json::from_value(entry.data)?;
                if !self.rows.iter().any(|known| known.run_id == row.run_id) {
                    self.rows.push(row);
                }
            }
            UPDATE_ENTRY => {
                let update: RunUpdate = serde_json::from_value(entry.data)?;
                let mut rows = self.rows.iter_mut();
                if let Some(row) = rows.find(|row| row.run_id == update.run_id) {
                    update.apply(row);
                }
            }
            DONE_MESSAGE => {
                let told: Told = serde_json::from_value(entry.data)?;
                self.told.insert(told.run_id);
            }
            _ => {}
        }
        Ok(())
    }
}
