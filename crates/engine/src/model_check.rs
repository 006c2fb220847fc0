//! Checks whether a pi child will use the model that its plan names, before it gets its prompt.
//!
//! Pi refuses an unknown model by itself. But in place of an unknown provider it takes another one,
//! and for a known provider it takes any id. Pure.

use pi_subagents_vocabulary::child_protocol::{Command, ModelName, Response, ResponseData};
use pi_subagents_vocabulary::{Ending, ModelChoice, TaskPlan, nearest};

/// The id of the commands of this check.
const CHECK: &str = "check";

/// The check of one child's model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelCheck {
    provider: Option<String>,
    names_a_model: bool,
    /// The model that will answer, once it is known.
    chosen: Option<ModelName>,
}

/// The consequence of an answer of the child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Checked {
    /// It was an answer to something else.
    NotYet,
    /// Ask this too.
    Ask(Command),
    /// The prompt may be sent.
    Fine,
    /// The prompt may be sent, and a person should know this.
    Doubtful(String),
    /// The run is over.
    Wrong(Ending),
}

impl ModelCheck {
    /// Returns the check that a plan needs, if any.
    pub(crate) fn of(plan: &TaskPlan) -> Option<Self> {
        if plan.here.runner.checks_its_model() {
            // It checks for itself.
            return None;
        }
        match &plan.work.model {
            ModelChoice::Named {
                provider, model, ..
            } if provider.is_some() || model.is_some() => Some(Self {
                provider: provider.clone(),
                names_a_model: model.is_some(),
                chosen: None,
            }),
            ModelChoice::Named { .. } | ModelChoice::Inherit => None,
        }
    }

    /// Returns the first question to the child.
    pub(crate) fn question() -> Command {
        let id = CHECK.to_owned();
        Command::GetState { id }
    }

    /// Reads an answer of the child. A child that does not know our questions gets its prompt all
    /// the same.
    pub(crate) fn answered(&mut self, response: &Response) -> Checked {
        if response.id.as_deref() != Some(CHECK) {
            return Checked::NotYet;
        }
        match &response.data {
            ResponseData::State(Some(chosen)) => self.check_choice(chosen),
            ResponseData::Models(models) => self.check_models(models),
            ResponseData::State(None) | ResponseData::Window(_) | ResponseData::Nothing => {
                Checked::Fine
            }
        }
    }

    fn check_choice(&mut self, chosen: &ModelName) -> Checked {
        if let Some(provider) = &self.provider
            && *provider != chosen.provider
        {
            let ModelName {
                provider: other,
                id,
            } = chosen;
            let message = format!(
                "pi does not know the provider \"{provider}\" or has no key for it, and would have asked {other}/{id} instead. See what it knows: pi --list-models"
            );
            return Checked::Wrong(Ending::ModelError { message });
        }
        if !self.names_a_model {
            return Checked::Fine;
        }
        self.chosen = Some(chosen.clone());
        let id = CHECK.to_owned();
        Checked::Ask(Command::GetModels { id })
    }

    /// Looks for the chosen model in the list. Only models whose provider has a key are listed, so
    /// nothing follows if the provider is missing altogether.
    fn check_models(&self, models: &[ModelName]) -> Checked {
        let Some(chosen) = &self.chosen else {
            return Checked::Fine;
        };
        let of_provider = models
            .iter()
            .filter(|model| model.provider == chosen.provider)
            .map(|model| model.id.as_str());
        let ids: Vec<&str> = of_provider.collect();
        let ModelName { provider, id } = chosen;
        if ids.is_empty() || ids.contains(&id.as_str()) {
            return Checked::Fine;
        }
        let meant = nearest(id, ids).map_or(String::new(), |meant| {
            format!(". Did you mean \"{meant}\"?")
        });
        Checked::Doubtful(format!(
            "pi knows no model \"{id}\" of the provider \"{provider}\"; the id is sent as it is{meant}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn check(provider: Option<&str>, names_a_model: bool) -> ModelCheck {
        ModelCheck {
            provider: provider.map(str::to_owned),
            names_a_model,
            chosen: None,
        }
    }

    fn name(provider: &str, id: &str) -> ModelName {
        ModelName {
            provider: provider.to_owned(),
            id: id.to_owned(),
        }
    }

    fn answer(data: ResponseData) -> Response {
        Response {
            id: Some(CHECK.to_owned()),
            command: String::new(),
            error: None,
            data,
        }
    }

    fn state(provider: &str, id: &str) -> Response {
        answer(ResponseData::State(Some(name(provider, id))))
    }

    #[test]
    fn another_provider_than_the_one_asked_for_ends_the_run() {
        let mut asked = check(Some("nope"), false);
        let Checked::Wrong(ending) = asked.answered(&state("fake", "m")) else {
            panic!("it was not noticed");
        };
        insta::assert_snapshot!(
            ending.message().unwrap(),
            @r#"pi does not know the provider "nope" or has no key for it, and would have asked fake/m instead. See what it knows: pi --list-models"#
        );
        assert_eq!(
            check(Some("fake"), false).answered(&state("fake", "m")),
            Checked::Fine
        );
    }

    #[test]
    fn an_unknown_id_of_a_known_provider_is_a_doubt() {
        let id = CHECK.to_owned();
        for (listed, expected) in [
            (vec![name("fake", "m"), name("fake", "x")], Checked::Fine),
            (vec![name("other", "x")], Checked::Fine),
            (
                vec![name("fake", "x")],
                Checked::Doubtful(
                    "pi knows no model \"m\" of the provider \"fake\"; the id is sent as it is"
                        .to_owned(),
                ),
            ),
            (
                vec![name("fake", "model-5"), name("fake", "M.")],
                Checked::Doubtful(
                    "pi knows no model \"m\" of the provider \"fake\"; the id is sent as it is. Did you mean \"M.\"?"
                        .to_owned(),
                ),
            ),
        ] {
            let mut asked = check(None, true);
            let more = asked.answered(&state("fake", "m"));
            assert_eq!(more, Checked::Ask(Command::GetModels { id: id.clone() }));
            assert_eq!(
                asked.answered(&answer(ResponseData::Models(listed))),
                expected
            );
        }
    }

    #[test]
    fn a_child_that_does_not_answer_the_question_gets_its_prompt() {
        let mut asked = check(Some("nope"), true);
        let refused = Response {
            error: Some("Unknown command: get_state".to_owned()),
            ..answer(ResponseData::Nothing)
        };
        assert_eq!(asked.answered(&refused), Checked::Fine);
        let other = Response {
            id: None,
            ..refused
        };
        assert_eq!(asked.answered(&other), Checked::NotYet);
    }
}
