//! The rule by which a write that was interrupted is finished or taken back. It knows only looks: what
//! lies in the folder of the write tells how far it came.

use super::journal::Entry;
use super::look::Look;

/// The looks at the places of one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The path in the checkout.
    pub(crate) disk: Option<Look>,
    /// The slot that held the new file. An exchange leaves the old file in it.
    pub(crate) slot: Option<Look>,
    /// The slot for an old file that was moved away.
    pub(crate) old: Option<Look>,
}

/// How far the write of one entry came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It was not begun.
    Unwritten,
    /// The old file is away, and the new one is not there yet.
    MovedOut,
    /// It was done.
    Written,
}

/// The state of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryState {
    pub(crate) stage: Stage,
    /// True if somebody has changed the path since.
    pub(crate) is_edited: bool,
}

/// The next step after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// The rest is written. Edits of what was written stay on top.
    Finish,
    /// What was written is taken back, because a path that was not written has been edited since.
    /// Edits stay as they are, also those of what was written.
    TakeBack,
}

/// Returns how far the write of an entry came, and whether it was edited since.
pub(crate) fn state_of(entry: &Entry, found: &Found) -> EntryState {
    let stage = match (&entry.before, &entry.after) {
        // A file that goes is moved away.
        (_, None) if found.old.is_some() => Stage::Written,
        (_, None) => Stage::Unwritten,
        // A file that comes leaves its slot.
        (None, Some(_)) if found.slot.is_some() => Stage::Unwritten,
        (None, Some(_)) => Stage::Written,
        (Some(_), Some(_)) => match (&found.slot, &found.old) {
            (Some(_), Some(_)) => Stage::MovedOut,
            (slot, None) if *slot == entry.after => Stage::Unwritten,
            (None, Some(_)) | (_, None) => Stage::Written,
        },
    };
    let is_edited = match stage {
        Stage::Unwritten => found.disk != entry.before,
        Stage::MovedOut => found.disk.is_some(),
        Stage::Written => found.disk != entry.after,
    };
    EntryState { stage, is_edited }
}

/// Decides what becomes of a write that was interrupted.
pub(crate) fn recovery(states: &[EntryState]) -> Recovery {
    let is_overtaken = |state: &EntryState| state.is_edited && state.stage != Stage::Written;
    if states.iter().any(is_overtaken) {
        Recovery::TakeBack
    } else {
        Recovery::Finish
    }
}

#[cfg(test)]
mod tests {
    use super::super::journal::Ids;
    use super::*;

    fn look(word: &str) -> Option<Look> {
        (word != "-").then(|| Look::Link {
            hash: word.to_owned(),
        })
    }

    fn state(entry: [&str; 2], found: [&str; 3]) -> (Stage, bool) {
        let entry = Entry {
            path: "a".into(),
            before: look(entry[0]),
            after: look(entry[1]),
            ids: Ids {
                before: String::new(),
                after: String::new(),
            },
        };
        let [disk, slot, old] = found.map(look);
        let state = state_of(&entry, &Found { disk, slot, old });
        (state.stage, state.is_edited)
    }

    #[test]
    fn the_folder_tells_how_far_a_write_came() {
        use Stage::{MovedOut, Unwritten, Written};
        // A change by exchange: disk, slot, old.
        assert_eq!(state(["b", "a"], ["b", "a", "-"]), (Unwritten, false));
        assert_eq!(state(["b", "a"], ["x", "a", "-"]), (Unwritten, true));
        assert_eq!(state(["b", "a"], ["a", "b", "-"]), (Written, false));
        assert_eq!(state(["b", "a"], ["x", "b", "-"]), (Written, true));
        // An editor wrote into the old file after it was exchanged.
        assert_eq!(state(["b", "a"], ["a", "x", "-"]), (Written, false));
        // A change in two steps.
        assert_eq!(state(["b", "a"], ["-", "a", "b"]), (MovedOut, false));
        assert_eq!(state(["b", "a"], ["x", "a", "b"]), (MovedOut, true));
        assert_eq!(state(["b", "a"], ["a", "-", "b"]), (Written, false));
        // A file that comes, and one that goes.
        assert_eq!(state(["-", "a"], ["-", "a", "-"]), (Unwritten, false));
        assert_eq!(state(["-", "a"], ["x", "a", "-"]), (Unwritten, true));
        assert_eq!(state(["-", "a"], ["a", "-", "-"]), (Written, false));
        assert_eq!(state(["-", "a"], ["-", "-", "-"]), (Written, true));
        assert_eq!(state(["b", "-"], ["b", "-", "-"]), (Unwritten, false));
        assert_eq!(state(["b", "-"], ["-", "-", "b"]), (Written, false));
        assert_eq!(state(["b", "-"], ["x", "-", "b"]), (Written, true));
    }

    #[test]
    fn what_was_edited_decides() {
        let one = |stage, is_edited| EntryState { stage, is_edited };
        let (open, done) = (one(Stage::Unwritten, false), one(Stage::Written, false));
        let (open_edited, done_edited) = (one(Stage::Unwritten, true), one(Stage::Written, true));
        assert_eq!(recovery(&[]), Recovery::Finish);
        assert_eq!(recovery(&[open, done]), Recovery::Finish);
        assert_eq!(recovery(&[open, done_edited]), Recovery::Finish);
        assert_eq!(recovery(&[open_edited, done]), Recovery::TakeBack);
        let moved_out = one(Stage::MovedOut, true);
        assert_eq!(recovery(&[moved_out, done]), Recovery::TakeBack);
        assert_eq!(recovery(&[open_edited, done_edited]), Recovery::TakeBack);
    }
}
