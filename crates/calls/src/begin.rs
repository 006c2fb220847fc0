//! The beginning of a call, the same at every door: its tasks are resolved, refused calls end here,
//! the way to a fleet is prepared, and only then the runs are opened. A call that fails before that
//! has made, sent and recorded nothing.

use std::sync::{Arc, Mutex, PoisonError};

use pi_subagents_vocabulary::PlannedGraph;
use tokio::task::spawn_blocking;

use crate::call::{Call, ReadyCall};
use crate::call_ground::CallGround;
use crate::caller::Caller;
use crate::destination::Destination;
use crate::elsewhere::Waiting;
use crate::first_requests::Consent;
use crate::graph::{CallGraph, LateRuns};
use crate::service::CallService;
use pi_subagents_ground::configuration::Configuration;
use pi_subagents_ground::error::CommandError;

/// A call's caller, with the configuration that was read for the call.
pub struct PreparedCaller {
    pub caller: Caller,
    pub configuration: Arc<Configuration>,
    pub waiting: Waiting,
    /// Asks the person at the door, if there is one, before something expensive begins.
    pub consent: Option<Consent>,
}

/// Begins a call: resolves its tasks, prepares its way, and opens its runs. Blocking work is done
/// on threads of its own, and no lock is held while the network is waited for.
///
/// If the future is dropped before it is done, or one of the runs cannot be opened, runs that were
/// opened meanwhile never begin: they end as stopped.
pub async fn begin<C: Call>(
    service: &CallService,
    call: C,
    asking: PreparedCaller,
) -> Result<ReadyCall<C>, CommandError> {
    let destination = Destination::of_call(&asking.caller, &asking.configuration)?;
    let ground = Arc::new(CallGround {
        asking,
        destination,
        index: Arc::clone(&service.owner.index),
        owner: service.owner.name.clone(),
        ledgers: Arc::clone(&service.owner.ledgers),
    });
    let seen = Arc::clone(&ground);
    let resolve = move || {
        let bounds = seen.bounds(call.budget());
        let (call, graph) = call.unfold(&bounds)?;
        let asked = seen.resolver::<C>();
        let mut resolved = call.resolve(&asked, &seen.index)?;
        resolved.warnings.extend(graph.warnings.iter().cloned());
        let budgets = seen.budgets(&call, &asked, &mut resolved.tasks)?;
        seen.price(&call, &asked, &mut resolved, &budgets)?;
        Ok((call, graph, resolved, budgets))
    };
    let (call, graph, resolved, budgets) = beside(resolve).await?;
    if resolved.is_refused() {
        return ground.refused(call, resolved);
    }
    let departure = tokio::select! {
        departure = ground.prepare(&resolved) => departure?,
        () = service.owner.interrupted() => {
            return Err(CommandError::failed("the call was interrupted before it began"));
        }
    };
    let alone = Arc::clone(&service.opening);
    let open = move || {
        // Two calls of one process must not find the same session free: the look and the line in
        // the index that makes the session busy are one step. A call of another process may still
        // look in between. Then both go on, each with a file of its own; a session whose file runs
        // share has a lock, which keeps the second child out.
        let _alone = alone.lock().unwrap_or_else(PoisonError::into_inner);
        let base = call.with_tasks(Vec::new());
        let mut ready = ground.open(call, resolved, &budgets, departure)?;
        let CallGraph {
            graph,
            maps,
            judges,
            ..
        } = graph;
        ready.graph = graph.map(|graph| PlannedGraph {
            graph,
            opener: Arc::new(LateRuns {
                ground,
                call: base,
                maps,
                judges,
                budgets,
                opened: Mutex::default(),
                picked: Mutex::default(),
            }),
        });
        Ok(ready)
    };
    beside(open).await
}

/// Runs blocking work on a thread of its own.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(CommandError::defect(
            "the call could not be prepared",
            &error,
        ))
    })
}
