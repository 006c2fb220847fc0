//! The table of keys. `docs/design/attach.md` has the same table, and so has the help.

/// The part of the screen in which a key has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    List,
    Window,
    Both,
}

/// A key, its place, and its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) place: Where,
    pub(crate) keys: &'static str,
    pub(crate) does: &'static str,
}

const fn list(keys: &'static str, does: &'static str) -> Key {
    Key {
        place: Where::List,
        keys,
        does,
    }
}

const fn window(keys: &'static str, does: &'static str) -> Key {
    Key {
        place: Where::Window,
        keys,
        does,
    }
}

const fn both(keys: &'static str, does: &'static str) -> Key {
    Key {
        place: Where::Both,
        keys,
        does,
    }
}

/// Every key and its effect, in the words of the help.
pub(crate) const KEYS: [Key; 35] = [
    list("↑ ↓, k j", "select the run above or below"),
    list("PgUp PgDn, g G", "go up or down a page, or to an end"),
    list("Enter", "open the run: its window gets the screen"),
    list(
        "/",
        "show only runs with these words (name, task, model, state, id)",
    ),
    list(
        "A C S",
        "sort by age, cost or status; again: the other way round",
    ),
    list("n", "start a new run in the background"),
    list("q", "leave; the runs continue"),
    list("Esc", "show all runs again after a filter"),
    window("↑ ↓, k j", "scroll one line"),
    window("PgUp PgDn, Space", "scroll one page"),
    window("g G", "go to the beginning or to the end"),
    window("[ ]", "select the tool call above or below"),
    window("Enter, Ctrl-O", "open or close the selected tool call"),
    window("e", "open or close all tool calls"),
    window("/", "search the text, also in closed tool calls"),
    window("n N", "go to the next or previous place that was found"),
    window(
        "f",
        "follow: stay at the end as it grows, or stop following",
    ),
    window("q, Esc", "go back one step"),
    both("Tab", "switch between the list and the window"),
    both("a", "show the runs of all projects, or of this one"),
    both("o", "read what the run answered, or go back"),
    both("i", "see what the run did: files, commands, tests"),
    both("d", "see what the run changed, or go back"),
    both(
        "m",
        "merge what the run changed in its worktree, after a look at what fits and a question",
    ),
    both(
        "D",
        "discard what the run changed in its worktree, after a question",
    ),
    both(
        "s",
        "steer: send a message that it reads before its next turn",
    ),
    both(
        "!",
        "answer the question that the run waits with: an option's number, or words",
    ),
    both(
        "r",
        "resume a finished run with a new prompt, in the background",
    ),
    both("x", "stop the run, after a question"),
    both("y Y", "copy the id or the answer of the run"),
    both("w", "open the web page at the run"),
    both("M", "use the mouse here, or leave it to the terminal"),
    both("?", "show or hide this help"),
    both("Ctrl-Z", "pause; fg continues"),
    both("Ctrl-C", "leave; the runs continue"),
];
