//! The choices for one field: set it if it is not there; otherwise keep, change or remove it.

use std::fmt;

use pi_subagents_vocabulary::text;

use crate::ask::{DialogEnd, Person, Skippable};
use crate::flags::filled;

/// The number of columns of a current value that are shown.
const WIDEST_VALUE: usize = 60;

/// The wish of the person about a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// It stays as it is, set or not.
    Keep,
    /// It gets a new value.
    Set,
    /// It is taken away.
    Remove,
}

impl fmt::Display for Wish {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Keep => "Keep",
            Self::Set => "Change",
            Self::Remove => "Remove",
        })
    }
}

/// Says what an empty answer does: nothing is lost, and nothing is invented.
pub(super) fn on_enter(current: &str) -> &'static str {
    if current.is_empty() {
        "Enter alone leaves it out."
    } else {
        "Enter alone keeps the current value."
    }
}

/// Asks about a field that people set on purpose only.
pub(super) fn wish(
    person: &dyn Person,
    step: &str,
    question: &str,
    current: Option<&str>,
) -> Result<Wish, DialogEnd> {
    match current {
        None => Ok(match person.yes(&format!("{step} {question}"), false)? {
            Some(true) => Wish::Set,
            Some(false) | None => Wish::Keep,
        }),
        Some(current) => about_current(person, step, current),
    }
}

/// Asks for a line of text; an empty answer leaves everything as it is.
pub(super) fn line(
    person: &dyn Person,
    step: &str,
    noun: &str,
    help: &str,
    field: &mut Option<String>,
) -> Result<(), DialogEnd> {
    line_or(person, step, noun, field, |initial| {
        person.line(&format!("{step} {noun}:"), initial, help)
    })
}

/// Asks for a text in a way of the caller's own; an empty answer leaves everything as it is.
pub(super) fn line_or(
    person: &dyn Person,
    step: &str,
    noun: &str,
    field: &mut Option<String>,
    ask: impl FnOnce(&str) -> Skippable<String>,
) -> Result<(), DialogEnd> {
    let wish = match field.as_deref() {
        None => Wish::Set,
        Some(current) => about_current(person, step, &format!("{noun}: {current}"))?,
    };
    match wish {
        Wish::Keep => {}
        Wish::Remove => *field = None,
        Wish::Set => {
            let answer = ask(field.as_deref().unwrap_or_default())?;
            *field = answer.as_deref().and_then(filled).or(field.take());
        }
    }
    Ok(())
}

fn about_current(person: &dyn Person, step: &str, current: &str) -> Result<Wish, DialogEnd> {
    let shown = text::cut_columns(&text::clean(current).replace('\n', " "), WIDEST_VALUE);
    let options = vec![Wish::Keep, Wish::Set, Wish::Remove];
    let answer = person.choice(&format!("{step} {shown}"), options, 0)?;
    Ok(answer.unwrap_or(Wish::Keep))
}
