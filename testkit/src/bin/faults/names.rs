//! The names of rounds and faults in the output of the suite.

use std::fmt;

use crate::round::{Blow, BrokenLine, Damage, FaultKind, Role, Round};

impl fmt::Display for Round {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.owner)?;
        for child in &self.children {
            write!(formatter, ", {:?} {:?}", child.kind, child.manners)?;
            for tree in &child.tree {
                write!(formatter, "+{tree:?}")?;
            }
        }
        if self.is_isolated {
            formatter.write_str(", in worktrees")?;
        }
        let joint = if self.at_once { " with " } else { " then " };
        let faults: Vec<String> = self
            .faults
            .iter()
            .map(|fault| format!("{} after {} ms", fault.kind, fault.after.as_millis()))
            .collect();
        write!(formatter, "; {}; {:?}", faults.join(joint), self.farewell)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(blow, role) => write!(formatter, "{blow} to the {role}"),
            Self::AllOfUs => formatter.write_str("SIGKILL to owner, keepers, warden"),
            Self::HangUp => formatter.write_str("the client hangs up"),
            Self::Record(damage) => formatter.write_str(match damage {
                Damage::DirectoryRemoved => "run directory removed",
                Damage::DirectoryReplaced => "run directory replaced",
                Damage::EventsRemoved => "events.jsonl removed",
                Damage::MetaBroken => "meta.json broken",
                Damage::ResultTaken => "result.json is a directory",
            }),
            Self::FullDisk => formatter.write_str("full disk"),
            Self::Index(line) => formatter.write_str(match line {
                BrokenLine::Torn => "torn line in the index",
                BrokenLine::Bytes => "bytes in the index",
                BrokenLine::Long => "endless line in the index",
            }),
            Self::IndexCut { .. } => formatter.write_str("index cut in its last line"),
            Self::Git { .. } => formatter.write_str("git of the owner killed at a step"),
            Self::FullDiskAtCapture => formatter.write_str("full disk at capture"),
            Self::ClientReturns => formatter.write_str("the client returns as another process"),
        }
    }
}

impl fmt::Display for Blow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Kill => "SIGKILL",
            Self::Term => "SIGTERM",
            Self::Interrupt => "SIGINT",
            Self::HangUp => "SIGHUP",
            Self::Stop => "SIGSTOP",
            Self::StopAndGoOn => "SIGSTOP and SIGCONT",
            Self::Pause => "SIGTSTP and SIGCONT",
        })
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Owner => "owner",
            Self::Keeper => "keeper",
            Self::Warden => "warden",
            Self::Child => "child",
            Self::Grandchild => "grandchild",
            Self::Watcher => "attach",
        })
    }
}
