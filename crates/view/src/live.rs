//! The windows, live in place on a terminal.
//!
//! Events only change the wall and wake a thread; that thread draws, at most twenty times a
//! second, and once a second for the clocks. [`LiveView`] owns it and joins it.

use crate::screen::ScreenSize;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pi_subagents_vocabulary::{EventSink, PartialMessage, RunEvent, RunId, RunSummary, Timestamp};

use crate::screen::{Keyboard, NoKeyboard, Screen};
use crate::{Hands, Line, LiveKey, LiveWish, Paint, Role, View, Wall};

/// No eye reads faster than this.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);

/// The clocks show seconds.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The number of columns by which the previews of calls are narrower than the terminal.
const MARGINS: usize = 4;

/// The parts of the world that a live view needs.
pub struct Terminal {
    /// The stream on which the view is drawn.
    pub output: Box<dyn Write + Send>,
    /// The keyboard, whose echo would disturb the frames.
    pub keyboard: Box<dyn Keyboard>,
    /// Returns the present number of columns and rows.
    pub size: Box<dyn Fn() -> ScreenSize + Send>,
    /// Returns the present time.
    pub clock: Box<dyn Fn() -> Timestamp + Send>,
    /// The use of colours.
    pub paint: Paint,
    /// The part that stays on the screen when the view is finished.
    pub at_end: AtEnd,
}

/// The part of a live view that stays on the screen at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// Nothing: the answers are printed in its place.
    Vanish,
    /// All windows stay as ordinary lines, each with a limited number of them.
    Stay {
        /// The largest number of lines that stay of each window.
        max_lines: usize,
    },
}

/// An event sink that draws the windows of its runs in place.
///
/// When it is finished or dropped, [`AtEnd`] decides which lines stay on the screen, and the cursor
/// is back.
#[derive(Debug)]
pub struct LiveView {
    shared: Arc<Shared>,
    drawing: Option<JoinHandle<()>>,
}

/// Lets somebody who does not own a [`LiveView`] have it drawn again.
#[derive(Debug, Clone)]
pub struct Redraw(Weak<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    wall: Wall,
    /// The hands of the person before the view, if keys are read.
    hands: Option<Hands>,
    is_dirty: bool,
    is_finished: bool,
    pause: Pause,
}

/// The state of a pause in which nothing is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// Frames are drawn.
    None,
    /// The process is about to be stopped, and the terminal is to be given back.
    Wanted,
    /// The terminal has been given back.
    Resting,
}

impl LiveView {
    /// Starts to draw `wall`.
    pub fn start(wall: Wall, terminal: Terminal) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                wall,
                hands: None,
                is_dirty: true,
                is_finished: false,
                pause: Pause::None,
            }),
            changed: Condvar::new(),
        });
        let seen = Arc::clone(&shared);
        let drawing = std::thread::Builder::new()
            .name("windows".to_owned())
            .spawn(move || draw_until_finished(&seen, terminal))?;
        Ok(Self {
            shared,
            drawing: Some(drawing),
        })
    }

    /// Returns a handle by which the view can be drawn again as long as it is there.
    pub fn redraw(&self) -> Redraw {
        Redraw(Arc::downgrade(&self.shared))
    }

    /// Lets a person press keys, and returns the handle that takes them.
    pub fn hands(&self) -> LiveHands {
        self.shared.lock().hands.get_or_insert_default();
        LiveHands(Arc::downgrade(&self.shared))
    }

    /// Draws the lines that stay on the screen, and returns when they are there.
    pub fn finish(mut self) {
        self.join();
    }

    fn join(&mut self) {
        let Some(drawing) = self.drawing.take() else {
            return;
        };
        self.shared.lock().is_finished = true;
        self.shared.changed.notify_all();
        // A drawing thread that panicked has given the cursor back while unwinding.
        let _ = drawing.join();
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.join();
    }
}

