//! Takes one key of another tool's agent file into a draft.

use std::time::Duration;

use pi_subagents_pi_files::yaml::{Value, YamlEntry};
use pi_subagents_pi_files::{BUILT_IN_TOOLS, Problem};
use pi_subagents_vocabulary::{
    Field, FieldKind, Isolation, OtherAgent, RunnerChoice, SandboxLevel, ThinkingLevel,
};

use super::super::values::{json, names, switch, text};
use super::draft::Draft;
use super::keys::{Meaning, is_restriction_elsewhere, meaning_of, misspelt_restriction};
use super::permissions;
use super::servers;
use super::tool_list::ToolNote;
use super::tools::{ToolMeaning, meaning_of as tool_meaning};

/// Words for the model of the caller.
const INHERIT: [&str; 3] = ["inherit", "default", "auto"];

/// Events of hooks that can forbid something.
const FORBIDDING_HOOKS: [&str; 2] = ["PreToolUse", "PermissionRequest"];

const NOBODY_ASKS: &str = "sub-agents do not ask here, so there is nothing to switch";

/// Takes a key with its value.
pub(super) fn take(draft: &mut Draft, entry: &YamlEntry) -> Result<(), Problem> {
    let Some((meaning, key)) = meaning_of(draft.dialect, &entry.key) else {
        return unknown(draft, entry);
    };
    match meaning {
        Meaning::Name | Meaning::Quiet => Ok(()),
        Meaning::Servers => {
            servers::take(draft, entry, key);
            Ok(())
        }
        Meaning::Lost(reason) => {
            if entry.value.value != Value::Null {
                draft.lose(entry, reason);
            }
            Ok(())
        }
        Meaning::LostSwitch(reason) => {
            let is_off = matches!(&entry.value.value, Value::Null | Value::Bool(false))
                || matches!(&entry.value.value, Value::Text(word) if word == "fresh");
            if !is_off {
                draft.lose(entry, reason);
            }
            Ok(())
        }
        Meaning::Description
        | Meaning::Instructions
        | Meaning::Prompt
        | Meaning::PromptMode
        | Meaning::Model
        | Meaning::FurtherModels
        | Meaning::Thinking
        | Meaning::Turns
        | Meaning::Minutes
        | Meaning::Milliseconds => {
            take_wish(draft, entry, meaning, key);
            Ok(())
        }
        Meaning::AllowedTools
        | Meaning::DeniedTools
        | Meaning::ToolSwitches
        | Meaning::Permissions
        | Meaning::PermissionMode
        | Meaning::ReadOnly
        | Meaning::SandboxMode
        | Meaning::AcceptanceRole
        | Meaning::Features
        | Meaning::Hooks => take_restriction(draft, entry, meaning, key),
        Meaning::Isolation
        | Meaning::Kind
        | Meaning::Runner
        | Meaning::Mode
        | Meaning::Target
        | Meaning::Disabled
        | Meaning::Enabled
        | Meaning::Hidden
        | Meaning::Advertised => take_place(draft, entry, meaning, key),
        Meaning::Skills
        | Meaning::InheritsSkills
        | Meaning::NoContextFiles
        | Meaning::InheritsContextFiles
        | Meaning::Extensions
        | Meaning::ExcludedExtensions
        | Meaning::Isolated => take_surroundings(draft, entry, meaning, key),
    }
}

/// Takes a key that the table does not have.
fn unknown(draft: &mut Draft, entry: &YamlEntry) -> Result<(), Problem> {
    let key = &entry.key;
    if is_restriction_elsewhere(key) {
        let product = draft
            .dialect
            .foreign_files()
            .map_or("", |files| files.product);
        let message =
            format!("\"{key}\" means nothing to {product}, and a restriction would not hold");
        return Err(Problem::at(entry.position, message));
    }
    if let Some(meant) = misspelt_restriction(draft.dialect, key) {
        let message = format!(
            "unknown key \"{key}\"; did you mean \"{meant}\"? A restriction would not hold"
        );
        return Err(Problem::at(entry.position, message));
    }
    draft.remark(entry, "unknown key");
    Ok(())
}

