//! The agent file of another tool → a [`Definition`].
//!
//! A restriction is kept, or the file is refused. A capability that we do not have is lost, and a
//! note says so. `keys` has every key of every tool, and `tools` every name of a tool.

mod draft;
mod entry_reader;
mod keys;
mod literal;
mod name;
mod permissions;
mod servers;
mod tool_list;
mod tools;

use pi_subagents_pi_files::yaml::{self, YamlEntry};
use pi_subagents_pi_files::{Problem, markdown, toml_file};
use pi_subagents_vocabulary::{Definition, Dialect};

use super::Source;
use draft::Draft;
use keys::Meaning;
pub(crate) use keys::{is_restriction_elsewhere, shared_folder_dialect};

/// What became of a file.
#[derive(Debug)]
pub(crate) enum ForeignFile {
    /// The file is an agent.
    Agent(Box<Definition>),
    /// The file is an agent that its own tool does not offer as a sub-agent, and why.
    NotOffered(Problem),
    /// The file is not an agent: it has no frontmatter.
    Passed,
}

/// The parts of a file.
struct Parts<'a> {
    entries: Vec<YamlEntry>,
    body: &'a str,
    body_line: usize,
    /// The reason why the entries were read literally, if they were.
    is_odd: Option<Problem>,
}

/// Reads an agent file of another tool.
pub(super) fn read(
    source: &Source,
    dialect: Dialect,
    bytes: &[u8],
) -> Result<ForeignFile, Problem> {
    let text = markdown::text_of(bytes)?;
    let Some(parts) = parts(dialect, text)? else {
        return Ok(ForeignFile::Passed);
    };
    translate(source, dialect, &parts)
}

/// Translates a file whose entries were read already.
pub(super) fn of_entries(
    source: &Source,
    dialect: Dialect,
    entries: Vec<YamlEntry>,
    markdown: markdown::Markdown<'_>,
) -> Result<ForeignFile, Problem> {
    let parts = Parts {
        entries,
        body: markdown.body,
        body_line: markdown.body_line,
        is_odd: None,
    };
    translate(source, dialect, &parts)
}

fn parts(dialect: Dialect, text: &str) -> Result<Option<Parts<'_>>, Problem> {
    if dialect
        .foreign_files()
        .is_some_and(|files| files.ending == "toml")
    {
        return Ok(Some(Parts {
            entries: toml_file::parse(text)?,
            body: "",
            body_line: 1,
            is_odd: None,
        }));
    }
    if !markdown::has_frontmatter(text) {
        return Ok(None);
    }
    let markdown = markdown::split(text)?;
    let (entries, is_odd) = match yaml::parse(markdown.frontmatter) {
        Ok(entries) => (entries, None),
        Err(problem) => {
            let entries = literal::read(markdown.frontmatter, &problem)?;
            (entries, Some(problem))
        }
    };
    Ok(Some(Parts {
        entries,
        body: markdown.body,
        body_line: markdown.body_line,
        is_odd,
    }))
}

fn translate(source: &Source, dialect: Dialect, parts: &Parts<'_>) -> Result<ForeignFile, Problem> {
    let name = name::of(source, dialect, &parts.entries)?;
    let of_name = |problem: Problem| problem.of(&name.ours);
    let mut draft = Draft::new(source, dialect, &name);
    if let Some(problem) = &parts.is_odd {
        draft.note_odd(problem);
    }
    // Lists of tools name servers, wherever these stand in the file.
    let is_servers = |entry: &&YamlEntry| {
        keys::meaning_of(dialect, &entry.key)
            .is_some_and(|(meaning, _)| meaning == Meaning::Servers)
    };
    let first = parts.entries.iter().filter(is_servers);
    let rest = parts.entries.iter().filter(|entry| !is_servers(entry));
    for entry in first.chain(rest) {
        if !source.dropped.contains(&entry.key) {
            entry_reader::take(&mut draft, entry).map_err(of_name)?;
        }
    }
    draft.take_body(parts.body, parts.body_line);
    draft.finish().map_err(of_name)
}
