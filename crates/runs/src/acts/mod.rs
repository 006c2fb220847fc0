//! What can be done with runs, one file for each act. An act takes runs that were found, does its
//! work, and returns what was done: a sentence, notes, and the run as it is now. A door reads what
//! somebody wants, calls the act and prints; no door puts an act together itself, so that it does
//! the same behind every one of them.

mod answer;
mod clean;
mod diff;
mod discard;
mod keep;
mod merge;
mod owner;
mod raise_budget;
mod shared_diff;
mod steer;
mod stop;
mod wait;

use std::sync::Arc;

use pi_subagents_engine::Engine;
use pi_subagents_records::IndexedRun;
use pi_subagents_vocabulary::RunId;
use pi_subagents_vocabulary::text::{clean, one_line};

use pi_subagents_ground::places::Places;

pub use self::answer::{Answered, answer};
pub use self::clean::{CleanReport, Cleaning, SessionFiles};
pub use self::diff::{KeptChanges, KeptDiff, PrintedDiff, RunDiff, diff};
pub use self::discard::ToDiscard;
pub use self::keep::{KeepReport, Keeping, keep};
pub use self::merge::{Checkout, WantedChanges, branch, check, in_one_worktree, merge};
pub use self::raise_budget::{Raise, RaiseWish, RaisedBudget, raise_budget};
pub use self::shared_diff::{SharedChanges, SharedDiff, SharedFile};
pub use self::steer::{Steered, steer};
pub use self::stop::{Stopped, stop, stop_all};
pub use self::wait::{Wait, WaitNote, Waited};

/// The runs that this process can reach: its own without a socket, and all others by their owners.
#[derive(Clone)]
pub struct Reach {
    places: Arc<Places>,
    own: Option<Engine>,
}

impl Reach {
    /// Reaches runs by their owners.
    pub fn by_owners(places: &Places) -> Self {
        Self {
            places: Arc::new(places.clone()),
            own: None,
        }
    }

    /// Reaches also the runs of this process, which owns some.
    pub fn with_own(places: &Places, engine: Engine) -> Self {
        Self {
            own: Some(engine),
            ..Self::by_owners(places)
        }
    }
}

/// The run that a request is for.
#[derive(Debug, Clone)]
pub struct Addressee {
    pub run: RunId,
    pub name: String,
    /// Its line in the index; none for a run of this process that could not be entered there.
    pub record: Option<IndexedRun>,
}

impl Addressee {
    /// Returns the name on one line, as it can be shown anywhere.
    fn shown_name(&self) -> String {
        one_line(&clean(&self.name))
    }
}

impl From<IndexedRun> for Addressee {
    fn from(run: IndexedRun) -> Self {
        Self {
            run: run.run.clone(),
            name: run.name.clone(),
            record: Some(run),
        }
    }
}
