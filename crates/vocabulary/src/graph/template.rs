//! A prompt, cut into texts and placeholders. It is cut once, so nothing that is put into it is ever
//! taken for a placeholder.

use std::fmt;

use serde_json::Value;

use super::need_result::{LARGEST_TOGETHER, LARGEST_VALUE, TaskResults};
use super::placeholder::{Placeholder, ResultValue, part_of, written};
use crate::text::cut_bytes;

/// The values of a result that a placeholder may name.
const VALUES: [&str; 4] = ["output", "structured", "receipt", "workspace"];

/// A longer text between braces is no placeholder.
const LONGEST: usize = 300;

/// A prompt with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(Placeholder),
}

/// A prompt that is being cut.
#[derive(Default)]
struct CutPrompt {
    pieces: Vec<Piece>,
    /// The text since the last placeholder.
    plain: String,
    doubts: Vec<String>,
}

impl CutPrompt {
    /// Adds the text between braces, which is a placeholder or stays as it is.
    fn add(&mut self, inside: &str, placeholder: Option<Placeholder>) {
        if let Some(placeholder) = placeholder {
            self.end_text();
            self.pieces.push(Piece::Place(placeholder));
            return;
        }
        self.doubts.extend(doubtful(inside.trim()));
        self.plain.extend(["{{", inside, "}}"]);
    }

    fn end_text(&mut self) {
        if !self.plain.is_empty() {
            let text = std::mem::take(&mut self.plain);
            self.pieces.push(Piece::Text(text));
        }
    }
}

/// The names that placeholders of a prompt may have.
#[derive(Debug, Clone, Copy)]
pub struct TemplateNames<'a> {
    /// The names of all tasks of the call.
    pub tasks: &'a [&'a str],
    /// The tasks that the task of the prompt needs.
    pub needs: &'a [String],
    /// True if the task is done for each item of a list.
    pub has_items: bool,
}

/// A placeholder that can have no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPlaceholder {
    /// It names a task that is not needed.
    #[error(
        "{{{{{written}}}}} names the task {task}, which is not among the needs; add \"needs\": [\"{task}\"]"
    )]
    NotNeeded {
        /// The text between the braces.
        written: String,
        /// The task.
        task: String,
    },
    /// It names a task and no value of it.
    #[error(
        "{{{{{written}}}}} names no value of {task}; write {{{{{task}.output}}}}, {{{{{task}.structured.KEY}}}}, {{{{{task}.receipt.KEY}}}} or {{{{{task}.workspace.KEY}}}}"
    )]
    NoValue {
        /// The text between the braces.
        written: String,
        /// The task.
        task: String,
    },
}

impl Template {
    /// Makes a template of a text without placeholders.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    /// Cuts a prompt. Also returns what looks like a placeholder and names nothing.
    pub fn parse(
        text: &str,
        names: TemplateNames<'_>,
    ) -> Result<(Self, Vec<String>), BadPlaceholder> {
        let mut cut = CutPrompt::default();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            cut.plain.push_str(before);
            let Some((inside, after)) = closed(behind) else {
                // The next brace may be the first of a placeholder.
                cut.plain.push('{');
                rest = &rest[before.len() + 1..];
                continue;
            };
            cut.add(inside, names.placeholder(inside.trim())?);
            rest = after;
        }
        cut.plain.push_str(rest);
        cut.end_text();
        Ok((Self(cut.pieces), cut.doubts))
    }

    /// Returns the values of results that it asks for.
    pub fn results(&self) -> impl Iterator<Item = &ResultValue> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Place(Placeholder::Result(value)) => Some(value),
            Piece::Place(Placeholder::Item(_) | Placeholder::Index) | Piece::Text(_) => None,
        })
    }

    /// Puts in an item of a map and its number, from 1. Fails if the item has no part that is asked
    /// for.
    pub fn with_item(&self, item: &Value, number: usize) -> Result<Self, String> {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Place(Placeholder::Item(path)) => {
                // A file is the text of its path.
                let is_path = item.is_string() && path.as_slice() == ["path"];
                let part = Some(item)
                    .filter(|_| is_path)
                    .or_else(|| part_of(item, path));
                let part = part.ok_or_else(|| {
                    let place = Placeholder::Item(path.clone());
                    format!("{place}: the item has no such part")
                })?;
                Ok(Piece::Text(cut_bytes(written(part), LARGEST_VALUE)))
            }
            Piece::Place(Placeholder::Index) => Ok(Piece::Text(number.to_string())),
            Piece::Place(Placeholder::Result(_)) | Piece::Text(_) => Ok(piece.clone()),
        });
        pieces.collect::<Result<_, _>>().map(Self)
    }

    /// Puts in the results. Fails if one of them has no part that is asked for.
    pub fn filled(&self, results: &[TaskResults<'_>]) -> Result<String, String> {
        let count = self.results().count().max(1);
        let most = LARGEST_VALUE.min(LARGEST_TOGETHER / count);
        let texts = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => Ok(text.clone()),
            Piece::Place(Placeholder::Result(value)) => {
                let of_task = results.iter().find(|results| results.name == value.task);
                let text = of_task.and_then(|results| results.text(&value.path, most));
                text.ok_or_else(|| {
                    let ResultValue { task, path } = value;
                    format!("The result of {task} has no {}.", path.join("."))
                })
            }
            Piece::Place(place) => Ok(place.to_string()),
        });
        texts.collect()
    }
}

