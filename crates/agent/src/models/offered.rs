//! The models that a person can choose from: those of the providers that can be asked.

use super::{InstalledPi, KnownModels, ModelOverview, model_overview};
use crate::surroundings::Surroundings;

/// A provider that can be asked, with its known models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedProvider {
    /// Its name.
    pub name: String,
    /// The ids of its models: those of `models.json` first, then those of an installed pi.
    pub models: Vec<String>,
}

/// Returns the providers that have a key or need none, each with its known models. Runs nothing and
/// sends no request.
pub fn offered_models(surroundings: &Surroundings) -> Vec<OfferedProvider> {
    let installed = InstalledPi::find(&surroundings.variables, &surroundings.cwd);
    let known_models = KnownModels::load(&surroundings.agent_dir, installed);
    let ModelOverview { usable, .. } = model_overview(surroundings);
    let offered = usable.into_iter().map(|provider| {
        let models = known_models.models_of(&provider.name);
        OfferedProvider {
            models: models.into_iter().map(|model| model.id).collect(),
            name: provider.name,
        }
    });
    offered.collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::testing::Sandbox;

    #[test]
    fn only_providers_that_can_be_asked_are_offered() {
        let mut sandbox = Sandbox::new();
        let models = json!({"providers": {
            "box": {"baseUrl": "http://x", "models": [{"id": "small"}, {"id": "large"}]},
            "closed": {"baseUrl": "http://x", "apiKey": "$NOT_SET", "models": [{"id": "none"}]},
        }});
        sandbox.write("agent/models.json", models.to_string());
        let key = ("GROQ_API_KEY".to_owned(), "a-secret".to_owned());
        sandbox.variables.extend([key]);
        let offered = offered_models(&Surroundings {
            cwd: sandbox.path("project"),
            never_projects: sandbox.never_projects(),
            home: sandbox.path("home"),
            agent_dir: sandbox.path("agent"),
            variables: sandbox.variables.clone(),
        });
        let provider = |name: &str, models: &[&str]| OfferedProvider {
            name: name.to_owned(),
            models: models.iter().map(|&id| id.to_owned()).collect(),
        };
        assert_eq!(
            offered,
            [provider("box", &["small", "large"]), provider("groq", &[])]
        );
    }
}