impl EventSink for LiveView {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        self.shared.apply(events, summary);
    }

    fn wants_partial_messages(&self) -> bool {
        true
    }

    fn on_partial_message(&mut self, run: &RunId, message: &PartialMessage) {
        self.shared.show_partial(run, message);
    }

    fn on_pause(&mut self) {
        self.shared.pause();
    }

    fn on_resume(&mut self) {
        self.shared.resume();
    }
}

/// Takes the keys of the person before a [`LiveView`].
#[derive(Debug, Clone)]
pub struct LiveHands(Weak<Shared>);

impl LiveHands {
    /// Returns whether the view is still there.
    pub fn are_there(&self) -> bool {
        self.0.upgrade().is_some()
    }

    /// Takes a key, and returns what it asks for.
    pub fn press(&self, key: LiveKey) -> Option<LiveWish> {
        let shared = self.0.upgrade()?;
        let mut state = shared.lock();
        let State { wall, hands, .. } = &mut *state;
        let wish = hands.as_mut()?.press(key, wall);
        shared.has_changed(&mut state);
        wish
    }

    /// Shows a sentence until the next key.
    pub fn tell(&self, role: Role, sentence: String) {
        let Some(shared) = self.0.upgrade() else {
            return;
        };
        let mut state = shared.lock();
        if let Some(hands) = &mut state.hands {
            hands.tell(role, sentence);
        }
        shared.has_changed(&mut state);
    }

    /// Gives the terminal back, and returns when nothing more is drawn.
    pub fn rest(&self) {
        if let Some(shared) = self.0.upgrade() {
            shared.pause();
        }
    }

    /// Draws again after a rest, as soon as this process has its terminal.
    pub fn draw_again(&self) {
        if let Some(shared) = self.0.upgrade() {
            shared.resume();
        }
    }

    /// Returns the name of a run.
    pub fn name_of(&self, run: &RunId) -> String {
        let shared = self.0.upgrade();
        let name =
            shared.and_then(|shared| Some(shared.lock().wall.window(run)?.name().to_owned()));
        name.unwrap_or_default()
    }
}

impl Redraw {
    /// Has the view drawn again soon, because the terminal has another size now. Returns whether
    /// the view is still there.
    pub fn soon(&self) -> bool {
        let Some(shared) = self.0.upgrade() else {
            return false;
        };
        shared.has_changed(&mut shared.lock());
        true
    }
}

impl Shared {
    fn apply(&self, events: &[RunEvent], summary: &RunSummary) {
        let mut state = self.lock();
        state.wall.apply(events, summary);
        self.has_changed(&mut state);
    }

    fn show_partial(&self, run: &RunId, message: &PartialMessage) {
        let mut state = self.lock();
        if state.wall.show_partial(run, message) {
            self.has_changed(&mut state);
        }
    }

    fn has_changed(&self, state: &mut State) {
        if !std::mem::replace(&mut state.is_dirty, true) {
            self.changed.notify_all();
        }
    }

    /// Waits until the drawing thread has given the terminal back.
    fn pause(&self) {
        self.lock().pause = Pause::Wanted;
        self.changed.notify_all();
        self.wait(LONGEST_PAUSE, |state| state.pause == Pause::Resting);
    }

    /// Notes that the terminal has been given back, unless the pause is over already.
    fn note_rest(&self) {
        let mut state = self.lock();
        if state.pause == Pause::Wanted {
            state.pause = Pause::Resting;
        }
        self.changed.notify_all();
    }

