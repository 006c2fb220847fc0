//! Describes definitions in one line each, and as lists.

use pi_subagents_vocabulary::{BodyUse, Definition, Dialect, ThinkingLevel, text};

use crate::asker::Asker;
use crate::default_agent::{DEFAULT_AGENT, default_agent};

/// The number of characters of a description that are shown.
const DESCRIPTION: usize = 120;

/// The number of characters of a system prompt that are shown.
const PROMPT: usize = 60;

/// The number of characters in a model's list of the definitions it can choose from.
const CHOICES: usize = 700;

/// The number of definitions in a list for models.
const MOST_TOLD: usize = 30;

/// The text of a list that has no entries.
const NO_PROFILES: &str = "No subagent profiles found. Add .md files to ~/.pi/agent/agent-profiles/ or .pi/agent-profiles/.";

/// Describes a definition in one line: `profile: NAME, model=…, thinking=…`.
pub fn summary(definition: &Definition) -> String {
    let mut parts = vec![format!("profile: {}", name(definition))];
    let mut add = |part: Option<String>| parts.extend(part);
    let provider = definition
        .provider
        .as_ref()
        .map(|provider| format!("provider={provider}"));
    let model = definition
        .model
        .as_ref()
        .map(|model| format!("model={model}"));
    add(model.or(provider));
    let thinking = definition.thinking.map(ThinkingLevel::as_str);
    add(thinking.map(|level| format!("thinking={level}")));
    let (mut replaces, mut appends) = (false, definition.append_system_prompt.is_some());
    match (&definition.body, definition.dialect.body_use()) {
        (None, _) => {}
        (Some(_), BodyUse::Replace) => replaces = true,
        (Some(_), BodyUse::Append) => appends = true,
    }
    add(replaces.then(|| "custom-system-prompt".to_owned()));
    add(appends.then(|| "appended-system-prompt".to_owned()));
    add(tools(definition));
    let servers = definition.mcp_servers.iter();
    let servers: Vec<String> = servers.map(|server| server.name.clone()).collect();
    add(list("mcpServers", &servers));
    add(list("suggestedSkills", &definition.suggested_skills));
    add(list("loadSkills", &definition.load_skills));
    parts.join(", ")
}

/// Returns the lines of a list of definitions for a model, or advice if there are none.
pub fn listing(definitions: &[&Definition]) -> String {
    let Offered { told, more } = Offered::of(definitions);
    if told.is_empty() {
        return NO_PROFILES.to_owned();
    }
    let lines = told.iter().map(|definition| listed(definition));
    let lines: Vec<String> = lines.chain(and_more(more)).collect();
    lines.join("\n")
}

/// The definitions that a list names, and the number of the others.
struct Offered<'a> {
    told: Vec<&'a Definition>,
    more: usize,
}

impl<'a> Offered<'a> {
    /// Chooses the definitions that a list for models names: ours first, then those of other tools,
    /// up to a number. An agent that is used by its name only is not among them.
    fn of(definitions: &[&'a Definition]) -> Self {
        let offered = definitions.iter().copied();
        let mut told: Vec<&Definition> = offered
            .filter(|definition| definition.is_offered_to_models())
            .collect();
        told.sort_by_key(|definition| definition.dialect.is_foreign());
        let more = told.len().saturating_sub(MOST_TOLD);
        told.truncate(MOST_TOLD);
        Self { told, more }
    }
}

fn and_more(more: usize) -> Option<String> {
    (more > 0).then(|| format!("and {more} more"))
}

/// Describes a definition as a line of a list: its summary, its description, and the beginning of
/// its system prompt.
pub fn listed(definition: &Definition) -> String {
    let description = description(definition).map(|words| format!(" — {words}"));
    let prompt = definition.body.as_ref();
    let prompt = prompt.or(definition.append_system_prompt.as_ref());
    let prompt = prompt.map(|prompt| {
        let begins = text::cut_characters(&text::one_line(prompt), PROMPT);
        format!(" — system prompt: \"{begins}\"")
    });
    let parts = [Some(summary(definition)), description, prompt];
    parts.into_iter().flatten().collect()
}

/// Lists the names of the definitions that an asker may use, each with its description.
pub(crate) fn available(definitions: &[&Definition], asker: Asker) -> String {
    let built_in = match asker {
        Asker::Delegation => None,
        Asker::Subagent => Some(default_agent()),
    };
    let is_taken = |name: &str| definitions.iter().any(|one| one.name == name);
    let built_in = built_in.filter(|_| !is_taken(DEFAULT_AGENT));
    let Offered { told, more } = Offered::of(definitions);
    let all: Vec<String> = built_in
        .into_iter()
        .chain(told)
        .map(|definition| match description(definition) {
            Some(words) => format!("{} ({words})", name(definition)),
            None => name(definition),
        })
        .chain(and_more(more))
        .collect();
    if all.is_empty() {
        return "(none)".to_owned();
    }
    all.join(", ")
}

/// Returns the names and descriptions of the definitions a model can choose from, up to a length;
/// `None` if there are none.
pub fn choices(definitions: &[&Definition]) -> Option<String> {
    let offered = Offered::of(definitions);
    let all = offered.told.len() + offered.more;
    let mut told: Vec<String> = Vec::new();
    let mut length = 0;
    for (index, definition) in offered.told.iter().enumerate() {
        let words = description(definition).map_or(String::new(), |words| format!(" ({words})"));
        let part = format!("{}{words}", name(definition));
        length += part.len();
        if length > CHOICES {
            told.push(format!("and {} more", all - index));
            return Some(told.join("; "));
        }
        told.push(part);
    }
    told.extend(and_more(offered.more));
    (!told.is_empty()).then(|| told.join("; "))
}

fn description(definition: &Definition) -> Option<String> {
    let words = definition.description.as_ref()?;
    Some(text::cut_characters(&text::one_line(words), DESCRIPTION))
}

/// Returns the name of a definition, with the dialect in brackets unless it is a profile.
pub fn name(definition: &Definition) -> String {
    match definition.dialect {
        Dialect::Profile => definition.name.clone(),
        other => format!("{} [{}]", definition.name, other.as_str()),
    }
}

fn tools(definition: &Definition) -> Option<String> {
    if definition.no_tools {
        return Some("no-tools".to_owned());
    }
    match (&definition.tools, &definition.exclude_tools) {
        (Some(tools), _) => Some(format!("tools=[{}]", tools.join(","))),
        (None, Some(excluded)) => list("excludeTools", excluded),
        (None, None) => None,
    }
}

fn list(key: &str, names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("{key}=[{}]", names.join(",")))
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::Scope;
    use pretty_assertions::assert_eq;

