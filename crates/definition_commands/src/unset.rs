//! `--unset`: takes fields away, which are named as their flags or as their keys.

use pi_subagents_vocabulary::{Definition, Dialect, Field};

/// Takes a field away.
pub(super) fn unset(definition: &mut Definition, field: Field) {
    match field {
        // Every definition has a name.
        Field::Name => {}
        Field::Description => definition.description = None,
        Field::Provider => definition.provider = None,
        Field::Model => definition.model = None,
        Field::Thinking => definition.thinking = None,
        Field::Tools => definition.tools = None,
        Field::NoTools => definition.no_tools = false,
        Field::ExcludeTools => definition.exclude_tools = None,
        Field::Extensions => definition.extensions.clear(),
        Field::NoExtensions => definition.no_extensions = false,
        Field::SuggestedSkills => definition.suggested_skills.clear(),
        Field::LoadSkills => definition.load_skills.clear(),
        Field::NoSkills => definition.no_skills = false,
        Field::NoContextFiles => definition.no_context_files = false,
        Field::AppendSystemPrompt => definition.append_system_prompt = None,
        Field::ApiKey => definition.api_key = None,
        Field::ExtraArgs => definition.extra_args.clear(),
        Field::Runner => definition.runner = None,
        Field::Isolation => definition.isolation = None,
        Field::Timeout => definition.timeout = None,
        Field::Gate => definition.gates.clear(),
        Field::OutputSchema => definition.output_schema = None,
        Field::OutputSchemaFile => definition.output_schema_file = None,
        Field::Finalize => {
            definition.finalize = definition.dialect.finalizes();
            definition.origins.remove(&Field::Finalize);
        }
        Field::Body => definition.body = None,
    }
}

/// Finds a field by the name of its flag or by its key in any dialect.
pub(super) fn field(word: &str) -> Result<Field, String> {
    let wanted = plain(word);
    let found = Field::ALL
        .into_iter()
        .filter(|field| *field != Field::Name)
        .find(|field| {
            let keys = [Dialect::Profile, Dialect::Prompt].map(|dialect| field.key(dialect));
            let known = keys.into_iter().chain([flag(*field)]);
            known.map(plain).any(|known| known == wanted)
        });
    found.ok_or_else(|| {
        let flags = Field::ALL
            .into_iter()
            .filter(|field| *field != Field::Name)
            .map(flag);
        format!("a field is one of {}", flags.collect::<Vec<_>>().join(", "))
    })
}

/// Returns the flag of a field, without its dashes.
fn flag(field: Field) -> &'static str {
    match field {
        Field::Name => "name",
        Field::Description => "description",
        Field::Provider => "provider",
        Field::Model => "model",
        Field::Thinking => "thinking",
        Field::Tools => "tools",
        Field::NoTools => "no-tools",
        Field::ExcludeTools => "exclude-tools",
        Field::Extensions => "extensions",
        Field::NoExtensions => "no-extensions",
        Field::SuggestedSkills => "suggested-skills",
        Field::LoadSkills => "load-skills",
        Field::NoSkills => "no-skills",
        Field::NoContextFiles => "no-context-files",
        Field::AppendSystemPrompt => "append-system-prompt",
        Field::ApiKey => "api-key",
        Field::ExtraArgs => "extra-args",
        Field::Runner => "runner",
        Field::Isolation => "isolation",
        Field::Timeout => "timeout",
        Field::Gate => "gate",
        Field::OutputSchema => "output-schema",
        Field::OutputSchemaFile => "output-schema-file",
        Field::Finalize => "finalize",
        Field::Body => "system-prompt",
    }
}

fn plain(word: &str) -> String {
    let kept = word.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|character| character.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_known_by_its_flag_and_by_its_keys() {
        let found = [
            "exclude-tools",
            "excludeTools",
            "denied_tools",
            "thinkingLevel",
            "systemPrompt",
            "body",
        ];
        let expected = [
            Field::ExcludeTools,
            Field::ExcludeTools,
            Field::ExcludeTools,
            Field::Thinking,
            Field::Body,
            Field::Body,
        ];
        assert_eq!(found.map(|word| field(word).unwrap()), expected);
        assert!(field("name").is_err());
    }

    #[test]
    fn every_field_but_the_name_can_be_named_by_its_flag() {
        for one in Field::ALL.into_iter().filter(|one| *one != Field::Name) {
            assert_eq!(field(flag(one)), Ok(one));
        }
    }
}
