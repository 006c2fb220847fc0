//! Finding the script in a prompt.

use std::fs;
use std::io;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::step::Step;

/// The content of a prompt.
#[derive(Debug)]
pub(crate) enum Prompt {
    /// It holds a script.
    Script(Vec<Step>),
    /// It is ordinary text.
    Text,
    /// It holds a JSON array that is no script.
    Broken(serde_json::Error),
}

/// Reads the script in `text`: the whole text, or the part from the last line that starts with
/// `[{`, because an owner may put files or a transcript before the prompt.
pub(crate) fn find(text: &str) -> Prompt {
    let whole = text.trim();
    if serde_json::from_str::<Value>(whole).is_ok_and(|value| value.is_array()) {
        return read(whole);
    }
    match last_candidate(text) {
        Some(candidate) => read(candidate),
        None => Prompt::Text,
    }
}

/// Takes the first script out of the file in `MISBEHAVE_NEXT`; `None` if there is no script.
pub(crate) fn take_next() -> io::Result<Option<Vec<Step>>> {
    let Some(file) = crate::variable("MISBEHAVE_NEXT") else {
        return Ok(None);
    };
    let mut scripts: Vec<Box<RawValue>> = serde_json::from_str(&fs::read_to_string(&file)?)?;
    if scripts.is_empty() {
        return Ok(None);
    }
    let first = scripts.remove(0);
    fs::write(&file, serde_json::to_string(&scripts)?)?;
    Ok(Some(serde_json::from_str(first.get())?))
}

fn last_candidate(text: &str) -> Option<&str> {
    let start = match text.rfind("\n[{") {
        Some(newline) => newline + 1,
        None if text.starts_with("[{") => 0,
        None => return None,
    };
    let rest = &text[start..];
    let is_json = matches!(
        serde_json::Deserializer::from_str(rest)
            .into_iter::<Value>()
            .next(),
        Some(Ok(Value::Array(_)))
    );
    is_json.then_some(rest)
}

/// Reads the first JSON value; an owner may also put words after the prompt.
fn read(text: &str) -> Prompt {
    let first = serde_json::Deserializer::from_str(text)
        .into_iter::<Vec<Step>>()
        .next();
    match first {
        Some(Ok(steps)) => Prompt::Script(steps),
        Some(Err(error)) => Prompt::Broken(error),
        None => Prompt::Text,
    }
}
