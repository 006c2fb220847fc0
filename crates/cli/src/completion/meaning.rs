//! Finds the meaning of an argument's value, so that values can be offered for it. Pure.

use clap::{Arg, Command, ValueHint};

use super::runs::Wanted;

/// The meaning of the value of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A run or a session.
    Run(Wanted),
    /// The name of a definition.
    Definition,
    Model,
    Provider,
    /// Tools of a sub-agent, separated by commas.
    Tools,
    ThinkingLevel,
    Runner,
    File,
    Directory,
    /// One of the values that the argument lists itself, or text that nobody can guess.
    Listed,
}

/// Returns the meaning of an argument's value. Arguments of one name have the same meaning in all
/// commands, except for a few that depend on the command.
pub(super) fn meaning(command: &Command, argument: &Arg) -> Meaning {
    let command = command.get_name();
    match argument.get_id().as_str() {
        "id" | "ids" => Meaning::Run(match command {
            "steer" | "stop" => Wanted::Running,
            "merge" | "discard" | "keep" | "review" => Wanted::Unmerged,
            _ => Wanted::Any,
        }),
        "session" => Meaning::Run(Wanted::Session),
        "agent" => Meaning::Definition,
        "name"
            if matches!(
                command,
                "run" | "spawn" | "agents" | "show" | "edit" | "delete" | "explain"
            ) =>
        {
            Meaning::Definition
        }
        "model" => Meaning::Model,
        "provider" => Meaning::Provider,
        "tools" | "exclude-tools" => Meaning::Tools,
        "thinking" => Meaning::ThinkingLevel,
        "runner" => Meaning::Runner,
        "cwd" | "dir" => Meaning::Directory,
        "given" => Meaning::File,
        _ => match argument.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath => Meaning::File,
            ValueHint::DirPath => Meaning::Directory,
            _ => Meaning::Listed,
        },
    }
}
