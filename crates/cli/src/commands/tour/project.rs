//! The small project of the tour, and the tasks for it. The words of the tasks choose the rules of
//! the script in `agent/src/providers/scripted_provider/tour.json`.

use std::path::Path;

use pi_subagents_files::{create_directories, write_whole};
use pi_subagents_git::new_repository;

use pi_subagents_calls::TaskRequest;
use pi_subagents_ground::error::CommandError;

/// The command that must pass before the work of a sub-agent counts.
pub(super) const GATE: &str = "sh check.sh";

/// The task that the gate sends back once.
pub(super) const GATED: &str = "horn";

/// The tasks, by name and prompt. The first and the last change the same line.
pub(super) const TASKS: [(&str, &str); 3] = [
    ("flash", "Make the lamp flash three times"),
    (GATED, "Add a fog horn that sounds twice"),
    ("glow", "Let the lamp glow at dusk"),
];

const FILES: [(&str, &str); 3] = [
    (
        "README.md",
        "# Lighthouse\n\nA small program that keeps ships off the rocks.\n",
    ),
    ("lamp.sh", "# Lights the lamp.\necho \"flash\"\n"),
    (
        "check.sh",
        r#"# Checks that every part of the lighthouse works.
sh lamp.sh > /dev/null || exit 1
if [ -e horn.sh ]; then
    sounds=$(sh horn.sh | grep -c toot)
    if [ "$sounds" -ne 2 ]; then
        echo "horn.sh: expected 2 sounds, heard $sounds"
        exit 1
    fi
fi
echo "The lighthouse works."
"#,
    ),
];

/// Writes the project into a directory and makes a repository of it.
pub(super) fn make(directory: &Path) -> Result<(), CommandError> {
    let failed = |error: &dyn std::error::Error| {
        CommandError::failed("the project of the tour could not be made").because(error)
    };
    create_directories(directory).map_err(|error| failed(&error))?;
    for (name, text) in FILES {
        write_whole(&directory.join(name), text.as_bytes()).map_err(|error| failed(&error))?;
    }
    new_repository(directory, "Light the lamp").map_err(|error| failed(&error))
}

/// Returns the tasks for a call.
pub(super) fn tasks() -> Vec<TaskRequest> {
    TASKS
        .map(|(name, prompt)| TaskRequest::new(name, prompt))
        .into()
}

/// Returns the command that a person would type for these tasks.
pub(super) fn command() -> String {
    let tasks = TASKS.map(|(name, prompt)| format!("    --task {name}=\"{prompt}\""));
    format!(
        "pi-subagents delegate --isolation worktree --gate \"{GATE}\" \\\n{}",
        tasks.join(" \\\n")
    )
}
