//! Keys and clicks, as they come. A thread waits for them, because a terminal cannot be waited for
//! otherwise; it ends with its terminal or with us.

use std::io;

use crossterm::event::{self, Event, KeyEventKind, MouseButton, MouseEventKind};
use pi_subagents_os::wait_for_input;
use std::time::Duration;
use tokio::sync::mpsc;

use super::message::{Message, MouseAct};

/// The news from the keyboard.
#[derive(Debug)]
pub(super) enum Typed {
    Message(Message),
    /// No key will ever be pressed again.
    Gone,
}

/// The number of keys that may wait: as many as a person holds down.
const WAITING: usize = 64;

/// The time that more bytes of a key may take; crossterm does not look at all if it may not wait.
const A_MOMENT: Duration = Duration::from_millis(1);

pub(super) fn listen() -> io::Result<mpsc::Receiver<Typed>> {
    let (tell, typed) = mpsc::channel(WAITING);
    std::thread::Builder::new()
        .name("keyboard".to_owned())
        .spawn(move || {
            while let Ok(events) = next() {
                for message in events.into_iter().filter_map(message) {
                    if tell.blocking_send(Typed::Message(message)).is_err() {
                        return;
                    }
                }
            }
            // The listener may have left.
            _ = tell.blocking_send(Typed::Gone);
        })?;
    Ok(typed)
}

/// Waits for bytes first: a terminal that was hung up would be read for ever.
fn next() -> io::Result<Vec<Event>> {
    wait_for_input(io::stdin())?;
    let mut events = Vec::new();
    while event::poll(A_MOMENT)? {
        events.push(event::read()?);
    }
    Ok(events)
}

/// Returns the message of an event of the terminal.
fn message(event: Event) -> Option<Message> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Message::Pressed(key)),
        Event::Paste(text) => Some(Message::Pasted(text)),
        Event::Mouse(mouse) => {
            let act = match mouse.kind {
                MouseEventKind::Down(MouseButton::Left) => MouseAct::Click,
                MouseEventKind::ScrollUp => MouseAct::WheelUp,
                MouseEventKind::ScrollDown => MouseAct::WheelDown,
                _ => return None,
            };
            Some(Message::Mouse(act, mouse.column, mouse.row))
        }
        // The size is asked for when the system reports that it has changed.
        Event::Key(_) | Event::Resize(..) | Event::FocusGained | Event::FocusLost => None,
    }
}
