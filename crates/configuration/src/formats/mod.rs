//! Three frontmatters → one [`Definition`].
//!
//! Every dialect understands the keys of all, so that a restriction is never lost because a file
//! lies in another folder; the dialect decides what is required and what the body means.

mod fields;
mod keys;
mod preset;
mod profile;
mod prompt;
mod values;

use std::path::PathBuf;

use pi_subagents_pi_files::yaml::{self, Entry};
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
    match dialect {
        Dialect::Preset => preset::check(&definition).map_err(|problem| problem.of(&name))?,
        Dialect::Profile | Dialect::Prompt => {}
    }
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

fn dialect_of(folder: FolderDialect, entries: &[Entry]) -> Dialect {
    let has_any = |keys: &[&str]| {
        entries
            .iter()
            .any(|entry| keys.contains(&entry.key.as_str()))
    };
    match folder {
        FolderDialect::Fixed(dialect) => dialect,
        FolderDialect::ByKeys if has_any(prompt::TELLING_KEYS) => Dialect::Prompt,
        FolderDialect::ByKeys if has_any(profile::TELLING_KEYS) => Dialect::Profile,
        FolderDialect::ByKeys => Dialect::Prompt,
    }
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
