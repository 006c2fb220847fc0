//! The parts of a round.

use std::time::Duration;

/// One sandbox, one owner, some children, and one or two faults.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    pub(crate) number: u64,
    pub(crate) owner: OwnerKind,
    pub(crate) children: Vec<ChildPlan>,
    pub(crate) faults: Vec<Fault>,
    /// True if the second fault comes in the same moment as the first.
    pub(crate) at_once: bool,
    pub(crate) farewell: Farewell,
    /// True if the children work in worktrees of their own.
    pub(crate) is_isolated: bool,
}

/// The kind of owner that has the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OwnerKind {
    /// `delegate` with pipes.
    Delegate,
    /// `delegate` in a terminal.
    Terminal,
    /// `host`, with the messages of the extension.
    Host,
    /// `mcp`, with a client of pipes.
    Mcp,
    /// The owner of a background run.
    Detached,
    /// The same, with an `attach` in a terminal beside it.
    Watched,
    /// `host` under the real pi.
    Pi,
}

/// A child and the tree it starts.
#[derive(Debug, Clone)]
pub(crate) struct ChildPlan {
    pub(crate) kind: ChildKind,
    /// The number of its words, and the milliseconds between them.
    pub(crate) words: u64,
    pub(crate) gap: u64,
    pub(crate) tree: Vec<Tree>,
    pub(crate) manners: Manners,
}

/// The program that does the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChildKind {
    /// The embedded agent on the scripted model.
    Embedded,
    /// `misbehave` in the place of pi.
    Misbehave,
    /// The real pi.
    Pi,
}

/// The behaviour of a child that should leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Manners {
    /// It answers and leaves.
    Good,
    /// It never answers.
    Hangs,
    /// It never answers, and is deaf to polite signals, `abort` and the end of its input.
    Deaf,
    /// It exits with an error.
    Exits,
}

/// Something a child starts and leaves running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tree {
    /// A process in the background.
    Plain,
    /// One in a session of its own.
    OwnSession,
    /// A process whose parent has exited.
    DoubleFork,
    /// Both.
    Daemon,
    /// A process that is deaf to polite signals.
    Deaf,
    /// One in a session of its own and without an environment.
    Forgetful,
    /// A process that goes on as a new process again and again, so that its number changes.
    Relay,
    /// Twenty at once.
    Crowd,
    /// No process, but some megabytes of output.
    Flood,
}

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The time between the appearance of its victim and the fault.
    pub(crate) after: Duration,
    pub(crate) kind: FaultKind,
}

/// The fault itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FaultKind {
    /// A process gets a signal.
    Signal(Blow, Role),
    /// Owner, keepers and warden are killed in one moment.
    AllOfUs,
    /// The client of the owner closes its end: pipe or terminal.
    HangUp,
    /// Files of a run are removed or replaced.
    Record(Damage),
    /// The disk is full for the owner from now on.
    FullDisk,
    /// A line of the index is broken.
    Index(BrokenLine),
    /// The index is cut in its last line, after so many hundredths of it, when the owner has left.
    IndexCut { hundredths: u8 },
    /// The git of the owner that has this number is killed.
    Git { number: u8 },
    /// The disk is full for the owner's git once the worktrees are made.
    FullDiskAtCapture,
    /// The client of an MCP server goes, and comes back with another process.
    ClientReturns,
}

/// A signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Blow {
    Kill,
    Term,
    Interrupt,
    HangUp,
    /// Stopped, and never continued.
    Stop,
    /// Stopped, and continued after a while.
    StopAndGoOn,
    /// Asked to stop as a terminal does, and continued after a while.
    Pause,
}

/// The role of a process in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Owner,
    Keeper,
    Warden,
    Child,
    Grandchild,
    /// The `attach` beside a background run.
    Watcher,
}

/// The damage to the record of a run while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Damage {
    /// The directory is removed.
    DirectoryRemoved,
    /// A file takes its place.
    DirectoryReplaced,
    /// `events.jsonl` is removed.
    EventsRemoved,
    /// `meta.json` is no JSON any more.
    MetaBroken,
    /// A directory has taken the name of `result.json`.
    ResultTaken,
}

/// The damage to a line of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BrokenLine {
    /// Half a line, without its end.
    Torn,
    /// Bytes that are no text.
    Bytes,
    /// A megabyte without an end.
    Long,
}

/// The end of the round after the faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Farewell {
    /// The runs may end by themselves.
    Patient,
    /// The client hangs up, or the run is stopped.
    HangsUp,
}

impl Round {
    /// Returns whether a process of this role gets this signal.
    pub(crate) fn strikes(&self, blow: Blow, role: Role) -> bool {
        let kind = FaultKind::Signal(blow, role);
        self.faults.iter().any(|fault| fault.kind == kind)
    }

    /// Returns whether the record itself is damaged, so that not all of it can be expected.
    pub(crate) fn damages_record(&self) -> bool {
        let damages =
            |fault: &Fault| matches!(fault.kind, FaultKind::Record(_) | FaultKind::FullDisk);
        self.faults.iter().any(damages)
    }

    /// Returns whether the disk gets full.
    pub(crate) fn fills_disk(&self) -> bool {
        let full = [FaultKind::FullDisk, FaultKind::FullDiskAtCapture];
        self.faults.iter().any(|fault| full.contains(&fault.kind))
    }

    /// Returns whether the client comes back.
    pub(crate) fn returns(&self) -> bool {
        let is_return = |fault: &Fault| fault.kind == FaultKind::ClientReturns;
        self.faults.iter().any(is_return)
    }

    /// Returns whether somebody is stopped for good.
    pub(crate) fn leaves_stopped(&self, role: Role) -> bool {
        self.strikes(Blow::Stop, role)
    }
}
