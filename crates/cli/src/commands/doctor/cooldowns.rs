//! Names the models that rest, because they were out of quota or overloaded a moment ago.

use pi_subagents_engine::CooldownFile;
use pi_subagents_vocabulary::Timestamp;
use pi_subagents_vocabulary::text::count;

use super::check::Check;
use crate::resting_models::resting_models;
use pi_subagents_definition_commands::visible_agents::VisibleAgents;

/// Returns the check of the models that rest; none if all may be asked.
pub(super) fn cooldowns(seen: &VisibleAgents) -> Option<Check> {
    let now = Timestamp::now();
    let resting = resting_models(&seen.places.agent_dir, now);
    if resting.is_empty() {
        return None;
    }
    let lines = resting.iter().map(|model| model.words(now));
    let lines: Vec<String> = lines.collect();
    let check = Check::new("cooldowns", lines.join("; "));
    Some(check.hint(
        "Runs with fallback models pass these over. pi-subagents doctor --forget-cooldowns lets them be asked at once.",
    ))
}

/// Forgets which models rest, and says how many they were.
pub(super) fn forget(seen: &VisibleAgents) -> Check {
    let file = CooldownFile::of_user(&seen.places.agent_dir);
    match file.forget() {
        Ok(forgotten) => Check::new(
            "cooldowns",
            format!("forgot that {} rested", count(forgotten, "model")),
        ),
        Err(error) => Check::new("cooldowns", error.to_string())
            .problem()
            .hint(format!("Remove the file: rm {}", seen.short(file.path()))),
    }
}
