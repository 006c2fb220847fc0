//! Skills that a definition wants and that lie in a project nobody has trusted.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_pi_files::up_to_repository;
use pi_subagents_vocabulary::{Definition, text};

use super::Skills;
use crate::trust::Trust;

/// Returns a sentence about the skills of a definition that lie in these directories, nearest
/// first, and are ignored for lack of trust. None of their files is read.
pub fn ignored_skills(
    definition: &Definition,
    found: &Skills,
    directories: &[PathBuf],
    trust: &Trust,
) -> Option<String> {
    let mut unknown = found.unknown(definition);
    unknown.retain(|name| is_plain(name));
    let mut projects = up_to_repository(directories);
    projects.find_map(|project| {
        if trust.of(project).is_trusted() {
            return None;
        }
        let is_there = |name: &&&str| lies_in(project, name);
        let names: Vec<&str> = unknown.iter().filter(is_there).copied().collect();
        (!names.is_empty()).then(|| sentence(project, &names))
    })
}

fn sentence(project: &Path, names: &[&str]) -> String {
    let what = text::count(names.len(), "skill");
    let (names, project) = (names.join(", "), project.display());
    text::clean(&format!(
        "Ignored {what} of {project}, which is not trusted yet: {names}."
    ))
}

fn lies_in(project: &Path, name: &str) -> bool {
    let folders = [".pi/skills", ".agents/skills"].map(|folder| project.join(folder));
    folders.iter().any(|folder| {
        let files = [
            folder.join(name).join("SKILL.md"),
            folder.join(format!("{name}.md")),
        ];
        files.iter().any(|file| fs::symlink_metadata(file).is_ok())
    })
}

/// Returns whether a name is that of one folder and leads to no other place.
fn is_plain(name: &str) -> bool {
    let is_allowed = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    !name.is_empty() && name.chars().all(is_allowed)
}
