//! The settings about agent files of other tools.

use pi_subagents_vocabulary::{Dialect, Scope};
use serde_json::Value;

use super::Settings;
use super::reader::Reader;

const AGENT_FILES_OF: &str = "agentFilesOf";
const MODEL_ALIASES: &str = "modelAliases";

impl Settings {
    /// Takes the tools whose files count, and the models that stand for theirs. A project may leave
    /// tools out, but which models are paid for is the user's own decision.
    pub(super) fn take_agent_files(&mut self, reader: &mut Reader<'_>, scope: Scope) {
        if let Some(words) = reader.value(AGENT_FILES_OF) {
            self.take_tools(words, reader);
        }
        let Some(aliases) = reader.value(MODEL_ALIASES) else {
            return;
        };
        if scope == Scope::Project {
            return reader.refuse(MODEL_ALIASES, "only your own settings may have it");
        }
        let Value::Object(aliases) = aliases else {
            return reader.refuse(MODEL_ALIASES, "it must be an object from names to models");
        };
        for (name, model) in aliases {
            let model = model.as_str().map(str::trim);
            if let Some(model) = model.filter(|model| !model.is_empty()) {
                let name = name.to_lowercase();
                _ = self.model_aliases.insert(name, model.to_owned());
            } else {
                let key = format!("{MODEL_ALIASES}.{name}");
                reader.refuse(&key, "it must be the name of a model, or \"inherit\"");
            }
        }
    }

    fn take_tools(&mut self, words: &Value, reader: &mut Reader<'_>) {
        let Some(words) = words.as_array() else {
            return reader.refuse(AGENT_FILES_OF, "it must be a list of tools");
        };
        let mut tools = Vec::new();
        for word in words {
            let named = word.as_str().and_then(Dialect::from_word);
            if let Some(dialect) = named.filter(|dialect| dialect.is_foreign()) {
                tools.push(dialect);
            } else {
                let known = Dialect::FOREIGN.map(Dialect::as_str).join(", ");
                let why = format!("{word} is not one of {known}");
                reader.refuse_part(AGENT_FILES_OF, &why);
            }
        }
        // The order of preference does not depend on the order of the list.
        self.agent_files_of
            .retain(|dialect| tools.contains(dialect));
    }
}
