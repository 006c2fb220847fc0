//! Replaces the parts that differ from run to run: paths, ids, times and durations.

use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex::{Captures, Regex};

/// The replacements of one sandbox. An id keeps its number in all texts of the sandbox.
#[derive(Debug, Clone)]
pub(super) struct Normaliser {
    /// Paths and their replacements, the longer paths first.
    paths: [(String, &'static str); 3],
    names: Arc<Mutex<Names>>,
}

impl Normaliser {
    pub(super) fn new(root: &Path) -> Self {
        let path = |below: &str| root.join(below).display().to_string();
        Self {
            paths: [
                (path("project"), "$PROJECT"),
                (path("home"), "$HOME"),
                (root.display().to_string(), "$SANDBOX"),
            ],
            names: Arc::default(),
        }
    }

    pub(super) fn normalise(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, name) in &self.paths {
            text = text.replace(path, name);
        }
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        CHANGING
            .replace_all(&text, |found: &Captures<'_>| names.stand_in(found))
            .into_owned()
    }
}

/// The parts of a text that change from run to run, each alternative a named group.
static CHANGING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x-u)
        \b (?:
            (?<run> [0-9]{8}-[0-9]{6}-[0-9]{3}-[0-9a-f]{6} )
          | (?<uuid> [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12} )
          | (?<session> [0-9a-f]{16} )
          | (?<time> [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}
                     (?: \.[0-9]+ )? (?: Z | [+-][0-9]{2}:[0-9]{2} )
                   | [0-9]{4}-[0-9]{2}-[0-9]{2}\x20[0-9]{2}:[0-9]{2}:[0-9]{2} )
          | (?<past> a\x20moment\x20ago | [0-9]+\x20(?: second | minute )s?\x20ago )
          | (?<duration> (?: [0-9]+h\x20? )? (?: [0-9]+m\x20? )? [0-9]+ (?: \.[0-9]+ )? (?: ms | s ) )
        ) \b",
    )
    .expect("a pattern that compiles")
});

/// The ids seen so far, numbered by first appearance.
#[derive(Debug, Default)]
struct Names {
    runs: Vec<String>,
    sessions: Vec<String>,
    uuids: Vec<String>,
}

impl Names {
    fn stand_in(&mut self, found: &Captures<'_>) -> String {
        if found.name("time").is_some() {
            return "<time>".to_owned();
        }
        if found.name("past").is_some() {
            return "<past>".to_owned();
        }
        if found.name("duration").is_some() {
            return "<duration>".to_owned();
        }
        let (kind, seen) = if found.name("run").is_some() {
            ("run", &mut self.runs)
        } else if found.name("uuid").is_some() {
            ("uuid", &mut self.uuids)
        } else {
            ("session", &mut self.sessions)
        };
        format!("<{kind}-{}>", number(seen, &found[0]))
    }
}

fn number(seen: &mut Vec<String>, id: &str) -> usize {
    let index = seen
        .iter()
        .position(|known| known == id)
        .unwrap_or_else(|| {
            seen.push(id.to_owned());
            seen.len() - 1
        });
    index + 1
}
