//! Begins a run with the first of its models that does not rest.

use pi_subagents_vocabulary::{Cooldowns, Fallbacks, FellBack, ModelChoice, TaskPlan, Timestamp};

/// Lets a run begin with another model if its first one rests. Returns the change, if there is one.
/// If all of them rest, the first one is asked all the same.
pub(crate) fn choose_first(
    plan: &mut TaskPlan,
    cooldowns: &Cooldowns,
    now: Timestamp,
) -> Option<FellBack> {
    let fallbacks = plan.here.fallbacks.as_mut()?;
    let first = fallbacks.first.clone()?;
    let cooldown = cooldowns.of(&first.to_string(), now)?;
    let place = first_awake(fallbacks, cooldowns, now)?;
    let chosen = fallbacks.others.remove(place);
    let change = FellBack {
        from: first.to_string(),
        to: chosen.model.to_string(),
        class: cooldown.class,
        reason: cooldown.why.clone(),
        until: Some(cooldown.until),
        loses_cache: false,
    };
    if chosen.model.provider != first.provider {
        // The key of a definition is for the provider of its model.
        plan.here.api_key = None;
    }
    let usual = match &plan.work.model {
        ModelChoice::Inherit => None,
        ModelChoice::Named { thinking, .. } => *thinking,
    };
    plan.work.model = ModelChoice::Named {
        provider: Some(chosen.model.provider.clone()),
        model: Some(chosen.model.id.clone()),
        thinking: chosen.thinking.or(usual),
    };
    fallbacks.first = Some(chosen.model);
    Some(change)
}

fn first_awake(fallbacks: &Fallbacks, cooldowns: &Cooldowns, now: Timestamp) -> Option<usize> {
    let first = fallbacks.first.as_ref();
    let mut others = fallbacks.others.iter();
    others.position(|other| {
        let is_awake = cooldowns.of(&other.model.to_string(), now).is_none();
        is_awake && Some(&other.model) != first
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use pi_subagents_vocabulary::child_protocol::ModelName;
    use pi_subagents_vocabulary::{FallbackModel, ModelFailure, Secret, ThinkingLevel};
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::live_child::tests::stand::{limits, plan};

    fn name(provider: &str) -> ModelName {
        ModelName {
            provider: provider.to_owned(),
            id: "m".to_owned(),
        }
    }

    fn with_fallbacks() -> TaskPlan {
        let mut plan = plan(limits(None, 30));
        plan.here.api_key = Some(Secret::new("sk"));
        plan.here.fallbacks = Some(Fallbacks {
            first: Some(name("a")),
            others: ["b", "c"]
                .map(|provider| FallbackModel {
                    model: name(provider),
                    thinking: Some(ThinkingLevel::Low),
                })
                .to_vec(),
            cooldowns: PathBuf::from("none"),
        });
        plan
    }

    #[test]
    fn a_run_begins_with_the_first_model_that_does_not_rest() {
        let now = Timestamp::now();
        let mut resting = Cooldowns::default();
        let mut plan = with_fallbacks();
        assert_eq!(choose_first(&mut plan, &resting, now), None);
        for provider in ["a", "b"] {
            let busy = ModelFailure::read("503: busy");
            resting.note(&name(provider).to_string(), &busy, now);
        }
        let change = choose_first(&mut plan, &resting, now).unwrap();
        assert_eq!((change.from.as_str(), change.to.as_str()), ("a/m", "c/m"));
        assert_eq!(
            plan.work.model,
            ModelChoice::Named {
                provider: Some("c".to_owned()),
                model: Some("m".to_owned()),
                thinking: Some(ThinkingLevel::Low),
            }
        );
        assert_eq!(plan.here.api_key, None);
        let left = plan.here.fallbacks.unwrap();
        assert_eq!((left.first, left.others.len()), (Some(name("c")), 1));
    }

    #[test]
    fn if_all_rest_the_first_is_asked() {
        let now = Timestamp::now();
        let mut resting = Cooldowns::default();
        for provider in ["a", "b", "c"] {
            let busy = ModelFailure::read("503: busy");
            resting.note(&name(provider).to_string(), &busy, now);
        }
        let mut plan = with_fallbacks();
        assert_eq!(choose_first(&mut plan, &resting, now), None);
        assert_eq!(plan, with_fallbacks());
    }
}
