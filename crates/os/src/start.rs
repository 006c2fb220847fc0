//! Starts processes.

use std::io;
use std::process;

use crate::{Descriptors as _, System};

/// A command that can be started, of the standard library or of tokio.
pub trait Startable {
    /// The process that is started.
    type Child;

    /// Starts the process.
    fn start(&mut self) -> io::Result<Self::Child>;
}

impl Startable for process::Command {
    type Child = process::Child;

    fn start(&mut self) -> io::Result<process::Child> {
        self.spawn()
    }
}

impl Startable for tokio::process::Command {
    type Child = tokio::process::Child;

    fn start(&mut self) -> io::Result<tokio::process::Child> {
        self.spawn()
    }
}

/// Starts the process of a command. It inherits its three streams, and the descriptors that
/// somebody has meant for it ([`crate::let_inherit`]).
pub fn start<C: Startable>(command: &mut C) -> io::Result<C::Child> {
    System::starting(|| command.start())
}
