//! Skills: instructions for special tasks that the model reads when it needs them.
//!
//! Only their names, descriptions and places go into the prompt. What a project brings along
//! counts only when the caller trusts the project.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use pi_subagents_files::{Ownership, ownership, read_own};

/// How deep a folder of skills is searched.
const DEEPEST: usize = 8;

/// How much of it is searched: a link in it may lead to everything there is.
const MOST_ENTRIES: usize = 10_000;

/// A larger file is no skill.
const LARGEST_SKILL: u64 = 16 << 20;

/// A skill as the model hears of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    name: String,
    description: String,
    path: PathBuf,
}

/// Where skills are looked for.
#[derive(Debug)]
pub(crate) struct SkillPlaces<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) home: &'a Path,
    pub(crate) agent_dir: &'a Path,
    pub(crate) trusts_project: bool,
    /// From the settings.
    pub(crate) listed: &'a [String],
    /// From the command line; a missing one is no error, as in pi.
    pub(crate) named: &'a [String],
    /// Whether only the named ones count.
    pub(crate) named_only: bool,
}

/// All skills; of two with one name the first counts.
pub(crate) fn find(places: &SkillPlaces<'_>) -> Vec<Skill> {
    let mut skills: Vec<Skill> = Vec::new();
    for (path, kind) in places.all() {
        for skill in load(&path, kind) {
            if !skills.iter().any(|known| known.name == skill.name) {
                skills.push(skill);
            }
        }
    }
    skills
}

/// What the prompt says about them; nothing if there are none.
pub(crate) fn advertise(skills: &[Skill], tool: &str) -> Option<String> {
    if skills.is_empty() {
        return None;
    }
    let mut text = format!(
        "Skills hold instructions for special tasks. When a task fits a description, load the skill's file with {tool} before you begin. Relative paths in it start at its own directory.\n\n<available_skills>\n"
    );
    for skill in skills {
        let _ = write!(
            text,
            "  <skill>\n    <name>{}</name>\n    <description>{}</description>\n    <location>{}</location>\n  </skill>\n",
            escaped(&skill.name),
            escaped(&skill.description),
            escaped(&skill.path.display().to_string())
        );
    }
    text.push_str("</available_skills>");
    Some(text)
}

/// Whether loose files at the top of a directory are skills too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pi,
    Agents,
}

impl SkillPlaces<'_> {
    fn all(&self) -> Vec<(PathBuf, Kind)> {
        let mut places = Vec::new();
        if !self.named_only {
            if self.trusts_project {
                places.extend(self.of_project());
            }
            places.extend(self.listed.iter().map(|path| (self.full(path), Kind::Pi)));
            places.push((self.agent_dir.join("skills"), Kind::Pi));
            places.push((self.home.join(".agents/skills"), Kind::Agents));
        }
        places.extend(self.named.iter().map(|path| (self.full(path), Kind::Pi)));
        places
    }

    /// From the working directory up to the repository, or to the root if there is none.
    fn of_project(&self) -> Vec<(PathBuf, Kind)> {
        let mut places = vec![(self.cwd.join(".pi/skills"), Kind::Pi)];
        let repository = self.cwd.ancestors().find(|one| one.join(".git").exists());
        // What lies in or above a directory of somebody else is not ours to obey.
        let is_own = |directory: &&Path| ownership(directory).is_ok_and(Ownership::is_safe);
        for directory in self.cwd.ancestors().take_while(is_own) {
            places.push((directory.join(".agents/skills"), Kind::Agents));
            if repository == Some(directory) {
                break;
            }
        }
        places
    }

    fn full(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => self.cwd.join(path),
        }
    }
}

fn load(path: &Path, kind: Kind) -> Vec<Skill> {
    if path.is_file() {
        return read(path).into_iter().collect();
    }
    let mut found: Vec<PathBuf> = Vec::new();
    let walk = WalkBuilder::new(path)
        .hidden(true)
        .parents(false)
        .require_git(false)
        .add_custom_ignore_filename(".fdignore")
        .sort_by_file_path(Path::cmp)
        .follow_links(true)
        .max_depth(Some(DEEPEST))
        .filter_entry(|entry| entry.file_name() != "node_modules")
        .build();
    for entry in walk.flatten().take(MOST_ENTRIES) {
        let (file, depth) = (entry.path(), entry.depth());
        let is_inside = found.iter().any(|skill: &PathBuf| {
            skill.ends_with("SKILL.md") && skill.parent().is_some_and(|root| file.starts_with(root))
        });
        let is_loose =
            kind == Kind::Pi && depth == 1 && file.extension().is_some_and(|end| end == "md");
        if file.is_file() && !is_inside && (file.ends_with("SKILL.md") || is_loose) {
            found.push(file.to_owned());
        }
    }
    found.iter().filter_map(|file| read(file)).collect()
}

/// A file without a description is no skill; one that hides itself is not for the model.
fn read(path: &Path) -> Option<Skill> {
    let text = String::from_utf8(read_own(path, LARGEST_SKILL).ok()?).ok()?;
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (front, _) = text.strip_prefix("---\n")?.split_once("\n---")?;
    if field(front, "disable-model-invocation").as_deref() == Some("true") {
        return None;
    }
    let folder = path.parent()?.file_name()?.to_str()?.to_owned();
    Some(Skill {
        name: field(front, "name").unwrap_or(folder),
        description: field(front, "description")?,
        path: path.to_owned(),
    })
}

/// A field of the frontmatter: on one line, quoted or not, or as a block below it.
fn field(front: &str, name: &str) -> Option<String> {
    let mut lines = front.lines();
    let begins = |line: &str| {
        let rest = line.strip_prefix(name)?.strip_prefix(':')?;
        Some(rest.trim().to_owned())
    };
    let first = lines.by_ref().find_map(begins)?;
    let is_block = matches!(first.as_str(), "|" | ">" | "|-" | ">-" | "|+" | ">+");
    let folded: Vec<&str> = lines
        .take_while(|line| line.starts_with([' ', '\t']) || line.is_empty())
        .map(str::trim)
        .collect();
    let text = match (is_block, folded.is_empty()) {
        (true, _) => folded.join(" "),
        (false, true) => first,
        (false, false) => format!("{first} {}", folded.join(" ")),
    };
    let text = text.trim();
    let unquoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    let text = unquoted.unwrap_or(text).to_owned();
    Some(text).filter(|text| !text.is_empty())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
