//! Runs and sessions to choose from: the newest, with their names, states and ages.

use std::collections::HashSet;

use pi_subagents_delegation::text::{clean, one_line};
use pi_subagents_sessions::{IndexedRun, Store};

use super::Offer;
use crate::places::Places;
use crate::runs::ask_which::since;
use crate::runs::find::status_of;
use crate::runs::owned::is_owned;

/// Which runs make sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Any run or session.
    Any,
    /// A run in progress.
    Running,
    /// A session, by its id.
    Session,
}

/// Returns `last`, names, and ids that begin as the word does, newest first. Only the newest part
/// of the index is read.
pub(super) fn offered(places: &Places, wanted: Wanted, begun: &str) -> Vec<Offer> {
    let store = Store::new(&places.agent_dir);
    let mut runs = store.newest_runs().unwrap_or_default();
    runs.reverse();
    if runs.iter().any(|run| run.project == places.project) && begun.is_empty() {
        runs.retain(|run| run.project == places.project);
    }
    if wanted == Wanted::Running {
        runs.retain(is_running);
    }
    let mut offers = Vec::new();
    let mut known = HashSet::new();
    let mut offer = |value: &str, run: &IndexedRun| {
        let is_plain = !value.is_empty() && clean(value) == value && one_line(value) == value;
        if is_plain && value.starts_with(begun) && known.insert(value.to_owned()) {
            offers.push(Offer::new(value, described(run)));
        }
    };
    if wanted == Wanted::Any
        && let Some(newest) = runs.first()
    {
        offer("last", newest);
    }
    if wanted != Wanted::Session {
        for run in &runs {
            offer(&run.name, run);
        }
    }
    for run in &runs {
        offer(run.session.as_str(), run);
    }
    if !begun.is_empty() && wanted != Wanted::Session {
        for run in &runs {
            offer(run.run.as_str(), run);
        }
    }
    offers
}

fn is_running(run: &IndexedRun) -> bool {
    run.is_open() && is_owned(run)
}

/// Says what a run is: its name, its state and its age.
fn described(run: &IndexedRun) -> String {
    let state = if run.is_open() && !is_owned(run) {
        "interrupted"
    } else {
        status_of(run).as_str()
    };
    let (name, since) = (one_line(&run.name), since(run.accepted_at));
    format!("{name}, {state}, {since}")
}
