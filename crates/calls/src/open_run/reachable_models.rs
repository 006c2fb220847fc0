//! The models that may take over in a sandbox.

use pi_subagents_vocabulary::{FallbackModel, Fallbacks, Sandbox};

/// Leaves out models of other providers: a sandbox has the host and the key of one. Returns the
/// warnings about them.
pub(super) fn keep_reachable(fallbacks: &mut Option<Fallbacks>, sandbox: &Sandbox) -> Vec<String> {
    let Some(named) = fallbacks.as_mut().filter(|_| !sandbox.is_off()) else {
        return Vec::new();
    };
    let provider = named.first.as_ref().map(|first| first.provider.clone());
    let is_far =
        |other: &mut FallbackModel| provider.as_deref() != Some(other.model.provider.as_str());
    let far: Vec<FallbackModel> = named.others.extract_if(.., is_far).collect();
    far.iter()
        .map(|far| {
            format!(
                "{}/{} cannot take over in a sandbox, which has the key of one provider only",
                far.model.provider, far.model.id
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use pi_subagents_vocabulary::SandboxLevel;
    use pi_subagents_vocabulary::child_protocol::ModelName;
    use pretty_assertions::assert_eq;

    use super::*;

    fn model(provider: &str, id: &str) -> ModelName {
        ModelName {
            provider: provider.to_owned(),
            id: id.to_owned(),
        }
    }

    fn fallbacks(others: &[ModelName]) -> Fallbacks {
        let others = others.iter().cloned();
        Fallbacks {
            first: Some(model("one", "a")),
            others: others
                .map(|model| FallbackModel {
                    model,
                    thinking: None,
                })
                .collect(),
            cooldowns: PathBuf::from("/cooldowns.json"),
        }
    }

    #[test]
    fn a_model_of_another_provider_takes_over_only_without_a_sandbox() {
        let both = fallbacks(&[model("two", "b"), model("one", "c")]);
        let mut kept = Some(both.clone());
        assert_eq!(
            keep_reachable(&mut kept, &Sandbox::default()),
            Vec::<String>::new()
        );
        assert_eq!(kept, Some(both));
        let confined = Sandbox {
            level: SandboxLevel::ReadOnly,
            ..Sandbox::default()
        };
        assert_eq!(
            keep_reachable(&mut kept, &confined),
            ["two/b cannot take over in a sandbox, which has the key of one provider only"]
        );
        assert_eq!(kept, Some(fallbacks(&[model("one", "c")])));
    }
}
