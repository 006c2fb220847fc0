//! Runs and sessions to choose from: the newest, with their names, states and ages.

use std::collections::HashSet;

use pi_subagents_records::{IndexedRun, Store};
use pi_subagents_vocabulary::text::{clean, one_line};

use super::Offer;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::ask_which::since;
use pi_subagents_runs::find::status_of;
use pi_subagents_runs::owner_process::is_owned;
use pi_subagents_runs::workspace::waiting_workspace;

/// The runs that make sense for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Any run or session.
    Any,
    /// A run in progress.
    Running,
    /// A run whose changes wait to be merged.
    Unmerged,
    /// A session, by its id.
    Session,
}

/// The numbers of names and of ids that are offered before anything is typed.
const AT_FIRST: (usize, usize) = (20, 50);

/// Returns `last`, names, and ids that begin as the word does, newest first. Only the newest part
/// of the index is read.
pub(super) fn offered(places: &Places, wanted: Wanted, begun: &str) -> Vec<Offer> {
    let store = Store::new(&places.agent_dir);
    let mut runs = store.newest_runs().unwrap_or_default();
    runs.reverse();
    if runs.iter().any(|run| run.project == places.project) && begun.is_empty() {
        runs.retain(|run| run.project == places.project);
    }
    match wanted {
        Wanted::Running => runs.retain(is_running),
        Wanted::Unmerged => runs.retain(|run| waiting_workspace(run).is_some()),
        Wanted::Any | Wanted::Session => {}
    }
    let (names, ids) = if begun.is_empty() {
        AT_FIRST
    } else {
        (usize::MAX, usize::MAX)
    };
    let mut fitting = Fitting {
        begun,
        known: HashSet::new(),
        offers: Vec::new(),
    };
    if wanted == Wanted::Any {
        fitting.add(runs.iter().take(1), |_| "last", 1);
    }
    if wanted != Wanted::Session {
        fitting.add(runs.iter(), |run| &run.name, names);
    }
    fitting.add(runs.iter(), |run| run.session.as_str(), ids);
    if wanted != Wanted::Session && !begun.is_empty() {
        fitting.add(runs.iter(), |run| run.run.as_str(), ids);
    }
    fitting.offers
}

/// Words that begin like the typed word, each once.
struct Fitting<'a> {
    begun: &'a str,
    known: HashSet<String>,
    offers: Vec<Offer>,
}

impl Fitting<'_> {
    /// Adds the words that name these runs, up to a number.
    fn add<'r>(
        &mut self,
        runs: impl Iterator<Item = &'r IndexedRun>,
        word: impl Fn(&'r IndexedRun) -> &'r str,
        most: usize,
    ) {
        let mut added = 0;
        for run in runs {
            let word = word(run);
            let is_plain = !word.is_empty() && clean(word) == word && one_line(word) == word;
            if added == most {
                break;
            }
            if is_plain && word.starts_with(self.begun) && self.known.insert(word.to_owned()) {
                self.offers.push(Offer::new(word, described(run)));
                added += 1;
            }
        }
    }
}

fn is_running(run: &IndexedRun) -> bool {
    run.is_open() && is_owned(run)
}

/// Describes a run: its name, its state and its age.
fn described(run: &IndexedRun) -> String {
    let state = if run.is_open() && !is_owned(run) {
        "interrupted"
    } else {
        status_of(run).as_str()
    };
    let (name, since) = (one_line(&run.name), since(run.accepted_at));
    format!("{name}, {state}, {since}")
}