/// Takes a key that restricts nothing. A value that makes no sense is lost.
fn take_wish(draft: &mut Draft, entry: &YamlEntry, meaning: Meaning, key: &'static str) {
    let words = words(entry);
    let first = words.first().cloned();
    match meaning {
        Meaning::Description => {
            draft.definition.description = first;
            draft.origin(Field::Description, key, entry);
        }
        Meaning::Instructions => {
            draft.definition.append_system_prompt = first;
            draft.origin(Field::AppendSystemPrompt, key, entry);
        }
        Meaning::Prompt => {
            draft.definition.body = first;
            draft.origin(Field::Body, key, entry);
        }
        Meaning::PromptMode => draft.appends_body = first.as_deref() == Some("append"),
        Meaning::Model => take_models(draft, entry, key, words),
        Meaning::FurtherModels => draft.translation.further_models.extend(words),
        Meaning::Thinking => take_thinking(draft, entry, key),
        Meaning::Turns => take_turns(draft, entry, key),
        Meaning::Minutes => take_time(draft, entry, key, 60.0),
        Meaning::Milliseconds => take_time(draft, entry, key, 0.001),
        _ => {}
    }
}

/// Takes the models: the first that exists is asked.
fn take_models(draft: &mut Draft, entry: &YamlEntry, key: &'static str, words: Vec<String>) {
    let written = words.join(", ");
    let mut models = words.into_iter();
    let Some(first) = models.next() else {
        return;
    };
    draft.origin(Field::Model, key, entry);
    if INHERIT.contains(&first.to_ascii_lowercase().as_str()) {
        draft.written(Field::Model, written);
        return;
    }
    // Claude Code writes the size of the context behind the name of a model.
    let model = first.strip_suffix("[1m]").unwrap_or(&first).trim();
    draft.definition.model = Some(model.to_owned());
    if model != written {
        draft.written(Field::Model, written);
    }
    draft.translation.further_models.splice(0..0, models);
}

fn take_thinking(draft: &mut Draft, entry: &YamlEntry, key: &'static str) {
    let Some(word) = words(entry).into_iter().next() else {
        return;
    };
    let level = match word.to_ascii_lowercase().as_str() {
        "none" => Some(ThinkingLevel::Off),
        other => ThinkingLevel::from_word(other),
    };
    match level {
        Some(level) => {
            draft.definition.thinking = Some(level);
            draft.origin(Field::Thinking, key, entry);
            if level.as_str() != word {
                draft.written(Field::Thinking, word);
            }
        }
        None => draft.lose(entry, &format!("\"{word}\" is not a thinking level here")),
    }
}

fn take_turns(draft: &mut Draft, entry: &YamlEntry, key: &'static str) {
    let written = words(entry).into_iter().next().unwrap_or_default();
    match written.parse::<u32>().ok().filter(|turns| *turns > 0) {
        Some(turns) => {
            draft.definition.max_turns = Some(turns);
            draft.origin(Field::MaxTurns, key, entry);
        }
        None => draft.lose(entry, "is not a number of turns"),
    }
}

fn take_time(draft: &mut Draft, entry: &YamlEntry, key: &'static str, seconds: f64) {
    let written = words(entry).into_iter().next().unwrap_or_default();
    let time = written.parse::<f64>().ok().map(|number| number * seconds);
    let time = time.filter(|time| *time > 0.0);
    match time.and_then(|time| Duration::try_from_secs_f64(time.max(1.0)).ok()) {
        Some(time) => {
            draft.definition.timeout = Some(time);
            draft.origin(Field::Timeout, key, entry);
            draft.written(Field::Timeout, written);
        }
        None => draft.lose(entry, "is not a time"),
    }
}

