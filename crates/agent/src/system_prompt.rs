//! What the model is told before anything else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::flags::Flags;
use crate::run::Surroundings;
use crate::sections::Sections;
use crate::settings::Settings;
use crate::skills::{self, SkillPlaces};
use crate::tools::{Tool, ToolName};

const PREAMBLE: &str = include_str!("../prompts/system.md");
/// The first one found in a directory counts.
const CONTEXT_FILES: [&str; 4] = ["AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];

/// Builds the prompt in pi's sections.
pub(crate) fn build(
    flags: &Flags,
    tools: &[&'static Tool],
    cwd: &Path,
    surroundings: &Surroundings,
    settings: &Settings,
) -> Sections {
    let agent_dir = &surroundings.agent_dir;
    let mut sections = Sections::default();
    match flags.system_prompt.as_deref().map(text_or_file) {
        Some(own) if !own.is_empty() => sections.set("preamble", Some(own)),
        _ => {
            sections.set("preamble", Some(PREAMBLE.trim().to_owned()));
            sections.set_tagged("tools", &tool_list(tools));
            sections.set_tagged("rules", &rules(tools));
        }
    }
    let addenda: Vec<String> = flags
        .append_system_prompt
        .iter()
        .map(|text| text_or_file(text))
        .collect();
    let addenda: Vec<&str> = addenda
        .iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty())
        .collect();
    if !addenda.is_empty() {
        sections.set_tagged("addendum", &addenda.join("\n\n"));
    }
    if !flags.no_context_files {
        let context = project_context(cwd, agent_dir);
        if !context.is_empty() {
            sections.set_tagged("project_context", &context);
        }
    }
    if let Some(text) = skills_of(flags, tools, cwd, surroundings, settings) {
        sections.set("skills", Some(text));
    }
    sections.set_tagged("cwd", &cwd.display().to_string());
    sections
}

/// Skills are of use only to a model that can read them.
fn skills_of(
    flags: &Flags,
    tools: &[&'static Tool],
    cwd: &Path,
    surroundings: &Surroundings,
    settings: &Settings,
) -> Option<String> {
    let has = |name: ToolName| tools.iter().any(|tool| tool.name == name);
    let reader = match (has(ToolName::Read), has(ToolName::Bash)) {
        (true, _) => "the read tool",
        (false, true) => "bash",
        (false, false) => return None,
    };
    let found = skills::find(&SkillPlaces {
        cwd,
        home: &surroundings.home,
        agent_dir: &surroundings.agent_dir,
        trusts_project: flags.approve,
        listed: &settings.skills,
        named: &flags.skills,
        named_only: flags.no_skills,
    });
    skills::advertise(&found, reader)
}

/// A prompt may be given as a path, because arguments are short and public.
fn text_or_file(text: &str) -> String {
    let is_path = text.len() < 4096 && !text.contains('\n') && Path::new(text).is_file();
    if is_path {
        fs::read_to_string(text).unwrap_or_else(|_| text.to_owned())
    } else {
        text.to_owned()
    }
}

fn tool_list(tools: &[&'static Tool]) -> String {
    if tools.is_empty() {
        return "(none)".to_owned();
    }
    let lines: Vec<String> = tools
        .iter()
        .map(|tool| format!("- {}: {}", tool.id, tool.snippet))
        .collect();
    lines.join("\n")
}

fn rules(tools: &[&'static Tool]) -> String {
    let mut rules: Vec<&str> = tools
        .iter()
        .flat_map(|tool| tool.guidelines.iter().copied())
        .collect();
    rules.push("Be concise; show file paths clearly.");
    let lines: Vec<String> = rules.iter().map(|rule| format!("- {rule}")).collect();
    lines.join("\n")
}

/// The instructions of the user, then of each directory from the root down to `cwd`.
fn project_context(cwd: &Path, agent_dir: &Path) -> String {
    let mut places: Vec<&Path> = cwd.ancestors().collect();
    places.push(agent_dir);
    places.reverse();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut texts = Vec::new();
    for place in places {
        let found = CONTEXT_FILES
            .iter()
            .map(|name| place.join(name))
            .find(|path| path.is_file());
        let Some(path) = found.filter(|path| !seen.contains(path)) else {
            continue;
        };
        if let Ok(text) = fs::read_to_string(&path) {
            let shown = path.display();
            texts.push(format!(
                "<instructions path=\"{shown}\">\n{}\n</instructions>",
                text.trim()
            ));
        }
        seen.push(path);
    }
    texts.join("\n\n")
}
