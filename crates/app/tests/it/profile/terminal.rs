//! Our binary in a terminal: keys in, a screen out.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pi_subagents_testkit::process::{descendants, kill};
use pi_subagents_testkit::sandbox::SandboxCommand;
use pi_subagents_testkit::{Signal, wait_until};
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{Winsize, tcsetwinsize};

const PATIENCE: Duration = Duration::from_mins(1);

/// So large that nothing leaves the screen and no line is broken.
const ROWS: u16 = 120;
const COLUMNS: u16 = 200;

pub(crate) const ENTER: &str = "\r";
pub(crate) const DOWN: &str = "\x1b[B";
pub(crate) const CTRL_C: &str = "\x03";

/// A command that believes it is used by a person.
pub(crate) struct Terminal {
    child: Child,
    columns: u16,
    keyboard: File,
    screen: Arc<Mutex<vt100::Parser>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    pub(crate) fn start(command: SandboxCommand) -> Self {
        Self::start_with(command, COLUMNS)
    }

    /// Starts a command in a terminal of this width.
    pub(crate) fn start_with(command: SandboxCommand, columns: u16) -> Self {
        let keyboard = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::pty::grantpt(&keyboard).unwrap();
        rustix::pty::unlockpt(&keyboard).unwrap();
        let name = rustix::pty::ptsname(&keyboard, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = File::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap());
        let size = Winsize {
            ws_row: ROWS,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        let child = command
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .std_command()
            .stdin(terminal.try_clone().unwrap())
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal)
            .spawn()
            .unwrap();
        let keyboard = File::from(keyboard);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, columns, 0)));
        let reader = draw(keyboard.try_clone().unwrap(), Arc::clone(&screen));
        Self {
            child,
            columns,
            keyboard,
            screen,
            reader,
        }
    }

    /// Waits until a question is on the screen, then presses keys.
    #[track_caller]
    pub(crate) fn answer(&mut self, question: &str, keys: &str) {
        self.wait_for(question);
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Presses keys until something is on the screen.
    #[track_caller]
    pub(crate) fn press_until(&mut self, keys: &str, text: &str) {
        let seen = wait_until(PATIENCE, || {
            self.keyboard.write_all(keys.as_bytes()).unwrap();
            self.text().contains(text).then_some(())
        });
        assert!(seen.is_some(), "no `{text}` on\n{}", self.text());
    }

    /// Waits until something is on the screen, and returns all of it.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.wait_for_screen(|screen| screen.contains(text))
    }

    /// Waits until the screen is as it should be, and returns it.
    #[track_caller]
    pub(crate) fn wait_for_screen(&self, is_meant: impl Fn(&str) -> bool) -> String {
        let seen = wait_until(PATIENCE, || Some(self.text()).filter(|text| is_meant(text)));
        seen.unwrap_or_else(|| panic!("it is not on\n{}", self.text()))
    }

    /// Waits for the end; the exit code and all that is on the screen.
    #[track_caller]
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let status = wait_until(PATIENCE, || self.child.try_wait().unwrap());
        let Some(status) = status else {
            panic!("not over:\n{}", self.text());
        };
        wait_until(PATIENCE, || self.reader.is_finished().then_some(()));
        (status.code(), self.text())
    }

    fn text(&self) -> String {
        let parser = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = parser.screen().rows(0, self.columns);
        let lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }
}

impl Drop for Terminal {
    /// A test that fails leaves nothing behind.
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        let below = descendants(self.child.id());
        // It may have ended just now.
        _ = self.child.kill();
        _ = self.child.wait();
        for process in below {
            kill(process, Signal::KILL);
        }
    }
}

/// Draws what comes; a terminal whose last program left can no longer be read.
///
/// A frame that a program marks as one is drawn when it is whole, as terminals do.
fn draw(mut output: File, screen: Arc<Mutex<vt100::Parser>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut bytes = vec![0; 4096];
        let mut held = Vec::new();
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            held.extend_from_slice(&bytes[..count]);
            let rest = held.split_off(end_of_frames(&held));
            let mut parser = screen.lock().unwrap_or_else(PoisonError::into_inner);
            parser.process(&held);
            held = rest;
        }
    })
}

/// Where the frame begins that has not ended yet.
fn end_of_frames(bytes: &[u8]) -> usize {
    const BEGIN: &[u8] = b"\x1b[?2026h";
    const END: &[u8] = b"\x1b[?2026l";
    let last = |mark: &[u8]| bytes.windows(mark.len()).rposition(|window| window == mark);
    match (last(BEGIN), last(END)) {
        (Some(begun), ended) if ended.is_none_or(|ended| ended < begun) => begun,
        // The mark itself may have come in two pieces.
        _ => (1..BEGIN.len())
            .find(|size| bytes.ends_with(&BEGIN[..*size]))
            .map_or(bytes.len(), |size| bytes.len() - size),
    }
}
