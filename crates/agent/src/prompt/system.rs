//! The system prompt.

use std::path::Path;

use pi_subagents_files::read_own;
use pi_subagents_pi_files::{
    FoundSkills, SkillPlaces, discover_skills, read_context_files, read_skills,
};

use super::skills;
use crate::flags::Flags;
use crate::notices;
use crate::sections::Sections;
use crate::surroundings::Surroundings;
use crate::tools::{Tool, ToolName};

const PREAMBLE: &str = include_str!("../../prompts/system.md");

/// A larger prompt file is not read.
const LARGEST_PROMPT: u64 = 16 << 20;

/// Builds the prompt in pi's sections.
pub(crate) fn build(
    flags: &Flags,
    tools: &[&'static Tool],
    cwd: &Path,
    surroundings: &Surroundings,
) -> Sections {
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
        let (agent_dir, never) = (&surroundings.agent_dir, &surroundings.never_projects);
        let context = read_context_files(cwd, agent_dir, never);
        for problem in &context.problems {
            notices::warn(problem);
        }
        if !context.text.is_empty() {
            sections.set_tagged("project_context", &context.text);
        }
    }
    if let Some(text) = skills_of(flags, tools, cwd, surroundings) {
        sections.set("skills", Some(text));
    }
    sections.set_tagged("cwd", &cwd.display().to_string());
    sections
}

/// Returns the section of the prompt about skills; `None` for a model that cannot read their files.
fn skills_of(
    flags: &Flags,
    tools: &[&'static Tool],
    cwd: &Path,
    surroundings: &Surroundings,
) -> Option<String> {
    let has = |name: ToolName| tools.iter().any(|tool| tool.name == name);
    let reader = match (has(ToolName::Read), has(ToolName::Bash)) {
        (true, _) => "the read tool",
        (false, true) => "bash",
        (false, false) => return None,
    };
    let places = SkillPlaces {
        cwd,
        own_directories: &surroundings.never_projects.own_directories(cwd),
        home: &surroundings.home,
        agent_dir: &surroundings.agent_dir,
    };
    let mut found = if flags.no_skills {
        FoundSkills::default()
    } else {
        discover_skills(&places, |_| flags.approve)
    };
    read_skills(&flags.skills, &places, &mut found);
    for (file, problem) in &found.problems {
        let (file, why) = (file.display(), &problem.message);
        notices::warn(&format!("{file}: {why}; the file is not used"));
    }
    skills::advertise(&found.skills, reader)
}

/// Returns the text of a flag, which may be a path because arguments are short and public.
fn text_or_file(text: &str) -> String {
    let is_path = text.len() < 4096 && !text.contains('\n') && Path::new(text).is_file();
    if is_path {
        match read_own(Path::new(text), LARGEST_PROMPT) {
            Ok(bytes) => return String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => notices::warn(&format!("{text} is not read: {error}")),
        }
    }
    text.to_owned()
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
