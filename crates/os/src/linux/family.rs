//! The tree of a keeper. This process adopts orphans, so the children and their children are all of
//! it. A control group, made once the tree has lived for a moment, holds the processes for those who
//! look for them when this process is gone.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::control_group::{self, ControlGroup};
use crate::{Kin, ProcessName, descendants};

/// The age at which a child gets a group. Making a group keeps all processes of the machine from
/// forking for a moment, so short-lived children get none.
const TO_STAY: Duration = Duration::from_millis(250);

/// The number of looks for processes that were started while their parents were put into the group.
const LOOKS: u32 = 20;

/// The tree of a run.
#[derive(Debug)]
pub struct RunTree {
    group: Group,
}

/// The group of a tree.
#[derive(Debug)]
enum Group {
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

impl Kin for RunTree {
    fn begin(owner: ProcessName, run: &str) -> Self {
        let group = Group::Due {
            at: Instant::now() + TO_STAY,
            owner,
            run: run.to_owned(),
        };
        Self { group }
    }

    fn alarm(&self) -> Option<Instant> {
        match &self.group {
            Group::Due { at, .. } => Some(*at),
            Group::Made(_) | Group::None => None,
        }
    }

    /// Makes the group and puts the whole tree into it, if it is time.
    fn tend(&mut self, now: Instant) {
        if let Group::Due { at, owner, run } = &self.group
            && *at <= now
        {
            self.group = match ControlGroup::make(*owner, run) {
                Ok(group) => fill(group),
                Err(_) => Group::None,
            };
        }
    }

    fn look(&mut self) -> Vec<ProcessName> {
        descendants(std::process::id())
    }

    fn kill(&mut self) -> usize {
        let mut killed = 0;
        if let Group::Made(group) = &self.group {
            killed += descendants(std::process::id()).len();
            group.kill();
        }
        killed + self.signal(Signal::KILL)
    }

    fn end(self) {
        if let Group::Made(group) = self.group {
            group.remove();
        }
    }

    fn end_runs(runs: &[&str]) {
        control_group::end_groups_of_runs(runs);
    }

    fn end_owner(mark: &str) {
        control_group::end_groups_of_owner(mark);
    }

    fn remove_abandoned() {
        control_group::remove_abandoned_groups();
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
