//! The name of another tool's agent, and the name that it has here.

use std::path::Path;

use pi_subagents_pi_files::yaml::YamlEntry;
use pi_subagents_pi_files::{Position, Problem};
use pi_subagents_vocabulary::{Dialect, NameSource};

use super::super::values::text;
use super::Source;
use crate::formats::fits_name;

/// Endings of a file's name that are not part of the agent's name.
const SECOND_ENDINGS: [&str; 2] = [".agent", ".chatmode"];

/// The length of the longest name that is taken from a file.
const LONGEST: usize = 100;

/// The names of an agent.
pub(super) struct AgentName {
    /// The name that it has here.
    pub(super) ours: String,
    /// The name that its file has for it, if that is another.
    pub(super) written: Option<String>,
    /// The line of the key.
    pub(super) line: Option<u32>,
}

/// Finds the names of an agent.
pub(super) fn of(
    source: &Source,
    dialect: Dialect,
    entries: &[YamlEntry],
) -> Result<AgentName, Problem> {
    let from = dialect.foreign_files().map(|files| files.name);
    let entry = entries.iter().find(|entry| entry.key == "name");
    let key = entry.map(text).transpose()?.flatten();
    let line = entry.map(|entry| entry.position.line);
    let of_file = || stem(&source.file);
    let of_path = || stem(&source.below);
    let (first, second) = match from {
        Some(NameSource::KeyOrFile) => (key.unwrap_or_else(of_file), None),
        Some(NameSource::File) => (of_file(), key),
        Some(NameSource::Path) => (of_path(), key),
        Some(NameSource::Key) | None => match key {
            Some(key) => (key, None),
            None => return Err(missing(entry)),
        },
    };
    let ours = [plain(&first), plain(&of_file())];
    let Some(ours) = ours.into_iter().find(|name| fits_name(name)) else {
        let position = line.map_or(Position::line(1), |line| Position { line, column: 1 });
        let message = format!("the name \"{first}\" has no letters or digits that a name may have");
        return Err(Problem::at(position, message));
    };
    let written = second.or(Some(first)).filter(|name| *name != ours);
    Ok(AgentName {
        ours,
        written,
        line,
    })
}

fn missing(entry: Option<&YamlEntry>) -> Problem {
    let position = entry.map_or(Position::line(1), |entry| entry.position);
    Problem::at(position, "there is no \"name\"")
}

/// Returns a path without its endings.
fn stem(path: &Path) -> String {
    let path = path.with_extension("");
    let name = path.to_string_lossy();
    let name = if path.is_absolute() {
        let file = path.file_name().unwrap_or_default();
        file.to_string_lossy()
    } else {
        name
    };
    let mut endings = SECOND_ENDINGS.iter();
    let shorter = endings.find_map(|ending| name.strip_suffix(ending));
    shorter.unwrap_or(&name).to_owned()
}

/// Replaces everything that a name of ours may not have.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars().take(LONGEST) {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' {
            plain.push(letter);
        } else if !plain.ends_with('-') {
            plain.push('-');
        }
    }
    plain.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_what_it_may_have() {
        let names = ["Code Reviewer", "a/b", "x", "(odd) — one", "审查"].map(plain);
        assert_eq!(names, ["Code-Reviewer", "a-b", "x", "odd-one", ""]);
        assert_eq!(stem(Path::new("/x/pat.agent.md")), "pat");
        assert_eq!(stem(Path::new("deep/pat.md")), "deep/pat");
    }
}
