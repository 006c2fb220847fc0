//! The record of a run that is over, which its worker keeps until its caller has it.

use std::time::Duration;

use pi_subagents_fleet_queue::Requests;
use pi_subagents_vocabulary::RunId;
use tokio::time::{sleep, timeout};

use super::copy_out::CopyOut;
use super::one_run::Worker;
use super::requests::{self, next_request};

/// The time for which the record of a run that is over is kept for a caller that has not copied it.
const KEPT: Duration = Duration::from_hours(1);

/// The pause between two looks whether the caller has it.
const LOOK: Duration = Duration::from_secs(5);

impl Worker {
    /// Keeps the record of a run that is over until its caller has copied it, then removes it.
    pub(super) async fn keep(&self, run: RunId, copy: CopyOut, mut asked: Option<Requests>) {
        let kept = async {
            loop {
                tokio::select! {
                    request = next_request(&mut asked) => {
                        requests::answer_over(&run, &copy, request).await;
                    }
                    () = sleep(LOOK) => {
                        let wish = self.fleet.wish(&run).await;
                        if matches!(wish, Ok(Some(wish)) if wish.value.kept) {
                            return;
                        }
                    }
                }
            }
        };
        // A later caller finds the record in the stream, for as long as the fleet keeps it.
        _ = timeout(KEPT, kept).await;
        copy.remove();
    }
}
