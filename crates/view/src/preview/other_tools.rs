//! Previews of every other tool.

use std::io::{self, Write};

use pi_subagents_vocabulary::text::CUT_MARK;
use serde_json::Value;

use super::Sentence;
use super::arguments::Arguments;

/// Shows `workflow_step → action`.
pub(super) fn workflow_step(arguments: Arguments<'_>) -> Sentence {
    Sentence::new("workflow_step").about(&arguments.text(&["action"]))
}

/// Shows `toolName {"key":"value",...}`; without arguments just the name.
pub(super) fn any(tool: &str, arguments: Arguments<'_>) -> Sentence {
    let name = if tool.trim().is_empty() { "..." } else { tool };
    let sentence = Sentence::new(name);
    match arguments.value() {
        Value::Null => sentence,
        Value::Object(map) if map.is_empty() => sentence,
        value => sentence.with_arguments(&beginning_of(value)),
    }
}

/// No preview shows more of the arguments than this.
const MAX_BYTES: usize = 4 << 10;

/// Returns the first bytes of a value's JSON; the rest of a big value is never written.
fn beginning_of(value: &Value) -> String {
    let mut beginning = Beginning {
        bytes: Vec::new(),
        limit: MAX_BYTES,
    };
    let is_whole = serde_json::to_writer(&mut beginning, value).is_ok();
    let text = String::from_utf8_lossy(&beginning.bytes).into_owned();
    if is_whole { text } else { text + CUT_MARK }
}

struct Beginning {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() >= self.limit {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = bytes.len().min(self.limit - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
