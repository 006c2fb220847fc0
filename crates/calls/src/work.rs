//! The work of a call, wherever it is done: how it begins, and how it is stopped.

use std::pin::Pin;
use std::sync::Arc;

use pi_subagents_vocabulary::{EventSink, Plan, RunSummary};

use crate::owner::Owner;

/// The outcome of the runs of a call, in the order of its tasks.
pub(crate) type Outcome<'a> = Pin<Box<dyn Future<Output = Vec<Arc<RunSummary>>> + Send + 'a>>;

/// Begins the work of a call; its events go to these sinks.
type Begin<'a> = Box<dyn FnOnce(Vec<Box<dyn EventSink>>) -> Outcome<'a> + Send + 'a>;

/// The work of a call that has not begun.
pub struct CallWork<'a> {
    pub begin: Begin<'a>,
    /// Stops the work under way, without waiting for its end.
    pub stop: Box<dyn Fn() + Send + Sync + 'a>,
}

/// Returns the act that stops all runs of a plan, also those that are opened while others are under
/// way.
pub fn stop_of<'a>(owner: &'a Owner, plan: &Plan) -> Box<dyn Fn() + Send + Sync + 'a> {
    let tasks = plan.tasks.iter();
    let runs: Vec<_> = tasks.map(|planned| planned.task.run.clone()).collect();
    let opener = plan.graph.as_ref().map(|graph| Arc::clone(&graph.opener));
    Box::new(move || {
        let late = opener.as_ref().map(|opener| opener.opened());
        owner.stop(&[runs.clone(), late.unwrap_or_default()].concat());
    })
}

impl<'a> CallWork<'a> {
    /// Returns the work of a plan on this machine.
    pub fn here(owner: &'a Owner, plan: Plan) -> Self {
        let stop = stop_of(owner, &plan);
        Self {
            begin: Box::new(move |sinks| Box::pin(owner.run(plan, sinks))),
            stop,
        }
    }
}
