//! Lines from our stdin, read by a thread of its own.

use std::io::{self, BufRead, Read};

use tokio::sync::mpsc;

/// Starts reading; the channel closes at the end of the input.
///
/// Lines end at LF bytes and nothing else: U+2028 inside a string is text.
pub(crate) fn lines() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel(16);
    std::thread::Builder::new().spawn(move || {
        let mut stdin = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            match stdin.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    if sender.blocking_send(line).is_err() {
                        return;
                    }
                }
            }
        }
    })?;
    Ok(receiver)
}

/// Reads all of stdin as trimmed text, if it is not a terminal.
pub(crate) fn piped_text() -> Option<String> {
    let mut stdin = std::io::stdin().lock();
    if std::io::IsTerminal::is_terminal(&stdin) {
        return None;
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}
