//! The commands a person types in pi.

/// A command, as pi lists it.
pub(crate) struct PiCommand {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

/// All of them.
pub(crate) const COMMANDS: [PiCommand; 2] = [
    PiCommand {
        name: "profile",
        description: "List, show, create, edit, delete or explain profiles of sub-agents",
    },
    PiCommand {
        name: "subagents",
        description: "List the sub-agents of this session; show, steer or stop one",
    },
];
