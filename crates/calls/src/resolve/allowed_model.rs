//! Refuses a model that a calling model may not choose: it does not pay for it.

use pi_subagents_agent::AskedModel;
use pi_subagents_configuration::AllowedModels;
use pi_subagents_vocabulary::{Door, Refusal};

use super::resolver::Resolver;
use super::task::RequestedTask;

impl Resolver<'_> {
    /// Checks the models that the request of a task names, if a model has written it. People, and the
    /// agents that they have written, may name any.
    pub(super) fn check_allowed(&self, task: &RequestedTask) -> Result<(), Refusal> {
        match self.caller.door {
            Door::CommandLine | Door::PiCommand | Door::Attach | Door::Page => return Ok(()),
            Door::Pi | Door::Mcp => {}
        }
        let terms = &task.request.terms;
        let named = terms.model.iter();
        let named = named.chain(terms.fallback_models.iter().flatten());
        for name in named {
            self.check_one(name)?;
        }
        Ok(())
    }

    fn check_one(&self, name: &str) -> Result<(), Refusal> {
        let asked = AskedModel {
            provider: None,
            model: Some(name),
        };
        let catalogue = self.models.catalogue();
        let found = catalogue.find(asked).ok();
        let whole = found.map(|found| format!("{}/{}", found.model.provider, found.model.id));
        let whole = whole.as_deref().unwrap_or(name);
        let refuse = |why: String| {
            let message = format!(
                "The model {whole} may not be chosen here: {why}. Leave the model out, or choose another."
            );
            Err(Refusal { message })
        };
        match &self.configuration.settings.allowed_models {
            AllowedModels::All => Ok(()),
            AllowedModels::Listed(names) if AllowedModels::lists(names, whole) => Ok(()),
            AllowedModels::Listed(names) => refuse(format!(
                "the user's setting subagents.models allows {}",
                if names.is_empty() {
                    "none".to_owned()
                } else {
                    names.join(", ")
                }
            )),
            AllowedModels::NotDearer => {
                let mine = self.caller.pi.as_ref().and_then(|pi| pi.model.as_deref());
                let Some(mine) = mine else {
                    return refuse(
                        "the user's setting subagents.models allows none that is dearer than yours, and yours is not known"
                            .to_owned(),
                    );
                };
                let of_caller = AskedModel {
                    provider: None,
                    model: Some(mine),
                };
                match catalogue.is_dearer(asked, of_caller) {
                    Some(false) => Ok(()),
                    Some(true) => refuse(format!(
                        "it is dearer than {mine}, and the user's setting subagents.models allows none that is"
                    )),
                    None => refuse(format!(
                        "its price or that of {mine} is not known, and the user's setting subagents.models allows none that is dearer"
                    )),
                }
            }
        }
    }
}
