//! Calls of tools that have begun and not ended.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde_json::Value;

use super::command_line::CommandLine;
use super::reading_programs::only_reads_or_tests;
use crate::text;

/// The number of calls that are remembered at once; the oldest is forgotten first.
const MAX_PENDING: usize = 200;

/// The number of characters of a command that are kept.
const MAX_COMMAND: usize = 300;

/// The deed of a call, as far as a receipt needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    /// It runs a shell command.
    Command {
        /// The command, cut for the receipt.
        shown: String,
        /// Set if the command runs tests; shows what its exit code proves about them.
        test: Option<super::test_verdict::TestPlace>,
        /// True unless it is a test or it is known that the command changes no file.
        may_change: bool,
    },
    /// It changes a file.
    Change(String),
    /// Anything else.
    Other,
}

/// A call under way.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) id: String,
    pub(super) deed: Deed,
    /// The time at which the call began, if that was seen.
    pub(super) began: Option<Timestamp>,
    /// Its place in the order of all events.
    pub(super) order: u64,
}

/// The calls under way.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingCalls(VecDeque<Pending>);

impl PendingCalls {
    /// Returns the call with this id.
    pub(super) fn find(&mut self, id: &str) -> Option<&mut Pending> {
        self.0.iter_mut().find(|call| call.id == id)
    }

    /// Returns the shell commands under way that may change files.
    pub(super) fn uncertain(&self) -> impl Iterator<Item = &Pending> {
        let may_change = |call: &&Pending| match &call.deed {
            Deed::Command { may_change, .. } => *may_change && call.began.is_some(),
            Deed::Change(_) | Deed::Other => false,
        };
        self.0.iter().filter(may_change)
    }

    pub(super) fn add(&mut self, call: Pending) {
        if self.0.len() >= MAX_PENDING {
            self.0.pop_front();
        }
        self.0.push_back(call);
    }

    /// Takes out the call with this id.
    pub(super) fn take(&mut self, id: &str) -> Option<Pending> {
        let at = self.0.iter().position(|call| call.id == id)?;
        self.0.remove(at)
    }
}

impl Deed {
    /// Reads the deed of a call from its tool and arguments.
    pub(super) fn read(tool: &str, arguments: &Value, test_commands: &[String]) -> Self {
        let word = |field: &str| arguments.get(field).and_then(Value::as_str);
        match tool {
            "bash" => word("command").map_or(Self::Other, |command| Self::Command {
                shown: text::cut_characters(command.trim(), MAX_COMMAND),
                test: super::test_verdict::TestPlace::find(command, test_commands),
                may_change: !only_reads_or_tests(&CommandLine::read(command), test_commands),
            }),
            "edit" | "write" => {
                word("path").map_or(Self::Other, |path| Self::Change(path.to_owned()))
            }
            _ => Self::Other,
        }
    }
}
