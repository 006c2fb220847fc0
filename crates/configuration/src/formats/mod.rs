//! Three frontmatters → one [`Definition`].
//!
//! Every dialect understands the keys of all, so that a restriction is never lost because a file
//! lies in another folder; the dialect decides what is required and what the body means.

mod fields;
mod keys;
mod values;

use std::path::PathBuf;

use pi_subagents_pi_files::yaml::{self, YamlEntry};
use pi_subagents_pi_files::{Position, Problem, markdown};
use pi_subagents_vocabulary::{Definition, Dialect, Field, Origin, Scope};

use crate::places::FolderDialect;
use crate::warning::{Verdict, Warning};

pub use fields::fits_name;
use keys::field_of;

/// The origin of a text.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) file: PathBuf,
    pub(crate) dialect: FolderDialect,
    pub(crate) scope: Scope,
}

/// Reads a definition. Whatever is merely odd about it becomes a warning.
pub(crate) fn parse(source: &Source, bytes: &[u8]) -> Result<(Definition, Vec<Warning>), Problem> {
    let text = markdown::text_of(bytes)?;
    let markdown = markdown::split(text)?;
    let entries = yaml::parse(markdown.frontmatter)?;
    let dialect = dialect_of(source.dialect, &entries);
    let name = fields::name(&entries)?;
    let mut definition = Definition::new(&name, dialect, source.scope, source.file.clone());
    let notes = fields::fill(&mut definition, &entries).map_err(|problem| problem.of(&name))?;
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
    let text = body.trim();
    if text.is_empty() {
        return;
    }
    let blank = body.len() - body.trim_start().len();
    let line = first_line + body[..blank].matches('\n').count();
    let origin = Origin {
        key: Field::Body.key(definition.dialect),
        line: Position::line(line).line,
    };
    definition.origins.insert(Field::Body, origin);
    // A body may be large, and few have anything to replace.
    definition.body = Some(if text.contains('\r') {
        text.replace("\r\n", "\n")
    } else {
        text.to_owned()
    });
}
