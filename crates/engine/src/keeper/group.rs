//! The control group of a keeper's tree, made once the child has lived for a moment.

use std::collections::HashSet;
use std::time::Duration;

use pi_subagents_os::{ProcessName, descendants};
use tokio::time::Instant;

use crate::control_group::ControlGroup;

/// The age at which a child gets a group. Making a group keeps all processes of the machine from
/// forking for a moment, so short-lived children get none.
const TO_STAY: Duration = Duration::from_millis(250);

/// The number of looks for processes that were started while their parents were put into the group.
const LOOKS: u32 = 20;

/// The group of a tree.
pub(super) enum Group {
    /// It is made then.
    Due {
        at: Instant,
        owner: ProcessName,
        run: String,
    },
    Made(ControlGroup),
    /// It cannot be had.
    None,
}

impl Group {
    /// Makes the plan of a group for a run whose child this keeper has just started.
    pub(super) fn due(owner: ProcessName, run: &str) -> Self {
        Self::Due {
            at: Instant::now() + TO_STAY,
            owner,
            run: run.to_owned(),
        }
    }

    /// Returns when there is something to be done.
    pub(super) fn alarm(&self) -> Option<Instant> {
        match self {
            Self::Due { at, .. } => Some(*at),
            Self::Made(_) | Self::None => None,
        }
    }

    /// Makes the group and puts the whole tree into it, if it is time.
    pub(super) fn make_if_due(&mut self, now: Instant) {
        if let Self::Due { at, owner, run } = self
            && *at <= now
        {
            *self = match ControlGroup::make(*owner, run) {
                Ok(group) => fill(group),
                Err(_) => Self::None,
            };
        }
    }
}

/// Puts all descendants of this process into the group; the processes that they start from then on
/// are in it too.
fn fill(group: ControlGroup) -> Group {
    let mut inside: HashSet<ProcessName> = HashSet::new();
    for _ in 0..LOOKS {
        let tree = descendants(std::process::id()).into_iter();
        let new: Vec<ProcessName> = tree.filter(|process| !inside.contains(process)).collect();
        if new.is_empty() {
            break;
        }
        for process in &new {
            if group.put(process.pid).is_err() && process.is_alive() {
                group.remove();
                return Group::None;
            }
        }
        inside.extend(new);
    }
    Group::Made(group)
}

/// Returns the earlier of two moments.
pub(super) fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}
