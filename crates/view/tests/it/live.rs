//! The live view on a terminal, in step with the thread that draws it.

use pi_subagents_view::ScreenSize;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use pi_subagents_view::{AtEnd, Keyboard, LiveView, NoKeyboard, Paint, Terminal, Wall};
use pi_subagents_vocabulary::{Ending, EventSink};

use crate::emulator::Emulator;
use crate::script::{Script, at, busy_call, context};

/// Hands each frame to the test.
pub(crate) struct Frames(pub(crate) Sender<String>);

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let frame = String::from_utf8(bytes.to_vec()).unwrap();
        self.0.send(frame).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn terminal(columns: &Arc<AtomicUsize>, rows: usize) -> (Terminal, Receiver<String>) {
    let (sender, frames) = channel();
    let columns = Arc::clone(columns);
    let terminal = Terminal {
        output: Box::new(Frames(sender)),
        keyboard: Box::new(NoKeyboard),
        size: Box::new(move || ScreenSize {
            columns: columns.load(Ordering::SeqCst),
            rows,
        }),
        clock: Box::new(|| at(12)),
        paint: Paint::Ansi,
        at_end: AtEnd::Stay { max_lines: 15 },
    };
    (terminal, frames)
}

fn play(view: &mut dyn EventSink, script: &Script) {
    script.play(|events, summary| view.on_events(events, summary));
}

fn play_after(view: &mut dyn EventSink, earlier: &Script, script: &Script) {
    script.play_after(earlier, |events, summary| view.on_events(events, summary));
}

/// The next frame; a view that draws none fails the test instead of stopping it.
fn next(frames: &Receiver<String>) -> String {
    frames.recv_timeout(Duration::from_mins(1)).unwrap()
}

/// Follows the frames until one says `words`.
fn follow(emulator: &mut Emulator, frames: &Receiver<String>, words: &str) {
    while !emulator.text().contains(words) {
        emulator.write(&next(frames));
    }
}

