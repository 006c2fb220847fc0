//! The numbers of runs in each state, as one line.

use pi_subagents_vocabulary::Counts;

use crate::{Line, Role};

/// Draws the counts above the windows of a call as one line, in the words of the delegation
/// family, for which a run that somebody stopped is an error.
pub(crate) fn results_header(counts: Counts) -> Line {
    titled(&results(counts))
}

/// Draws the counts of a list as one line, in the words for the states of a run.
pub fn states_header(counts: Counts) -> Line {
    titled(&[
        State::new(counts.running, "running", Role::Warning),
        State::new(counts.waiting, "waiting", Role::Warning),
        State::new(counts.parked, "parked", Role::Warning),
        State::new(counts.queued, "queued", Role::Muted),
        State::new(counts.completed, "completed", Role::Success),
        State::new(counts.failed, "failed", Role::Failed),
        State::new(counts.stopped, "stopped", Role::Warning),
    ])
}

/// Says how many runs are not shown.
pub(crate) fn and_so_many(hidden: Counts) -> Line {
    listed(&results(hidden), Line::new(Role::Muted, "… and "))
}

/// The number of runs in a state, with its word.
struct State {
    number: usize,
    word: &'static str,
    role: Role,
}

impl State {
    fn new(number: usize, word: &'static str, role: Role) -> Self {
        Self { number, word, role }
    }
}

fn results(counts: Counts) -> [State; 5] {
    let errors = counts.failed + counts.stopped;
    let asking = counts.waiting + counts.parked;
    let word = if errors == 1 { "error" } else { "errors" };
    [
        State::new(counts.running, "running", Role::Warning),
        State::new(
            asking,
            if asking == 1 { "asks" } else { "ask" },
            Role::Warning,
        ),
        State::new(counts.queued, "queued", Role::Muted),
        State::new(counts.completed, "done", Role::Success),
        State::new(errors, word, Role::Failed),
    ]
}

fn titled(states: &[State]) -> Line {
    let line = listed(states, Line::new(Role::Title, "Sub-agents: "));
    if line.spans().len() == 1 {
        return line.with(Role::Muted, "none");
    }
    line
}

/// Adds the states that some runs are in.
fn listed(states: &[State], begun: Line) -> Line {
    let states = states.iter().filter(|state| state.number > 0);
    let mut line = begun;
    for (place, state) in states.enumerate() {
        if place > 0 {
            line = line.with(Role::Plain, ", ");
        }
        line = line.with(state.role, &format!("{} {}", state.number, state.word));
    }
    line
}
