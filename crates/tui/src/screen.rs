//! The terminal while it is ours: another screen, every key as it is pressed, the mouse if a person
//! wants it. However we end, it is given back as it was.

use ratatui::layout::Size;
use std::io::{self, Stdout, Write as _, stdout};
use std::mem::ManuallyDrop;
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};

/// True while the terminal has to be given back.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// Asks for clicks and the wheel. Movements are not asked for: they are not used, and each would
/// wake us up.
const MOUSE_ON: &str = "\u{1b}[?1000h\u{1b}[?1006h";
const MOUSE_OFF: &str = "\u{1b}[?1006l\u{1b}[?1000l";

/// The terminal, until this is dropped.
pub(super) struct Screen {
    /// Never dropped: it would show the cursor, and panic where the terminal is gone.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        restore_before_panics();
        IS_OURS.store(true, Ordering::SeqCst);
        let entered = Self::enter_once();
        if entered.is_err() {
            give_back();
        }
        entered
    }

    fn enter_once() -> io::Result<Self> {
        take()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(Self {
            terminal: ManuallyDrop::new(terminal),
        })
    }

    /// Takes the terminal again that was given back for a while.
    pub(super) fn enter_again(&mut self) -> io::Result<()> {
        IS_OURS.store(true, Ordering::SeqCst);
        take()?;
        execute!(stdout(), Clear(ClearType::All))?;
        // The old terminal would ask for the place of its cursor, and our keyboard reads the
        // answer.
        *self.terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }

    /// Uses the mouse, or leaves it to the terminal.
    pub(super) fn use_mouse(is_used: bool) -> io::Result<()> {
        Self::send(if is_used { MOUSE_ON } else { MOUSE_OFF })
    }

    /// Sends something to the terminal that is not drawn.
    pub(super) fn send(sequence: &str) -> io::Result<()> {
        if !IS_OURS.load(Ordering::SeqCst) {
            return Ok(());
        }
        let mut terminal = stdout();
        terminal.write_all(sequence.as_bytes())?;
        terminal.flush()
    }

    /// Draws a frame, which appears at once.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if !IS_OURS.load(Ordering::SeqCst) {
            // A thread of ours has panicked and given it back.
            return Err(io::Error::other("a part of attach has failed"));
        }
        queue!(stdout(), BeginSynchronizedUpdate)?;
        self.terminal.draw(draw)?;
        execute!(stdout(), EndSynchronizedUpdate)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Returns the size of the terminal; a terminal that does not know it is as large as most.
pub(super) fn terminal_size() -> Size {
    match size() {
        Ok((columns @ 1.., rows @ 1..)) => Size::new(columns, rows),
        Ok(_) | Err(_) => Size::new(80, 24),
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)
}

/// Gives the terminal back, if it is ours.
pub(super) fn give_back() {
    if IS_OURS.swap(false, Ordering::SeqCst) {
        // A terminal that is gone needs nothing back.
        _ = execute!(
            stdout(),
            EndSynchronizedUpdate,
            Print(MOUSE_OFF),
            DisableBracketedPaste,
            LeaveAlternateScreen,
            Show
        );
        _ = disable_raw_mode();
    }
}

/// Gives the terminal back before a panic is printed, so that its message can be read.
fn restore_before_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            give_back();
            usual(panic);
        }));
    });
}
