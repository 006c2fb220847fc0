//! Our binary in a terminal: keys in, a screen out.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pi_subagents_testkit::sandbox::SandboxCommand;
use pi_subagents_testkit::wait_until;
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
            self.child.kill().unwrap();
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

/// Draws what comes; a terminal whose last program left can no longer be read.
fn draw(mut output: File, screen: Arc<Mutex<vt100::Parser>>) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut bytes = vec![0; 4096];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            let mut parser = screen.lock().unwrap_or_else(PoisonError::into_inner);
            parser.process(&bytes[..count]);
        }
    })
}