#[test]
fn frames_take_each_others_place_and_the_last_one_stays() {
    let (terminal, frames) = terminal(&Arc::new(AtomicUsize::new(60)), 10);
    let mut emulator = Emulator::new(60, 10);
    emulator.write("$ pi-subagents delegate\r\n");
    let mut view = LiveView::start(Wall::new(context()), terminal).unwrap();
    play(&mut view, &busy_call());
    follow(&mut emulator, &frames, "1 error");
    assert!(!emulator.is_cursor_shown);
    assert!(emulator.is_wrapping);
    insta::assert_snapshot!(emulator.text(), @r#"
    $ pi-subagents delegate
    Sub-agents: 2 running, 1 queued, 1 done, 1 error
    ⏳ review • reviewer • 4 tool calls • 12s/600s
      edit → src/lib.rs (1 edit) (running)
      bash → cargo test (running)
      [stderr]: warning: unused
    ⏳ tests • 12s
      steered: Only the unit tests.
      warning: model "toor" is not known
      npm notice: plain text on stdout
    … and 1 queued, 1 done, 1 error
    "#);

    let rest = Script::new()
        .ended(13, "review", Ending::Completed)
        .ended(13, "tests", Ending::Stopped)
        .ended(13, "later", Ending::Stopped);
    play_after(&mut view, &busy_call(), &rest);
    view.finish();
    for frame in &frames {
        emulator.write(&frame);
    }
    assert!(emulator.is_cursor_shown);
    assert!(emulator.is_wrapping);
    insta::assert_snapshot!(emulator.text(), @r#"
    $ pi-subagents delegate
    Sub-agents: 2 done, 3 errors • 4 tool calls
    ✓ review • reviewer • 4 tool calls • 13s/600s
      I will look around.
      First the files:
      ls → .
        2 files, 1 dir
      read → src/lib.rs:10+40 (40 lines)
      edit → src/lib.rs (1 edit)
      bash → cargo test
      [stderr]: warning: unused

    ✗ tests • 13s
      retry 1 of 3 in 2 s: 429 Too Many Requests
      corrected: You have not reported yet.
      steered: Only the unit tests.
      warning: model "toor" is not known
      npm notice: plain text on stdout
      Error: Stopped on request.

    ✓ docs • scripted/tour • 8s/600s
      The manual has three pages.

    ✗ types
      Error: cwd must be an absolute path

    ✗ later
      Error: Stopped on request.

    Sessions:
      review  a3f7000000000292
      tests   a3f7000000000233
      docs    a3f70000000001a9
      types   a3f7000000000235
      later   a3f7000000000218
    "#);
}

#[test]
fn a_narrower_terminal_gets_a_narrower_view() {
    let columns = Arc::new(AtomicUsize::new(100));
    let (terminal, frames) = terminal(&columns, 40);
    let mut view = LiveView::start(Wall::new(context()), terminal).unwrap();
    play(&mut view, &busy_call());
    let mut wide = Emulator::new(100, 40);
    follow(&mut wide, &frames, "1 error");
    columns.store(30, Ordering::SeqCst);
    let more = Script::new().answered_text(13, "docs", "Resized.");
    play_after(&mut view, &busy_call(), &more);
    let frame = next(&frames);
    // Some of the 21 rows that were drawn before take two or more now.
    insta::assert_snapshot!(frame.chars().take(40).collect::<String>().escape_debug(), @r"\u{1b}[?2026h\u{1b}[?25l\u{1b}[?7l\r\u{1b}[37A\u{1b}[K\u{1b}[1mSub-agen");
    Emulator::new(30, 40).write(&frame);
}

#[test]
fn dropping_the_view_gives_the_cursor_back_and_a_dead_terminal_hurts_nobody() {
    let (terminal, frames) = self::terminal(&Arc::new(AtomicUsize::new(0)), 0);
    let mut view = LiveView::start(Wall::new(context()), terminal).unwrap();
    play(&mut view, &busy_call());
    drop(view);
    let mut emulator = Emulator::new(80, 24);
    for frame in &frames {
        emulator.write(&frame);
    }
    assert!(emulator.is_cursor_shown);
    assert!(emulator.text().contains("The manual"));

    let (terminal, frames) = self::terminal(&Arc::new(AtomicUsize::new(80)), 24);
    drop(frames);
    let mut view = LiveView::start(Wall::new(context()), terminal).unwrap();
    play(&mut view, &busy_call());
    view.finish();
}

/// A terminal that takes frames, and blocks when it is given back.
struct Blocking {
    frames: Frames,
    /// Ends the block when its other end is dropped.
    release: Receiver<()>,
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let gives_cursor_back = bytes.ends_with(b"\x1b[?25h");
        if gives_cursor_back {
            _ = self.release.recv();
        }
        self.frames.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_terminal_that_blocks_holds_nobody_up() {
    let (sender, frames) = channel();
    let (held, release) = channel();
    let (sized, _) = terminal(&Arc::new(AtomicUsize::new(60)), 10);
    let output = Blocking {
        frames: Frames(sender),
        release,
    };
    let terminal = Terminal {
        output: Box::new(output),
        ..sized
    };
    let mut view = LiveView::start(Wall::new(context()), terminal).unwrap();
    play(&mut view, &busy_call());
    follow(&mut Emulator::new(60, 10), &frames, "1 error");
    view.on_pause();
    let more = Script::new().answered_text(13, "docs", "Still heard.");
    play_after(&mut view, &busy_call(), &more);
    view.on_resume();
    drop(held);
    view.finish();
}

/// A keyboard that reports what is asked of it.
struct WatchedKeyboard(Sender<&'static str>, Arc<AtomicUsize>);

impl Keyboard for WatchedKeyboard {
    fn is_ours(&self) -> bool {
        _ = self.0.send("asked");
        self.1.load(Ordering::SeqCst) > 0
    }

    fn hush(&mut self) {
        _ = self.0.send("hushed");
    }

    fn restore(&mut self) {
        _ = self.0.send("restored");
    }
}

#[test]
fn a_job_in_the_background_draws_nothing_and_in_the_foreground_nothing_is_echoed() {
    let is_ours = Arc::new(AtomicUsize::new(0));
    let (sender, asked) = channel();
    let (plain, frames) = terminal(&Arc::new(AtomicUsize::new(60)), 10);
    let terminal = Terminal {
        keyboard: Box::new(WatchedKeyboard(sender, Arc::clone(&is_ours))),
        at_end: AtEnd::Vanish,
        ..plain
    };
    let mut view = LiveView::start(Wall::new(context()), terminal).unwrap();
    play(&mut view, &busy_call());
    let patience = Duration::from_mins(1);
    for _ in 0..2 {
        assert_eq!(asked.recv_timeout(patience), Ok("asked"));
    }
    assert!(frames.try_recv().is_err(), "nothing was drawn");
    is_ours.store(1, Ordering::SeqCst);
    follow(&mut Emulator::new(60, 10), &frames, "1 error");
    view.on_pause();
    view.on_resume();
    view.finish();
    let mut all: Vec<&str> = asked.iter().filter(|what| *what != "asked").collect();
    all.dedup();
    assert_eq!(all[..2], ["hushed", "restored"]);
    assert_eq!(all.last(), Some(&"restored"));
}
