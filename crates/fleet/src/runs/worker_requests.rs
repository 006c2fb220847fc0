//! The requests to the worker that runs a run.

use std::time::Duration;

use bytes::Bytes;
use pi_subagents_engine::{OwnerReply, ToChild};
use pi_subagents_fleet_queue::{Asked, Fleet, FleetError};
use pi_subagents_vocabulary::RunId;
use serde::{Deserialize, Serialize};

/// The time that a worker may take to answer. It gives a stubborn tree six seconds.
const TO_ANSWER: Duration = Duration::from_secs(10);

/// A request to a worker about one of its runs. A worker also takes the requests that an owner
/// takes on its socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkerRequest {
    pub(crate) run: String,
    pub(crate) want: WorkerWant,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum WorkerWant {
    /// Its end; answered when all of its processes are gone.
    Stop,
    /// That its child gets this.
    Send(ToChild),
    /// That it says for a while what its model is writing.
    Listen,
    /// That a file of its record is sent again from this byte on.
    Resend { file: String, at: u64 },
}

/// The outcome of a request to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerReply {
    Replied(OwnerReply),
    /// No worker has the run at the moment.
    NobodyThere,
    /// A worker has it and did not answer, or the fleet cannot be reached.
    Silent,
    /// Our key does not permit to ask.
    NotAllowed(FleetError),
}

/// Asks the worker that has a run.
pub(crate) async fn ask_worker(fleet: &Fleet, run: &RunId, want: WorkerWant) -> WorkerReply {
    let request = WorkerRequest {
        run: run.to_string(),
        want,
    };
    let request = Bytes::from(serde_json::to_vec(&request).unwrap_or_default());
    match fleet.ask_run(run, request, TO_ANSWER).await {
        Asked::Answered(answer) => match serde_json::from_slice(&answer) {
            Ok(reply) => WorkerReply::Replied(reply),
            Err(_) => WorkerReply::Silent,
        },
        Asked::NobodyThere => WorkerReply::NobodyThere,
        Asked::Silent => WorkerReply::Silent,
        Asked::NotAllowed(error) => WorkerReply::NotAllowed(error),
    }
}

#[cfg(test)]
mod tests {
    use pi_subagents_engine::{OwnerRequest, Want};

    use super::*;

    #[test]
    fn a_worker_reads_what_an_owner_is_asked() {
        let what = ToChild::Message("go on".to_owned());
        let asked = [
            (Want::Stop, WorkerWant::Stop),
            (Want::Send(what.clone()), WorkerWant::Send(what)),
        ];
        for (want, expected) in asked {
            let run = "r-1".to_owned();
            let text = serde_json::to_string(&OwnerRequest { run, want }).unwrap();
            let read: WorkerRequest = serde_json::from_str(&text).unwrap();
            assert_eq!(read.want, expected, "{text}");
        }
    }
}