    fn resume(&self) {
        let mut state = self.lock();
        state.pause = Pause::None;
        state.is_dirty = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is a fold; even after a panic it is worth showing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `is_enough` or the time is over; true when the view is finished.
    fn wait(&self, longest: Duration, is_enough: impl Fn(&State) -> bool) -> bool {
        let deadline = Instant::now() + longest;
        let mut state = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if state.is_finished || left.is_zero() || is_enough(&state) {
                return state.is_finished;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

fn draw_until_finished(shared: &Shared, terminal: Terminal) {
    let Terminal {
        output,
        keyboard,
        size,
        clock,
        paint,
        at_end,
    } = terminal;
    let mut screen = Screen::new(output, keyboard, paint);
    while !shared.wait(LONGEST_PAUSE, |state| {
        state.is_dirty || state.pause != Pause::None
    }) {
        if rest(shared, &mut screen) {
            continue;
        }
        if !screen.is_ours() {
            shared.wait(LONGEST_PAUSE, |state| state.pause != Pause::None);
            continue;
        }
        let size_now = usable(size());
        let columns = size_now.columns;
        let frame = {
            let mut state = shared.lock();
            state.is_dirty = false;
            state
                .wall
                .set_preview_width(columns.saturating_sub(MARGINS));
            state.frame(clock(), size_now)
        };
        if frame.rings && screen.ring().is_err() {
            return;
        }
        let lines = frame.lines;
        // A terminal that is gone needs no view; the runs are recorded elsewhere.
        if screen.draw(lines, size_now).is_err() {
            return;
        }
        if shared.wait(SHORTEST_PAUSE, |_| false) {
            break;
        }
    }
    let size = usable(size());
    let AtEnd::Stay { max_lines } = at_end else {
        let _ = screen.erase(size);
        return;
    };
    let lines = {
        let mut state = shared.lock();
        state.wall.drop_partials();
        let view = View {
            columns: size.columns,
            max_lines,
            expanded: false,
        };
        state.wall.view(clock(), &view)
    };
    let _ = screen.leave(&lines, size);
}

/// The lines of a moment.
struct Frame {
    lines: Vec<Line>,
    /// True if the bell is to ring.
    rings: bool,
}

impl State {
    /// Draws the windows, and below them what the hands hold. These get at most half of the rows.
    fn frame(&mut self, now: Timestamp, size: ScreenSize) -> Frame {
        let Self { wall, hands, .. } = self;
        let ScreenSize { columns, rows } = size;
        let is_busy = !wall.windows().is_empty() && !wall.is_over();
        let Some(hands) = hands.as_mut().filter(|_| is_busy) else {
            return Frame {
                lines: wall.view_in_rows(now, columns, rows),
                rings: false,
            };
        };
        let mut held = hands.draw(wall, columns);
        held.drain(..held.len().saturating_sub((rows / 2).max(1)));
        let room = rows.saturating_sub(held.len());
        let mut lines = match hands.story(wall) {
            Some((window, below)) => wall.story_in_rows(
                window,
                below,
                now,
                ScreenSize {
                    columns,
                    rows: room,
                },
            ),
            None => wall.view_in_rows(now, columns, room),
        };
        lines.extend(held);
        Frame {
            lines,
            rings: hands.rings(wall),
        }
    }
}

/// Gives the terminal back while the process is about to be stopped; true when it is.
fn rest(shared: &Shared, screen: &mut Screen) -> bool {
    if shared.lock().pause == Pause::None {
        return false;
    }
    // A terminal may block, and events must be taken all the same. One that is gone needs nothing
    // back.
    let _ = screen.rest();
    shared.note_rest();
    shared.wait(LONGEST_PAUSE, |state| state.pause == Pause::None);
    true
}

/// Replaces a size of 0, which some terminals report because they do not know their size.
fn usable(size: ScreenSize) -> ScreenSize {
    let or = |number: usize, usual: usize| if number == 0 { usual } else { number };
    ScreenSize {
        columns: or(size.columns, 80),
        rows: or(size.rows, 24),
    }
}

impl Terminal {
    /// Makes a terminal with the clock of this machine, on which nothing is left behind.
    pub fn new(
        output: Box<dyn Write + Send>,
        size: Box<dyn Fn() -> ScreenSize + Send>,
        paint: Paint,
    ) -> Self {
        Self {
            output,
            keyboard: Box::new(NoKeyboard),
            size,
            clock: Box::new(Timestamp::now),
            paint,
            at_end: AtEnd::Vanish,
        }
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Terminal")
            .field("paint", &self.paint)
            .field("at_end", &self.at_end)
            .finish_non_exhaustive()
    }
}
