//! Answers requests about a run that this worker does.

use std::sync::Arc;

use bytes::Bytes;
use pi_subagents_engine::OwnerReply;
use pi_subagents_fleet_queue::{Request, Requests};
use pi_subagents_vocabulary::RunId;

use super::copy_out::CopyOut;
use super::speaker::Speaker;
use crate::runs::{WorkerRequest, WorkerWant};
use pi_subagents_calls::owner::Owner;

/// Answers one request about the run that has this id on this machine. A request that takes a while
/// is answered when it is done.
pub(super) async fn answer(
    owner: &Arc<Owner>,
    local: &RunId,
    copy: &CopyOut,
    speaker: &Speaker,
    request: Request,
) {
    let read: Result<WorkerRequest, _> = serde_json::from_slice(request.bytes());
    let want = match read {
        Ok(asked) => asked.want,
        Err(error) => {
            let message = format!("no request of ours: {error}");
            return reply(request, &OwnerReply::Refused { message }).await;
        }
    };
    if let WorkerWant::Resend { file, at } = want {
        copy.resend(file, at).await;
        return reply(request, &OwnerReply::Done).await;
    }
    if want == WorkerWant::Listen {
        speaker.somebody_listens();
        return reply(request, &OwnerReply::Done).await;
    }
    let (owner, local) = (Arc::clone(owner), local.clone());
    tokio::spawn(async move {
        let done = match want {
            WorkerWant::Stop => {
                let stopped = owner.stop_one(local).await;
                let ended = stopped.map(|summary| OwnerReply::ended(&summary));
                ended.map_err(|error| error.to_string())
            }
            WorkerWant::Send(what) => {
                let sent = owner.send(local, what).await;
                let done = sent.map(|()| OwnerReply::Done);
                done.map_err(|error| error.to_string())
            }
            WorkerWant::Resend { .. } | WorkerWant::Listen => Ok(OwnerReply::Done),
        };
        let answer = match done {
            Ok(reply) => reply,
            Err(message) => OwnerReply::Refused { message },
        };
        reply(request, &answer).await;
    });
}

/// Answers a request about a run whose work is done: only its record can be sent again.
pub(super) async fn answer_over(run: &RunId, copy: &CopyOut, request: Request) {
    let read: Result<WorkerRequest, _> = serde_json::from_slice(request.bytes());
    let answer = match read.map(|asked| asked.want) {
        Ok(WorkerWant::Resend { file, at }) => {
            copy.resend(file, at).await;
            OwnerReply::Done
        }
        Ok(WorkerWant::Stop | WorkerWant::Send(_) | WorkerWant::Listen) | Err(_) => {
            OwnerReply::Refused {
                message: format!("run {run} is not running"),
            }
        }
    };
    reply(request, &answer).await;
}

async fn reply(request: Request, answer: &OwnerReply) {
    let answer = serde_json::to_vec(answer).unwrap_or_default();
    request.answer(Bytes::from(answer)).await;
}

/// Waits for the next request about a run.
pub(super) async fn next_request(asked: &mut Option<Requests>) -> Request {
    let request = match asked {
        Some(asked) => asked.next().await,
        None => None,
    };
    match request {
        Some(request) => request,
        // No more can come.
        None => std::future::pending().await,
    }
}