/// Writes it with its placeholders, for people.
impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => formatter.write_str(text),
            Piece::Place(place) => write!(formatter, "{place}"),
        })
    }
}

impl TemplateNames<'_> {
    /// Reads the text between braces; `None` if it names nothing of the call.
    pub(super) fn placeholder(&self, text: &str) -> Result<Option<Placeholder>, BadPlaceholder> {
        if self.has_items {
            match behind(text, "item") {
                Some(path) => return Ok(Some(Placeholder::Item(path))),
                None if text == "index" => return Ok(Some(Placeholder::Index)),
                None => {}
            }
        }
        let named = self
            .tasks
            .iter()
            .filter_map(|task| Some((*task, behind(text, task)?)));
        let Some((task, path)) = named.max_by_key(|(task, _)| task.len()) else {
            return Ok(None);
        };
        let (task, written) = (task.to_owned(), text.to_owned());
        let is_needed = self.needs.contains(&task);
        match path.first() {
            Some(value) if VALUES.contains(&value.as_str()) && is_needed => {
                let is_whole = value != "output" || path.len() == 1;
                let value = ResultValue { task, path };
                if is_whole {
                    Ok(Some(Placeholder::Result(value)))
                } else {
                    let task = value.task;
                    Err(BadPlaceholder::NoValue { written, task })
                }
            }
            Some(value) if VALUES.contains(&value.as_str()) => {
                Err(BadPlaceholder::NotNeeded { written, task })
            }
            Some(_) | None if is_needed => Err(BadPlaceholder::NoValue { written, task }),
            // A template of another program may have the word too.
            Some(_) | None => Ok(None),
        }
    }
}

/// Splits the text behind an opening of braces at their end; `None` if it is no placeholder.
fn closed(text: &str) -> Option<(&str, &str)> {
    let end = text.find("}}")?;
    let inside = &text[..end];
    let is_plain = end <= LONGEST && !inside.contains(['{', '}', '\n']);
    is_plain.then(|| (inside, &text[end + 2..]))
}

/// Returns the words behind a name, which dots divide; `None` if the text does not begin with it.
fn behind(text: &str, name: &str) -> Option<Vec<String>> {
    let rest = text.strip_prefix(name).filter(|_| !name.is_empty())?;
    if rest.is_empty() {
        return Some(Vec::new());
    }
    let words = rest.strip_prefix('.')?.split('.');
    let words: Vec<String> = words.map(str::to_owned).collect();
    words.iter().all(|word| !word.is_empty()).then_some(words)
}

/// Returns a text between braces if it looks like a placeholder of ours.
fn doubtful(text: &str) -> Option<String> {
    let mut words = text.split('.');
    let is_result = words.next().is_some_and(|name| !name.is_empty())
        && words.next().is_some_and(|value| VALUES.contains(&value));
    let is_item = behind(text, "item").is_some();
    (is_result || is_item).then(|| format!("{{{{{text}}}}}"))
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
