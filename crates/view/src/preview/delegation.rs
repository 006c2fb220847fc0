//! Previews of our own tools, for children that have them.

use pi_subagents_vocabulary::text::{self, CUT_MARK};
use serde_json::Value;

use super::Sentence;
use super::arguments::Arguments;

/// The number of tasks whose profiles are named. A call may not have more, but a model may try.
const NAMED_TASKS: usize = 64;

/// Shows `delegate_to_subagents → N tasks [profile names]`.
pub(super) fn delegate(arguments: Arguments<'_>) -> Sentence {
    let sentence = Sentence::new("delegate_to_subagents");
    let Some(Value::Array(tasks)) = arguments.get(&["tasks"]) else {
        return sentence.about(&format!("{CUT_MARK} tasks"));
    };
    let mut profiles = Vec::new();
    let tasks_named = tasks.iter().take(NAMED_TASKS);
    for source in std::iter::once(arguments.value()).chain(tasks_named) {
        let profile = Arguments::new(source).optional_text(&["profile"]);
        profiles.extend(profile.filter(|profile| !profiles.contains(profile)));
    }
    let count = text::count(tasks.len(), "task");
    if profiles.is_empty() {
        sentence.about(&count)
    } else {
        sentence.about(&format!("{count} [{}]", profiles.join(", ")))
    }
}

/// Shows `get_subagent_output → sessionId`, or just the tool's name.
pub(super) fn retrieve(tool: &str, arguments: Arguments<'_>) -> Sentence {
    match arguments.optional_text(&["sessionId"]) {
        Some(session) => Sentence::new(tool).about(&session),
        None => Sentence::new(tool),
    }
}
