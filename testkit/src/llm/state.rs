//! The memory of a server: rules, requests, gates and the number of open requests.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use super::script::{Rule, Script};
use super::turn::Turn;

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The path with its query.
    pub path: String,
    /// The headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, `null` if it is no JSON.
    pub body: Value,
}

/// The state that all requests share.
#[derive(Debug)]
pub(super) struct State {
    rules: Mutex<Vec<PlayedRule>>,
    requests: Mutex<Vec<Request>>,
    open: Mutex<Open>,
    released: watch::Sender<HashSet<String>>,
}

impl State {
    pub(super) fn new(script: Script) -> Arc<Self> {
        Arc::new(Self {
            rules: Mutex::new(script.rules.into_iter().map(PlayedRule::new).collect()),
            requests: Mutex::default(),
            open: Mutex::default(),
            released: watch::Sender::default(),
        })
    }

    /// Adds a rule that is asked before all others.
    pub(super) fn add(&self, rule: Rule) {
        lock(&self.rules).insert(0, PlayedRule::new(rule));
    }

    /// Records a request and returns its number, from 1.
    pub(super) fn record(&self, request: Request) -> usize {
        let mut requests = lock(&self.requests);
        requests.push(request);
        requests.len()
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        lock(&self.requests).clone()
    }

    pub(super) fn request_count(&self) -> usize {
        lock(&self.requests).len()
    }

    /// Takes the turn that answers this request.
    pub(super) fn take_turn(&self, user: &str, model: &str) -> Option<Turn> {
        for PlayedRule { rule, played } in lock(&self.rules).iter_mut() {
            if rule.turns.is_empty() || !rule.matches(user, model) {
                continue;
            }
            if *played < rule.turns.len() || rule.repeat {
                let turn = rule.turns[*played % rule.turns.len()].clone();
                *played += 1;
                return Some(turn);
            }
        }
        None
    }

    /// Counts a request as open until the returned value is dropped.
    pub(super) fn enter(self: &Arc<Self>) -> OpenRequest {
        let mut open = lock(&self.open);
        open.now += 1;
        open.most = open.most.max(open.now);
        OpenRequest(Arc::clone(self))
    }

    pub(super) fn open_now(&self) -> usize {
        lock(&self.open).now
    }

    pub(super) fn open_most(&self) -> usize {
        lock(&self.open).most
    }

    pub(super) fn release(&self, gate: &str) {
        self.released.send_modify(|released| {
            released.insert(gate.to_owned());
        });
    }

    /// Waits until the gate is released.
    pub(super) async fn pass(&self, gate: &str) {
        let mut released = self.released.subscribe();
        // The sender lives as long as this state, so the wait can only end well.
        let _ = released.wait_for(|names| names.contains(gate)).await;
    }
}

/// A rule, and the number of its turns that were played.
#[derive(Debug)]
struct PlayedRule {
    rule: Rule,
    played: usize,
}

impl PlayedRule {
    fn new(rule: Rule) -> Self {
        Self { rule, played: 0 }
    }
}

/// The number of requests that are open, and the largest number so far.
#[derive(Debug, Default)]
struct Open {
    now: usize,
    most: usize,
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct OpenRequest(Arc<State>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        lock(&self.0.open).now -= 1;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
