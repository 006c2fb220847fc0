//! The models that a calling model may choose. Only the user's own file may have the setting.

use pi_subagents_vocabulary::Scope;
use serde_json::Value;

use super::Settings;
use super::reader::Reader;

const MODELS: &str = "models";

/// The word for models that cost no more than that of the caller.
const NOT_DEARER: &str = "not-dearer";

/// The models that a calling model may choose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AllowedModels {
    /// All.
    #[default]
    All,
    /// Those with these names; a name with a `*` at its end stands for all that begin so.
    Listed(Vec<String>),
    /// Those whose prices are not above those of its own.
    NotDearer,
}

impl Settings {
    /// Takes the models that a calling model may choose. A value that cannot be understood allows
    /// none, because it was meant to restrict.
    pub(super) fn take_allowed_models(&mut self, reader: &mut Reader<'_>, scope: Scope) {
        let Some(value) = reader.value(MODELS) else {
            return;
        };
        if scope == Scope::Project {
            return reader.refuse(MODELS, "only your own settings may have it");
        }
        self.allowed_models = match value {
            Value::String(word) if word == NOT_DEARER => AllowedModels::NotDearer,
            value => {
                let names: Option<Vec<String>> = serde_json::from_value(value.clone()).ok();
                if names.is_none() {
                    let why = "must be \"not-dearer\" or a list of models, such as [\"anthropic/claude-haiku-*\"]";
                    reader.reject(MODELS, why);
                }
                AllowedModels::Listed(names.unwrap_or_default())
            }
        };
    }
}

impl AllowedModels {
    /// Returns whether a list has a model, by its whole name, by its id, or by the beginning of one.
    pub fn lists(names: &[String], model: &str) -> bool {
        let id = model.split_once('/').map_or(model, |(_, id)| id);
        names.iter().any(|name| match name.strip_suffix('*') {
            Some(beginning) => model.starts_with(beginning) || id.starts_with(beginning),
            None => model == name || id == name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_whole_names_ids_and_beginnings() {
        let names = ["a/small", "tiny", "b/*", "big-*"].map(str::to_owned);
        for (model, is_listed) in [
            ("a/small", true),
            ("c/small", false),
            ("c/tiny", true),
            ("b/anything", true),
            ("a/big-2", true),
            ("a/large", false),
        ] {
            assert_eq!(AllowedModels::lists(&names, model), is_listed, "{model}");
        }
    }
}
