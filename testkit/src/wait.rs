//! Bounded waits on conditions, in place of sleeps of a guessed length.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(5);

/// Waits until `probe` returns a value, or returns `None` after `patience`.
pub fn wait_until<T>(patience: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + patience;
    loop {
        if let Some(value) = probe() {
            return Some(value);
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(POLL);
    }
}

/// Waits until a file exists and returns its text.
///
/// # Panics
///
/// If it is not there after `patience`.
#[track_caller]
pub fn wait_for_file(path: impl AsRef<Path>, patience: Duration) -> String {
    let path = path.as_ref();
    wait_until(patience, || fs::read_to_string(path).ok())
        .unwrap_or_else(|| panic!("{} did not appear within {patience:?}", path.display()))
}
