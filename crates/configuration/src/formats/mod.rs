//! The files of every format → one [`Definition`].
//!
//! Every dialect of ours understands the keys of all, so that a restriction is never lost because a file
//! lies in another folder; the dialect decides what is required and what the body means.

mod fields;
pub(crate) mod foreign;
mod keys;
mod values;

use std::path::PathBuf;

use markdown::Markdown;
use pi_subagents_pi_files::yaml::{self, Value, YamlEntry};
use pi_subagents_pi_files::{Position, Problem, markdown};
use pi_subagents_vocabulary::{Definition, Dialect, Field, Origin, Scope};

use crate::places::FolderDialect;
use crate::warning::{Verdict, Warning};

pub use fields::fits_name;
use foreign::ForeignFile;
use keys::field_of;

/// The origin of a text.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) file: PathBuf,
    pub(crate) dialect: FolderDialect,
    pub(crate) scope: Scope,
    /// The path of the file below the folder that was read.
    pub(crate) below: PathBuf,
    /// Keys of another tool's file that are left out, because the user wants it so.
    pub(crate) dropped: Vec<String>,
}

/// What a file holds.
#[derive(Debug)]
pub(crate) enum FileContent {
    /// A definition, with warnings about whatever is merely odd about it.
    Definition(Box<Definition>, Vec<Warning>),
    /// An agent that another tool does not offer as a sub-agent, and why.
    NotOffered(Problem),
    /// No definition.
    Nothing,
}

/// Reads a file of any format.
pub(crate) fn read(source: &Source, bytes: &[u8]) -> Result<FileContent, Problem> {
    let foreign = match source.dialect {
        FolderDialect::Fixed(dialect) if dialect.is_foreign() => {
            foreign::read(source, dialect, bytes)?
        }
        FolderDialect::Fixed(_) | FolderDialect::ByKeys => {
            let (markdown, entries) = frontmatter(bytes)?;
            let dialect = dialect_of(source.dialect, &entries);
            if !dialect.is_foreign() {
                let (definition, warnings) = ours(source, markdown, &entries)?;
                return Ok(FileContent::Definition(Box::new(definition), warnings));
            }
            foreign::of_entries(source, dialect, entries, markdown)?
        }
    };
    Ok(match foreign {
        ForeignFile::Agent(definition) => FileContent::Definition(definition, Vec::new()),
        ForeignFile::NotOffered(problem) => FileContent::NotOffered(problem),
        ForeignFile::Passed => FileContent::Nothing,
    })
}

/// Reads a definition of ours. Whatever is merely odd about it becomes a warning.
pub(crate) fn parse(source: &Source, bytes: &[u8]) -> Result<(Definition, Vec<Warning>), Problem> {
    let (markdown, entries) = frontmatter(bytes)?;
    ours(source, markdown, &entries)
}

fn frontmatter(bytes: &[u8]) -> Result<(Markdown<'_>, Vec<YamlEntry>), Problem> {
    let markdown = markdown::split(markdown::text_of(bytes)?)?;
    let entries = yaml::parse(markdown.frontmatter)?;
    Ok((markdown, entries))
}

fn ours(
    source: &Source,
    markdown: Markdown<'_>,
    entries: &[YamlEntry],
) -> Result<(Definition, Vec<Warning>), Problem> {
    let dialect = match dialect_of(source.dialect, entries) {
        dialect if dialect.is_foreign() => Dialect::Prompt,
        dialect => dialect,
    };
    let name = fields::name(entries)?;
    let mut definition = Definition::new(&name, dialect, source.scope, source.file.clone());
    let notes = fields::fill(&mut definition, entries).map_err(|problem| problem.of(&name))?;
    take_body(&mut definition, markdown.body, markdown.body_line);
    check_description(&definition).map_err(|problem| problem.of(&name))?;
    let warnings = notes
        .into_iter()
        .map(|(position, message)| Warning {
            file: source.file.clone(),
            position: Some(position),
            message,
            verdict: Verdict::Used,
            name: Some(name.clone()),
            foreign: None,
        })
        .collect();
    Ok((definition, warnings))
}

/// Returns the entries of a file that are not ours, without their positions.
pub(crate) fn unknown_entries(text: &str) -> Result<Vec<(String, String)>, Problem> {
    let entries = yaml::parse(markdown::split(text)?.frontmatter)?;
    let unknown = entries
        .into_iter()
        .filter(|entry| field_of(&entry.key).is_none());
    Ok(unknown
        .map(|entry| (entry.key, entry.value.value.plain()))
        .collect())
}

fn dialect_of(folder: FolderDialect, entries: &[YamlEntry]) -> Dialect {
    let shows = |dialect: Dialect| {
        let mut shown = entries.iter().map(|entry| keys::dialect_of(&entry.key));
        shown.any(|shown| shown == Some(dialect))
    };
    match folder {
        FolderDialect::Fixed(dialect) => dialect,
        FolderDialect::ByKeys => {
            let mut shared = entries.iter().filter_map(|entry| {
                let is_mapping = matches!(entry.value.value, Value::Map(_));
                foreign::shared_folder_dialect(&entry.key, is_mapping)
            });
            if let Some(dialect) = shared.next() {
                return dialect;
            }
            let by_keys = [Dialect::Prompt, Dialect::Profile];
            let found = by_keys.into_iter().find(|dialect| shows(*dialect));
            found.unwrap_or(Dialect::Prompt)
        }
    }
}

/// Checks that a definition has a description, if its dialect needs one.
fn check_description(definition: &Definition) -> Result<(), Problem> {
    let dialect = definition.dialect;
    if dialect.needs_description() && definition.description.is_none() {
        let message = format!("a {} needs a \"description\"", dialect.as_str());
        return Err(Problem::at(Position::line(1), message));
    }
    Ok(())
}

fn take_body(definition: &mut Definition, body: &str, first_line: usize) {
    let Some((text, line)) = body_of(body, first_line) else {
        return;
    };
    let key = Field::Body.key(definition.dialect);
    definition.origins.insert(Field::Body, Origin { key, line });
    definition.body = Some(text);
}

/// Returns the text under a frontmatter without the blank around it, and its first line.
fn body_of(body: &str, first_line: usize) -> Option<(String, u32)> {
    let text = body.trim();
    if text.is_empty() {
        return None;
    }
    let blank = body.len() - body.trim_start().len();
    let line = first_line + body[..blank].matches('\n').count();
    // A body may be large, and few have anything to replace.
    let text = if text.contains('\r') {
        text.replace("\r\n", "\n")
    } else {
        text.to_owned()
    };
    Some((text, Position::line(line).line))
}
