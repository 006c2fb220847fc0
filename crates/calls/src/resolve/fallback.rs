//! Finds the models that may take over if the model of a task cannot be asked.

use pi_subagents_agent::{AskedModel, FoundModel};
use pi_subagents_engine::CooldownFile;
use pi_subagents_vocabulary::child_protocol::ModelName;
use pi_subagents_vocabulary::{FallbackModel, Fallbacks, MOST_FALLBACKS, ModelChoice, Refusal};

use super::model_check::{ModelChecks, asked};

/// The fallback models of a task, as they were found.
pub(super) struct FoundFallbacks {
    /// `None` if nobody named any.
    pub(super) fallbacks: Option<Fallbacks>,
    /// The names that mean no model, in sentences.
    pub(super) doubts: Vec<String>,
}

impl ModelChecks<'_> {
    /// Finds the models with these names. A name that means no model is left out with a warning; if
    /// none means one, the task is refused, because somebody counts on another model.
    pub(super) fn fallbacks(
        &self,
        names: &[String],
        first: &ModelChoice,
        default: Option<&str>,
    ) -> Result<FoundFallbacks, Refusal> {
        if names.is_empty() {
            return Ok(FoundFallbacks {
                fallbacks: None,
                doubts: Vec::new(),
            });
        }
        check_number(names)?;
        let (mut others, mut doubts): (Vec<FallbackModel>, _) = (Vec::new(), Vec::new());
        for name in names {
            match self.find_fallback(name) {
                Ok(found) => {
                    let known = found.warning;
                    doubts.extend(known.map(|doubt| format!("fallback {name}: {doubt}")));
                    others.push(FallbackModel {
                        model: found.model,
                        thinking: found.thinking,
                    });
                }
                Err(why) => doubts.push(format!("fallback {name} is left out: {why}")),
            }
        }
        if others.is_empty() {
            return Err(Refusal {
                message: format!(
                    "none of the fallback models is known: {}",
                    doubts.join("; ")
                ),
            });
        }
        let fallbacks = Some(Fallbacks {
            first: self.first_name(first, default),
            others,
            cooldowns: CooldownFile::of_user(&self.caller.places.agent_dir)
                .path()
                .to_owned(),
        });
        Ok(FoundFallbacks { fallbacks, doubts })
    }

    /// Finds one model: among those of the calling pi, else in the files.
    fn find_fallback(&self, name: &str) -> Result<FoundModel, String> {
        let of_caller = self.caller.pi.as_ref();
        let mut of_caller = of_caller.into_iter().flat_map(|pi| &pi.models);
        if let Some((provider, id)) = of_caller
            .find(|model| *model == name)
            .and_then(|model| model.split_once('/'))
        {
            return Ok(FoundModel {
                model: ModelName {
                    provider: provider.to_owned(),
                    id: id.to_owned(),
                },
                thinking: None,
                warning: None,
            });
        }
        self.catalogue().find(AskedModel {
            provider: None,
            model: Some(name),
        })
    }

    /// Returns the whole name of the model that is asked first, if the files know it.
    fn first_name(&self, first: &ModelChoice, default: Option<&str>) -> Option<ModelName> {
        let asked = match asked(first) {
            AskedModel {
                provider: None,
                model: None,
            } => AskedModel {
                provider: None,
                model: Some(default?),
            },
            asked => asked,
        };
        let found = self.catalogue().find(asked);
        found.ok().map(|found| found.model)
    }
}

fn check_number(names: &[String]) -> Result<(), Refusal> {
    if names.len() > MOST_FALLBACKS {
        let message = format!(
            "a task has at most {MOST_FALLBACKS} fallback models, not {}",
            names.len()
        );
        return Err(Refusal { message });
    }
    Ok(())
}
