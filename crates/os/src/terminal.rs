//! The terminal of a person: its size, whether this process has it, and whether it echoes what is
//! typed.

use std::os::fd::AsFd;

use rustix::process::getpgrp;
use rustix::stdio::stderr;
use rustix::termios::{
    LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};

/// Returns the columns and rows of the terminal that a stream leads to, if there is one and it
/// reports them.
pub fn terminal_size(stream: impl AsFd) -> Option<(u16, u16)> {
    let size = tcgetwinsize(stream).ok()?;
    Some((size.ws_col, size.ws_row))
}

/// Returns whether this process is in the foreground of the terminal on stderr. A shell puts a job
/// that ends with `&` into the background.
pub fn has_terminal() -> bool {
    // A terminal that is not ours has no foreground that we could know.
    tcgetpgrp(stderr()).map_or(true, |foreground| foreground == getpgrp())
}

/// The echo of the terminal on stderr, which can be switched off for a while.
#[derive(Debug, Default)]
pub struct Echo {
    /// The modes of the terminal before the echo was switched off.
    before: Option<Termios>,
    /// True if keys come one by one while the echo is off.
    takes_keys: bool,
}

impl Echo {
    /// Makes an echo without which keys come one by one. Otherwise a line comes when it is complete.
    #[must_use]
    pub fn of_keys() -> Self {
        Self {
            before: None,
            takes_keys: true,
        }
    }

    /// Switches the echo off. Keys that send signals go on to do so. A process in the background
    /// would be stopped for it, so it leaves the terminal alone.
    pub fn switch_off(&mut self) {
        if self.before.is_some() || !has_terminal() {
            return;
        }
        let Ok(before) = tcgetattr(stderr()) else {
            return;
        };
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        if self.takes_keys {
            quiet.local_modes.remove(LocalModes::ICANON);
        }
        if tcsetattr(stderr(), OptionalActions::Now, &quiet).is_ok() {
            self.before = Some(before);
        }
    }

    /// Gives the terminal its modes back.
    pub fn restore(&mut self) {
        if let Some(before) = self.before.take()
            && has_terminal()
        {
            // A terminal that is gone needs nothing back.
            _ = tcsetattr(stderr(), OptionalActions::Now, &before);
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.restore();
    }
}