/// Takes a key that restricts tools. A value that makes no sense refuses the file.
fn take_restriction(
    draft: &mut Draft,
    entry: &YamlEntry,
    meaning: Meaning,
    key: &'static str,
) -> Result<(), Problem> {
    let dialect = draft.dialect;
    let notes = match meaning {
        Meaning::AllowedTools => draft.tools.allow(dialect, entry)?,
        Meaning::DeniedTools => draft.tools.deny(dialect, entry)?,
        Meaning::ToolSwitches => take_tool_switches(draft, entry)?,
        Meaning::Permissions => permissions::take(&mut draft.tools, entry)?,
        Meaning::Features => take_features(draft, entry)?,
        Meaning::PermissionMode => return take_permission_mode(draft, entry, key),
        Meaning::ReadOnly => {
            if is_on(entry)? {
                draft.only_reads(entry, key);
            }
            return Ok(());
        }
        Meaning::SandboxMode => return take_sandbox_mode(draft, entry, key),
        Meaning::AcceptanceRole => {
            if text(entry)?.as_deref() == Some("read-only") {
                draft.only_reads(entry, key);
            }
            return Ok(());
        }
        Meaning::Hooks => return take_hooks(draft, entry),
        _ => return Ok(()),
    };
    draft.note_tools(entry, key, shown(entry), notes);
    Ok(())
}

/// Takes the switches of opencode: `{bash: false}`. A tool that is not named stays.
fn take_tool_switches(draft: &mut Draft, entry: &YamlEntry) -> Result<Vec<ToolNote>, Problem> {
    let Value::Map(switches) = &entry.value.value else {
        return draft.tools.allow(draft.dialect, entry);
    };
    for one in switches {
        if is_on(one)? {
            continue;
        }
        match tool_meaning(draft.dialect, &one.key) {
            ToolMeaning::Ours(tools) => draft.tools.deny_all(tools),
            ToolMeaning::Everything => draft.tools.deny_all(&BUILT_IN_TOOLS),
            ToolMeaning::Needless | ToolMeaning::Unknown => {}
        }
    }
    Ok(Vec::new())
}

fn take_features(draft: &mut Draft, entry: &YamlEntry) -> Result<Vec<ToolNote>, Problem> {
    let Value::Map(features) = &entry.value.value else {
        return Err(wrong(entry, "must be a table"));
    };
    for feature in features.iter().filter(|one| one.key == "shell_tool") {
        if !is_on(feature)? {
            draft.tools.deny_all(&["bash"]);
        }
    }
    Ok(Vec::new())
}

fn take_permission_mode(
    draft: &mut Draft,
    entry: &YamlEntry,
    key: &'static str,
) -> Result<(), Problem> {
    match text(entry)?.as_deref() {
        None => Ok(()),
        Some("plan") => {
            draft.only_reads(entry, key);
            Ok(())
        }
        Some("default" | "acceptEdits" | "auto" | "dontAsk" | "bypassPermissions") => {
            draft.remark(entry, NOBODY_ASKS);
            Ok(())
        }
        Some(other) => Err(wrong(entry, &format!("has the unknown mode \"{other}\""))),
    }
}

fn take_sandbox_mode(
    draft: &mut Draft,
    entry: &YamlEntry,
    key: &'static str,
) -> Result<(), Problem> {
    match text(entry)?.as_deref() {
        None | Some("danger-full-access") => Ok(()),
        Some("read-only") => {
            draft.only_reads(entry, key);
            Ok(())
        }
        Some("workspace-write") => {
            draft.confine(SandboxLevel::WorkspaceWrite, entry, key);
            Ok(())
        }
        Some(other) => Err(wrong(entry, &format!("has the unknown mode \"{other}\""))),
    }
}

