//! The model of an agent file of another tool: the user's own alias, a model that can be asked, or
//! the reason why there is none. Another model is never asked in silence.

use std::collections::BTreeMap;

use pi_subagents_agent::{MeantBy, ModelCatalogue};
use pi_subagents_vocabulary::{Definition, Field, Refusal};

/// The alias for every model that has no alias of its own and cannot be asked.
const ANY: &str = "*";

/// The word for the model of the caller.
const INHERIT: &str = "inherit";

/// The model that an agent file of another tool leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForeignModel {
    /// The caller's model, or the default.
    Inherited(ModelReason),
    /// A model, as provider/id or as the user's alias has it.
    Named(String, ModelReason),
    /// No model that could be asked.
    Missing,
}

/// The reason for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelReason {
    /// The file names no model.
    Silence,
    /// The file names this model.
    Name,
    /// The model is the newest with this name for which there is a key.
    Newest,
    /// The user's settings have an alias.
    Alias,
}

impl ForeignModel {
    /// Finds the model of a definition whose file is of another tool: the first of its names that
    /// leads to one.
    pub fn of(
        definition: &Definition,
        aliases: &BTreeMap<String, String>,
        models: &ModelCatalogue,
    ) -> Self {
        let written = written(definition);
        if written.is_empty() {
            return Self::Inherited(ModelReason::Silence);
        }
        let named = written.iter().find_map(|name| {
            Self::by_alias(aliases, name).or_else(|| {
                let meant = models.meant_by(name)?;
                let reason = match meant.found {
                    MeantBy::Name => ModelReason::Name,
                    MeantBy::Newest => ModelReason::Newest,
                };
                Some(Self::Named(meant.name, reason))
            })
        });
        named
            .or_else(|| Self::by_alias(aliases, ANY))
            .unwrap_or(Self::Missing)
    }

    fn by_alias(aliases: &BTreeMap<String, String>, name: &str) -> Option<Self> {
        let model = aliases.get(&name.to_lowercase())?;
        Some(match model.as_str() {
            INHERIT => Self::Inherited(ModelReason::Alias),
            model => Self::Named(model.to_owned(), ModelReason::Alias),
        })
    }

    /// Returns the words about the reason, for people.
    pub fn reason(&self, written: &str) -> Option<String> {
        match self {
            Self::Inherited(ModelReason::Alias) | Self::Named(_, ModelReason::Alias) => {
                Some("by modelAliases of your settings".to_owned())
            }
            Self::Named(_, ModelReason::Newest) => Some(format!("newest \"{written}\" with a key")),
            Self::Inherited(_) | Self::Named(_, ModelReason::Name | ModelReason::Silence) => None,
            Self::Missing => Some("no model with a key".to_owned()),
        }
    }
}

/// Returns the names of models in a file, in the order in which they are tried.
fn written(definition: &Definition) -> Vec<&str> {
    let further = definition.translation.as_ref();
    let further = further.map_or(&[][..], |translation| &translation.further_models);
    let first = definition.model.as_deref();
    first
        .into_iter()
        .chain(further.iter().map(String::as_str))
        .collect()
}

/// Refuses a task whose agent names a model that cannot be asked, and says what to do.
pub(super) fn no_model(definition: &Definition) -> Refusal {
    let names = written(definition).join(", ");
    let (first, place) = (
        definition.model.as_deref().unwrap_or_default(),
        definition.place_of(Field::Model),
    );
    Refusal {
        message: format!(
            "{place}: no model for \"{names}\". Set the key of a provider that has it, name another model with --model (or \"model\" in the call), or write \"modelAliases\": {{\"{first}\": \"inherit\"}} into \"subagents\" of your settings.json."
        ),
    }
}
