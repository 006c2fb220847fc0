//! The section of the system prompt that lists the skills: their names, descriptions and files.

use std::fmt::Write as _;

use pi_subagents_pi_files::FoundSkill;

/// Returns the section of the prompt that lists the skills; `None` if there are none to list.
pub(crate) fn advertise(skills: &[FoundSkill], tool: &str) -> Option<String> {
    let mut shown = skills.iter().filter(|found| !found.is_hidden).peekable();
    shown.peek()?;
    let mut text = format!(
        "Skills hold instructions for special tasks. When a task fits a description, load the skill's file with {tool} before you begin. Relative paths in it start at its own directory.\n\n<available_skills>\n"
    );
    for FoundSkill { skill, .. } in shown {
        let _ = write!(
            text,
            "  <skill>\n    <name>{}</name>\n    <description>{}</description>\n    <location>{}</location>\n  </skill>\n",
            escaped(&skill.name),
            escaped(&skill.description),
            escaped(&skill.file.display().to_string())
        );
    }
    text.push_str("</available_skills>");
    Some(text)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