fn take_hooks(draft: &mut Draft, entry: &YamlEntry) -> Result<(), Problem> {
    let events = match &entry.value.value {
        Value::Null => return Ok(()),
        Value::Map(events) => events,
        _ => return Err(wrong(entry, "must be a mapping")),
    };
    for event in events {
        let name = format!("hooks.{}", event.key);
        if FORBIDDING_HOOKS.contains(&event.key.as_str()) {
            return Err(Problem::at(
                event.position,
                format!("{name} cannot be kept"),
            ));
        }
        let named = YamlEntry {
            key: name,
            ..event.clone()
        };
        draft.lose(&named, "hooks are not run here");
    }
    Ok(())
}

/// Takes a key about where an agent runs, and who is told of it.
#[expect(
    clippy::collapsible_match,
    reason = "a guard would hide that a value may refuse the file"
)]
fn take_place(
    draft: &mut Draft,
    entry: &YamlEntry,
    meaning: Meaning,
    key: &'static str,
) -> Result<(), Problem> {
    let not_offered = |why: &str| Some(Problem::at(entry.position, why.to_owned()));
    match meaning {
        Meaning::Isolation => match text(entry)?.as_deref() {
            None | Some("none") => {}
            Some("worktree") => {
                draft.definition.isolation = Some(Isolation::Worktree);
                draft.origin(Field::Isolation, key, entry);
            }
            Some(other) => return Err(wrong(entry, &format!("\"{other}\" cannot be kept"))),
        },
        Meaning::Kind => match text(entry)?.as_deref() {
            None | Some("local") => {}
            Some(other) => {
                let message = format!("\"{other}\" cannot be kept: the agent is on a server");
                return Err(wrong(entry, &message));
            }
        },
        Meaning::Runner => take_runner(draft, entry, key)?,
        Meaning::Mode => {
            if text(entry)?.as_deref() == Some("primary") {
                draft.not_offered = not_offered("is a main agent of opencode, not a sub-agent");
            }
        }
        Meaning::Target => match text(entry)?.as_deref() {
            None | Some("github-copilot") => {}
            Some(other) => {
                draft.not_offered = not_offered(&format!("is for \"{other}\" only"));
            }
        },
        Meaning::Disabled | Meaning::Enabled => {
            if is_on(entry)? == (meaning == Meaning::Disabled) {
                draft.not_offered = not_offered("is switched off in its file");
            }
        }
        Meaning::Hidden => draft.translation.is_by_name_only |= is_on(entry)?,
        Meaning::Advertised => draft.translation.is_by_name_only |= !is_on(entry)?,
        _ => {}
    }
    Ok(())
}

/// Takes the program that does the work, if it is one that can do it here.
fn take_runner(draft: &mut Draft, entry: &YamlEntry, key: &'static str) -> Result<(), Problem> {
    const CLAUDE: &str = "claude-code";
    let message = "cannot be kept: another program does the work of this agent";
    let Value::Map(parts) = &entry.value.value else {
        return Err(wrong(entry, message));
    };
    let part = |name: &str| parts.iter().find(|part| part.key == name);
    let adapter = part("adapter").map(text).transpose()?.flatten();
    if adapter.as_deref() != Some(CLAUDE) {
        return Err(wrong(entry, message));
    }
    draft.definition.runner = Some(RunnerChoice::Bridge(OtherAgent::Claude));
    draft.origin(Field::Runner, key, entry);
    draft.written(Field::Runner, CLAUDE.to_owned());
    for lost in parts {
        if !["type", "adapter"].contains(&lost.key.as_str()) {
            let named = YamlEntry {
                key: format!("runner.{}", lost.key),
                ..lost.clone()
            };
            draft.lose(&named, "your setting runners.claude says how it is started");
        }
    }
    Ok(())
}

