//! What a pi session keeps of its background runs: one entry when a run begins, one when it ends.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::row::{Row, RowEnd, RowStatus};

/// The entry of a run that begins; its data is a [`Row`].
pub(super) const RUN_ENTRY: &str = "pi-subagents:bg-run";

/// The entry of a run that is over; its data is a [`RunUpdate`].
pub(super) const UPDATE_ENTRY: &str = "pi-subagents:bg-update";

/// What is new of a run that is over.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunUpdate {
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
    pub(super) fn of(row: &Row) -> Self {
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

/// The runs that a session's entries tell of, in their order; what is no entry of ours is passed
/// over.
pub(super) fn rows_of(entries: &[Value]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for entry in entries {
        let Ok(entry) = Entry::deserialize(entry) else {
            continue;
        };
        match entry.custom_type.as_str() {
            RUN_ENTRY => {
                if let Ok(row) = serde_json::from_value::<Row>(entry.data)
                    && !rows.iter().any(|known| known.run_id == row.run_id)
                {
                    rows.push(row);
                }
            }
            UPDATE_ENTRY => {
                if let Ok(update) = serde_json::from_value::<RunUpdate>(entry.data)
                    && let Some(row) = rows.iter_mut().find(|row| row.run_id == update.run_id)
                {
                    update.apply(row);
                }
            }
            _ => {}
        }
    }
    rows
}
