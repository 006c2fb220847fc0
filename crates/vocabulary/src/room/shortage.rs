//! The reasons why a child waits for room, in words.

use std::fmt;

use super::load::RESERVE;
use crate::Runner;

/// Something of which a machine has too little for one more child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomShortage {
    /// Memory, in megabytes.
    Memory {
        /// The kind of child.
        runner: Runner,
        /// The memory that it takes.
        needed: u64,
        /// The memory that is free beside what new children still take.
        free: u64,
    },
    /// Processors.
    Processors {
        /// The pi processes and agents of others that run.
        running: usize,
        /// The processors of the machine.
        processors: usize,
    },
    /// The user's own setting for the machine.
    Setting {
        /// The most sub-agents at once.
        most: usize,
    },
}

/// `memory: …`; what stands before the colon says enough where there is little room.
impl fmt::Display for RoomShortage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory {
                runner,
                needed,
                free,
            } => write!(
                formatter,
                "memory: {} takes about {needed} MB, {RESERVE} MB stay free, and this machine has {free} MB",
                runner.title()
            ),
            Self::Processors {
                running,
                processors,
            } => write!(
                formatter,
                "processors: {running} large sub-agents run on {processors} processors of this machine"
            ),
            Self::Setting { most } => write!(
                formatter,
                "other runs: your setting subagents.maxOnMachine allows {most} sub-agents at once on this machine"
            ),
        }
    }
}
