//! Ready-made agents. They are part of the binary and count only after `agents add` has copied them, so
//! that nothing is installed that nobody asked for.

use pi_subagents_vocabulary::nearest;

/// An agent that can be copied.
pub(super) struct ReadyMade {
    pub(super) name: &'static str,
    /// The whole file.
    pub(super) text: &'static str,
}

/// All of them, in the order in which people need them.
pub(super) static READY_MADE: [ReadyMade; 8] = [
    ready_made("scout", include_str!("ready_made/scout.md")),
    ready_made("reviewer", include_str!("ready_made/reviewer.md")),
    ready_made("tester", include_str!("ready_made/tester.md")),
    ready_made("fixer", include_str!("ready_made/fixer.md")),
    ready_made("planner", include_str!("ready_made/planner.md")),
    ready_made(
        "security-reviewer",
        include_str!("ready_made/security-reviewer.md"),
    ),
    ready_made("documenter", include_str!("ready_made/documenter.md")),
    ready_made(
        "second-opinion",
        include_str!("ready_made/second-opinion.md"),
    ),
];

/// Returns the names of all ready-made agents.
pub fn ready_made_names() -> impl Iterator<Item = &'static str> {
    READY_MADE.iter().map(|agent| agent.name)
}

const fn ready_made(name: &'static str, text: &'static str) -> ReadyMade {
    ReadyMade { name, text }
}

impl ReadyMade {
    /// Finds one by its name; else returns the name that was probably meant.
    pub(super) fn find(name: &str) -> Result<&'static Self, Option<&'static str>> {
        let found = READY_MADE.iter().find(|agent| agent.name == name);
        found.ok_or_else(|| nearest(name, ready_made_names()))
    }

    /// Returns the line that says what it is good for.
    pub(super) fn description(&self) -> &'static str {
        let mut lines = self.text.lines();
        lines
            .find_map(|line| line.strip_prefix("description: "))
            .unwrap_or_default()
    }
}
