//! A command in a terminal of its own, which can be taken away from it.

use std::fs::File;
use std::io::Read as _;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use pi_subagents_testkit::sandbox::SandboxCommand;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{Winsize, tcsetwinsize};

/// The pause after which the reader looks whether the window was closed.
const LOOK_AGAIN: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// A command that believes it is used by a person.
pub(crate) struct Terminal {
    child: Child,
    screen: Arc<Mutex<Vec<u8>>>,
    is_closed: Arc<AtomicBool>,
    /// Holds the only descriptor of our end, so that the window is closed when it has returned.
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Starts a command in a new terminal.
    pub(crate) fn start(command: &SandboxCommand) -> Self {
        let (ours, theirs) = open_pair().expect("a terminal");
        let child = command
            .std_command()
            .stdin(theirs.try_clone().expect("its input"))
            .stdout(theirs.try_clone().expect("its output"))
            .stderr(theirs)
            .spawn()
            .expect("a command in a terminal");
        let screen = Arc::new(Mutex::new(Vec::new()));
        let is_closed = Arc::new(AtomicBool::new(false));
        let reader = read(ours, Arc::clone(&screen), Arc::clone(&is_closed));
        Self {
            child,
            screen,
            is_closed,
            reader: Some(reader),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_none())
    }

    /// Closes the window.
    pub(crate) fn hang_up(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            // It reads and nothing else, so it does not fail.
            _ = reader.join();
        }
    }

    /// Returns everything that was drawn.
    pub(crate) fn drawn(&self) -> String {
        let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&screen).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.hang_up();
        if self.is_running() {
            // A process that is left at the end of a round is of no use any more.
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

/// Returns our end of a terminal, and that of the command.
fn open_pair() -> rustix::io::Result<(File, File)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    let name = rustix::pty::ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(&name, flags, Mode::empty())?;
    let size = Winsize {
        ws_row: 40,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size)?;
    Ok((File::from(ours), File::from(theirs)))
}

fn read(mut ours: File, screen: Arc<Mutex<Vec<u8>>>, is_closed: Arc<AtomicBool>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut chunk = vec![0; 64 * 1024];
        while !is_closed.load(Ordering::Relaxed) {
            let mut wanted = [PollFd::new(&ours, PollFlags::IN)];
            if poll(&mut wanted, Some(&LOOK_AGAIN)).is_ok_and(|ready| ready == 0) {
                continue;
            }
            // The other end counts as closed while no process has it open, which is no reason to
            // close ours: the command may be about to open it.
            match ours.read(&mut chunk) {
                Ok(count) => {
                    let mut screen = screen.lock().unwrap_or_else(PoisonError::into_inner);
                    screen.extend_from_slice(&chunk[..count]);
                }
                Err(_) => return,
            }
        }
    })
}
