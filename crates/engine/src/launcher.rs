//! The settings with which an owner starts all its children.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use pi_subagents_vocabulary::{Program, Secret, Treasurer};

use crate::known_children::KnownChildren;
use crate::machine_room::MeetingPlace;

/// The programs and limits with which the children of all plans are started.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The program that keeps a child: our own binary and its hidden subcommand.
    pub keeper: Program,
    /// The program that confines itself and becomes a child.
    pub confine: Program,
    /// The program that ends the processes which the keepers of a dead owner could not end.
    pub warden: Program,
    /// The children of this process, which may have others beside those of the engine.
    pub known_children: KnownChildren,
    /// Where owners share the room of this machine.
    pub meeting_place: MeetingPlace,
    /// The number of files that children may have open, if this process may have more.
    pub file_limit: Option<u64>,
    /// Variables that children get in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// Grants runs what their budgets allow; none where no run has a budget.
    pub treasurer: Option<Arc<dyn Treasurer>>,
    /// The variables of this process that hold secrets. The embedded agent gets them on a
    /// descriptor, so that no process below the owner has them in its environment. Other programs
    /// get them in their environment, where they expect them.
    pub secrets: BTreeMap<String, Secret>,
}
