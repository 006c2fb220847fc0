//! Changes of a run that its worker could send only after the end of the run. The entry of an ended
//! run is never written again, so they have a key of their own.

use pi_subagents_vocabulary::RunId;

use crate::connect::Fleet;
use crate::error::FleetError;
use crate::names::late_key;
use crate::runs::json;
use crate::store::Stored;
use crate::wire::{Ended, LateChanges};

impl Fleet {
    /// Notes where the changes of an ended run are.
    pub async fn put_late_changes(
        &self,
        run: &RunId,
        changes: &LateChanges,
    ) -> Result<(), FleetError> {
        let bucket = self.names().runs();
        self.overwrite(&bucket, &late_key(run), json(changes)).await
    }

    /// Adds changes that came after the end of a run to what is known of the end. Returns it as it
    /// is if they have not come.
    pub async fn with_late_changes(&self, run: &RunId, ended: Ended) -> Result<Ended, FleetError> {
        if ended.unsent.is_none() {
            return Ok(ended);
        }
        let late: Option<Stored<LateChanges>> =
            self.read(&self.names().runs(), &late_key(run)).await?;
        // Another delivery may have made others, which nobody was told of.
        let late = late.map(|stored| stored.value);
        Ok(match late.filter(|late| late.n == ended.n) {
            Some(LateChanges {
                result, submodules, ..
            }) => Ended {
                result,
                submodules,
                unsent: None,
                ..ended
            },
            None => ended,
        })
    }
}
