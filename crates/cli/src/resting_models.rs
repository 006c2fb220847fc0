//! The models that rest, as `status` and `doctor` show them.

use std::path::Path;

use pi_subagents_engine::CooldownFile;
use pi_subagents_vocabulary::{Cooldown, Timestamp, rest_words, text};
use schemars::JsonSchema;
use serde::Serialize;

/// A model that rests.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RestingModel {
    /// Its name, with its provider.
    model: String,
    #[serde(flatten)]
    cooldown: Cooldown,
}

impl RestingModel {
    /// Describes it in a line: `a/x rests 25 min (429, usage limit)`.
    pub(crate) fn words(&self, now: Timestamp) -> String {
        let rest = rest_words(self.cooldown.until, now);
        let line = format!(
            "{} {} ({})",
            self.model,
            rest.as_deref().unwrap_or("may be asked"),
            self.cooldown.why
        );
        text::one_line(&text::clean(&line))
    }
}

/// Returns the models that rest now, by name.
pub(crate) fn resting_models(agent_dir: &Path, now: Timestamp) -> Vec<RestingModel> {
    let cooldowns = CooldownFile::of_user(agent_dir).read(now);
    let resting = cooldowns.iter().map(|(model, cooldown)| RestingModel {
        model: model.to_owned(),
        cooldown: cooldown.clone(),
    });
    resting.collect()
}