    use super::*;

    fn definition(dialect: Dialect) -> Definition {
        Definition::new("worker", dialect, Scope::Global, "worker.md".into())
    }

    #[test]
    fn a_model_is_told_only_so_much() {
        let many: Vec<Definition> = (0..40)
            .map(|number| Definition {
                name: format!("worker-{number}"),
                description: Some("d".repeat(500)),
                ..definition(Dialect::Preset)
            })
            .collect();
        let told = choices(&many.iter().collect::<Vec<_>>()).unwrap();
        assert!(told.len() <= CHOICES + 60, "{}", told.len());
        assert!(told.ends_with("; and 36 more"), "{told}");
        assert_eq!(choices(&[]), None);
    }

    #[test]
    fn absent_parts_are_left_out() {
        let bare = definition(Dialect::Profile);
        let full = Definition {
            provider: Some("anthropic".into()),
            model: Some("sonnet".into()),
            thinking: Some(ThinkingLevel::High),
            body: Some("You are.".into()),
            append_system_prompt: Some("Be brief.".into()),
            tools: Some(vec!["read".into(), "ls".into()]),
            suggested_skills: vec!["a".into()],
            load_skills: vec!["b".into(), "c".into()],
            ..definition(Dialect::Profile)
        };
        let preset = Definition {
            body: Some("You are.".into()),
            provider: Some("openai".into()),
            exclude_tools: Some(vec!["bash".into()]),
            description: Some("works".into()),
            ..definition(Dialect::Preset)
        };
        let prompt = Definition {
            no_tools: true,
            tools: Some(vec!["read".into()]),
            ..definition(Dialect::Prompt)
        };
        insta::assert_snapshot!(listing(&[&bare, &full, &preset, &prompt]), @r#"
        profile: worker
        profile: worker, model=sonnet, thinking=high, custom-system-prompt, appended-system-prompt, tools=[read,ls], suggestedSkills=[a], loadSkills=[b,c] — system prompt: "You are."
        profile: worker [preset], provider=openai, appended-system-prompt, excludeTools=[bash] — works — system prompt: "You are."
        profile: worker [prompt], no-tools
        "#);
        let available = |list: &[&Definition], asker| available(list, asker);
        assert_eq!(
            available(&[&bare, &preset], Asker::Delegation),
            "worker, worker [preset] (works)"
        );
        assert_eq!(available(&[], Asker::Delegation), "(none)");
        assert_eq!(
            available(&[&bare], Asker::Subagent),
            "default (a plain sub-agent that needs no file), worker"
        );
        let own = Definition {
            name: DEFAULT_AGENT.to_owned(),
            ..definition(Dialect::Preset)
        };
        assert_eq!(available(&[&own], Asker::Subagent), "default [preset]");
        assert_eq!(listing(&[]), NO_PROFILES);
    }
}