/// Takes a key about skills, context files and extensions.
#[expect(
    clippy::collapsible_match,
    reason = "a guard would hide that a value may refuse the file"
)]
fn take_surroundings(
    draft: &mut Draft,
    entry: &YamlEntry,
    meaning: Meaning,
    key: &'static str,
) -> Result<(), Problem> {
    match meaning {
        Meaning::Skills => match list_or_switch(entry)? {
            ListOrSwitch::On => {}
            ListOrSwitch::Off => switch_on(draft, Field::NoSkills, entry),
            ListOrSwitch::Names(names) => {
                draft.definition.load_skills = names;
                draft.origin(Field::LoadSkills, key, entry);
            }
        },
        Meaning::InheritsSkills => {
            if !is_on(entry)? && draft.definition.load_skills.is_empty() {
                switch_on(draft, Field::NoSkills, entry);
            }
        }
        Meaning::NoContextFiles | Meaning::InheritsContextFiles => {
            if is_on(entry)? == (meaning == Meaning::NoContextFiles) {
                switch_on(draft, Field::NoContextFiles, entry);
            }
        }
        Meaning::Extensions => match list_or_switch(entry)? {
            ListOrSwitch::On => {}
            ListOrSwitch::Off => switch_on(draft, Field::NoExtensions, entry),
            ListOrSwitch::Names(_) => {
                switch_on(draft, Field::NoExtensions, entry);
                draft.lose(
                    entry,
                    "single extensions cannot be chosen, so none is loaded",
                );
            }
        },
        Meaning::ExcludedExtensions => {
            if !names(entry)?.is_empty() {
                switch_on(draft, Field::NoExtensions, entry);
                draft.lose(
                    entry,
                    "single extensions cannot be left out, so none is loaded",
                );
            }
        }
        Meaning::Isolated => {
            if is_on(entry)? {
                switch_on(draft, Field::NoExtensions, entry);
                switch_on(draft, Field::NoSkills, entry);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Switches a field of ours on. Its row shows our key, because theirs often means the opposite.
fn switch_on(draft: &mut Draft, field: Field, entry: &YamlEntry) {
    let row = field.row();
    if let FieldKind::Switch(slot) = row.kind {
        *slot.of(&mut draft.definition) = true;
    }
    draft.origin(field, row.key, entry);
    draft.written(field, format!("{}: {}", entry.key, shown(entry)));
}

/// A value that is a list of names, or a word for all or none of them.
enum ListOrSwitch {
    On,
    Off,
    Names(Vec<String>),
}

fn list_or_switch(entry: &YamlEntry) -> Result<ListOrSwitch, Problem> {
    Ok(match &entry.value.value {
        Value::Null | Value::Bool(true) => ListOrSwitch::On,
        Value::Bool(false) => ListOrSwitch::Off,
        _ => {
            let names = names(entry)?;
            match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["true" | "all" | "*"] => ListOrSwitch::On,
                [] | ["false" | "none"] => ListOrSwitch::Off,
                _ => ListOrSwitch::Names(names),
            }
        }
    })
}

fn is_on(entry: &YamlEntry) -> Result<bool, Problem> {
    Ok(switch(entry)?.0.unwrap_or(false))
}

/// Returns the texts of a value that restricts nothing: one, or those of a list.
fn words(entry: &YamlEntry) -> Vec<String> {
    let texts = match &entry.value.value {
        Value::List(items) => items.iter().map(|item| &item.value).collect(),
        one => vec![one],
    };
    let texts = texts.into_iter().filter_map(|value| match value {
        Value::Text(text) | Value::Number(text) => Some(text.trim().to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::List(_) | Value::Map(_) => None,
    });
    texts.filter(|text| !text.is_empty()).collect()
}

/// Returns a value as a person would write it on one line.
fn shown(entry: &YamlEntry) -> String {
    match &entry.value.value {
        Value::Null => "nothing".to_owned(),
        Value::Text(text) if text.trim().is_empty() => "nothing".to_owned(),
        Value::Text(text) | Value::Number(text) => text.trim().to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::List(items) if items.is_empty() => "[]".to_owned(),
        Value::List(_) => words(entry).join(", "),
        Value::Map(_) => json(&entry.value.value).to_string(),
    }
}

fn wrong(entry: &YamlEntry, what: &str) -> Problem {
    Problem::at(entry.position, format!("\"{}\" {what}", entry.key))
}
