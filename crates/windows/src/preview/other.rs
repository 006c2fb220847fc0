//! Previews of every other tool.

use std::io::{self, Write};

use serde_json::Value;

use super::arguments::Arguments;
use super::{PreviewContext, Sentence};

/// Shows `workflow_step → action`.
pub(super) fn workflow_step(arguments: Arguments<'_>) -> Sentence {
    Sentence::new("workflow_step").about(&arguments.text(&["action"]))
}

/// Shows `toolName {"key":"value",...}`; without arguments just the name.
pub(super) fn any(tool: &str, arguments: Arguments<'_>, context: &PreviewContext) -> Sentence {
    let name = if tool.trim().is_empty() { "..." } else { tool };
    let sentence = Sentence::new(name);
    match arguments.value() {
        Value::Null => sentence,
        Value::Object(map) if map.is_empty() => sentence,
        value => sentence.with_arguments(&beginning_of(value, context.width() * BYTES_PER_COLUMN)),
    }
}

/// Flags of countries take many bytes and few columns; few characters take more than this.
const BYTES_PER_COLUMN: usize = 16;

/// Returns the first bytes of a value's JSON; the rest of a big value is never written.
fn beginning_of(value: &Value, limit: usize) -> String {
    let mut beginning = Beginning {
        bytes: Vec::new(),
        limit,
    };
    // The only error is that there is enough.
    let _ = serde_json::to_writer(&mut beginning, value);
    String::from_utf8_lossy(&beginning.bytes).into_owned()
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
