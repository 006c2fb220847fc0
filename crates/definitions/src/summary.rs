//! A definition in one line, and lists of them.

use pi_subagents_delegation::{BodyUse, Definition, Dialect, ThinkingLevel};

/// What a list says when there is nothing to list.
const NO_PROFILES: &str = "No subagent profiles found. Add .md files to ~/.pi/agent/agent-profiles/ or .pi/agent-profiles/.";

/// A definition in one line: `profile: NAME, model=…, thinking=…`.
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
    add(list("suggestedSkills", &definition.suggested_skills));
    add(list("loadSkills", &definition.load_skills));
    parts.join(", ")
}

/// The lines of a list of definitions, or what to do when there are none.
pub fn listing(definitions: &[&Definition]) -> String {
    if definitions.is_empty() {
        return NO_PROFILES.to_owned();
    }
    let lines: Vec<String> = definitions
        .iter()
        .map(|definition| summary(definition))
        .collect();
    lines.join("\n")
}

/// The names of definitions with commas between them.
pub fn names(definitions: &[&Definition]) -> String {
    if definitions.is_empty() {
        return "(none)".to_owned();
    }
    let names: Vec<String> = definitions
        .iter()
        .map(|definition| name(definition))
        .collect();
    names.join(", ")
}

/// A name, with the dialect in brackets unless it is a profile.
pub fn name(definition: &Definition) -> String {
    match definition.dialect {
        Dialect::Profile => definition.name.clone(),
        Dialect::Preset | Dialect::Prompt => {
            format!("{} [{}]", definition.name, definition.dialect.as_str())
        }
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
    use pi_subagents_delegation::Scope;

    use super::*;

    fn definition(dialect: Dialect) -> Definition {
        Definition::new("worker", dialect, Scope::Global, "worker.md".into())
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
            ..definition(Dialect::Preset)
        };
        let prompt = Definition {
            no_tools: true,
            tools: Some(vec!["read".into()]),
            ..definition(Dialect::Prompt)
        };
        insta::assert_snapshot!(listing(&[&bare, &full, &preset, &prompt]), @"
        profile: worker
        profile: worker, model=sonnet, thinking=high, custom-system-prompt, appended-system-prompt, tools=[read,ls], suggestedSkills=[a], loadSkills=[b,c]
        profile: worker [preset], provider=openai, appended-system-prompt, excludeTools=[bash]
        profile: worker [prompt], no-tools
        ");
        assert_eq!(names(&[&bare, &preset]), "worker, worker [preset]");
        assert_eq!(names(&[]), "(none)");
        assert_eq!(listing(&[]), NO_PROFILES);
    }
}
