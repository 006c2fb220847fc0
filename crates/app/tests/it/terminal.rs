//! Our binary in a terminal: keys in, a screen out.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pi_subagents_testkit::process::{descendants, kill};
use pi_subagents_testkit::sandbox::SandboxCommand;
use pi_subagents_testkit::{Signal, wait_until};
use rustix::fs::{Mode, OFlags};
use rustix::pty::OpenptFlags;
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

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
    keyboard: File,
    screen: Arc<Mutex<vt100::Parser>>,
    clears: Arc<AtomicUsize>,
    reader: JoinHandle<()>,
}

impl Terminal {
    pub(crate) fn start(command: SandboxCommand) -> Self {
        Self::start_with(command, COLUMNS)
    }

    /// Starts a command in a terminal of this width.
    pub(crate) fn start_with(command: SandboxCommand, columns: u16) -> Self {
        Self::start_sized(command, columns, ROWS)
    }

    /// Starts a command in a terminal of this size.
    pub(crate) fn start_sized(command: SandboxCommand, columns: u16, rows: u16) -> Self {
        Self::start_in_colour(command.env("NO_COLOR", "1"), columns, rows)
    }

    /// Starts a command in a terminal of this size that has colours.
    pub(crate) fn start_in_colour(command: SandboxCommand, columns: u16, rows: u16) -> Self {
        let keyboard = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::pty::grantpt(&keyboard).unwrap();
        rustix::pty::unlockpt(&keyboard).unwrap();
        let name = rustix::pty::ptsname(&keyboard, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = File::from(rustix::fs::open(&name, flags, Mode::empty()).unwrap());
        tcsetwinsize(&terminal, size(columns, rows)).unwrap();
        let child = command
            .env("TERM", "xterm")
            .std_command()
            .stdin(terminal.try_clone().unwrap())
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal)
            .spawn()
            .unwrap();
        let keyboard = File::from(keyboard);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let clears = Arc::new(AtomicUsize::new(0));
        let output = keyboard.try_clone().unwrap();
        let reader = draw(output, Arc::clone(&screen), Arc::clone(&clears));
        Self {
            child,
            keyboard,
            screen,
            clears,
            reader,
        }
    }

    /// Returns the number of times that the command has cleared the lines that were scrolled away.
    pub(crate) fn clears(&self) -> usize {
        self.clears.load(Ordering::Acquire)
    }

    /// Waits until a question is on the screen, then presses keys.
    #[track_caller]
    pub(crate) fn answer(&mut self, question: &str, keys: &str) {
        self.wait_for(question);
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Makes the terminal larger or smaller, as a person does with a window.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.parser().screen_mut().set_size(rows, columns);
        tcsetwinsize(&self.keyboard, size(columns, rows)).unwrap();
        self.signal(Signal::WINCH);
    }

    /// Sends a signal to the command.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.child.id(), signal);
    }

    /// The process of the command.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns whether the terminal was given back as it was, as far as a person would notice.
    pub(crate) fn is_as_it_was(&self) -> bool {
        let modes = tcgetattr(&self.keyboard).unwrap().local_modes;
        let parser = self.parser();
        let screen = parser.screen();
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
            && !(screen.alternate_screen() || screen.hide_cursor() || screen.bracketed_paste())
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
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
    pub(crate) fn wait_for_screen(&self, mut is_meant: impl FnMut(&str) -> bool) -> String {
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

    /// Waits for the end; the exit code, and whether the terminal is as it was before.
    #[track_caller]
    pub(crate) fn leave(mut self) -> (Option<i32>, bool) {
        let status = wait_until(PATIENCE, || self.child.try_wait().unwrap());
        let Some(status) = status else {
            panic!("not over:\n{}", self.text());
        };
        wait_until(PATIENCE, || self.reader.is_finished().then_some(()));
        (status.code(), self.is_as_it_was())
    }

    fn parser(&self) -> MutexGuard<'_, vt100::Parser> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands the screen to code that needs more of it than its text.
    pub(crate) fn with_screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.parser().screen())
    }

    pub(crate) fn text(&self) -> String {
        let parser = self.parser();
        let lines = parser.screen().rows(0, parser.screen().size().1);
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

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// Draws the output. A terminal whose last program left can no longer be read.
///
/// A frame that a program marks as one is drawn when it is whole, as terminals do.
fn draw(
    mut output: File,
    screen: Arc<Mutex<vt100::Parser>>,
    clears: Arc<AtomicUsize>,
) -> JoinHandle<()> {
    const CLEAR: &[u8] = b"\x1b[3J";
    thread::spawn(move || {
        let mut bytes = vec![0; 4096];
        let mut held = Vec::new();
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            held.extend_from_slice(&bytes[..count]);
            let rest = held.split_off(end_of_frames(&held));
            let mut parser = screen.lock().unwrap_or_else(PoisonError::into_inner);
            parser.process(&held);
            let cleared = held.windows(CLEAR.len()).filter(|bytes| *bytes == CLEAR);
            clears.fetch_add(cleared.count(), Ordering::Release);
            held = rest;
        }
    })
}

/// Returns the place where the frame begins that has not ended yet.
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
