//! The tools that a session file names. A child that continues the session writes only new tools.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::Path;

use pi_subagents_files as files;
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{Happening, RunEvent, RunId, RunSummary, Timestamp};
use serde_json::{Value, json};

use crate::record_line::next_line;

/// A text that every line about tools contains.
const SYSTEM: &str = r#""role":"system""#;

/// The tools of the children that wrote a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionTools {
    /// The tools of the child that wrote to it last.
    pub now: BTreeSet<String>,
    /// The tools that any of its children had.
    pub ever: BTreeSet<String>,
}

/// Returns the tools of a session; `None` if its file does not name them.
pub fn tools_of_session(file: &Path) -> Option<SessionTools> {
    let mut summary = RunSummary::default();
    let mut ever = BTreeSet::new();
    let mut lines = BufReader::new(files::open_own(file).ok()?);
    let mut line = Vec::new();
    while next_line(&mut lines, &mut line).is_ok_and(|is_there| is_there) {
        if let Some(said) = tool_event(&line) {
            summary.apply(&said);
            ever.extend(summary.tools.iter().flatten().cloned());
        }
    }
    let now = summary.tools?;
    Some(SessionTools { now, ever })
}

/// Reads a line about tools as the event that its child reported.
fn tool_event(line: &[u8]) -> Option<RunEvent> {
    let text = std::str::from_utf8(line).ok()?;
    if !text.contains(SYSTEM) {
        return None;
    }
    let mut entry: Value = serde_json::from_str(text).ok()?;
    let said = json!({"type": "message_end", "message": entry.get_mut("message")?.take()});
    let line = said.to_string();
    let ChildLine::Record(record) = decode(line.as_bytes()) else {
        return None;
    };
    let at = Timestamp::UNIX_EPOCH;
    Some(RunEvent {
        run: RunId::new(at, 0),
        at,
        happening: Happening::Said {
            line: line.into_bytes().into(),
            record,
        },
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_was_added_and_taken_away_is_counted_together() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("s.jsonl");
        assert_eq!(tools_of_session(&file), None);
        let tool = |name: &str| json!({"name": name, "description": "", "parameters": {}});
        let lines = [
            json!({"type": "session", "id": "s"}),
            json!({"type": "message", "message": {"role": "system", "content": "",
                "sections": {"cwd": "/"}, "toolsAdded": [tool("read"), tool("bash")]}}),
            json!({"type": "message", "message": {"role": "user", "content": r#""role":"system""#}}),
            json!({"type": "message", "message": {"role": "system", "content": "",
                "toolsAdded": [tool("ls")], "toolsRemoved": [tool("bash")]}}),
        ];
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(&file, text.join("\n") + "\n{\"role\":\"system\"").unwrap();
        let tools = tools_of_session(&file).unwrap();
        assert_eq!(tools.now.into_iter().collect::<Vec<_>>(), ["ls", "read"]);
        let ever: Vec<String> = tools.ever.into_iter().collect();
        assert_eq!(ever, ["bash", "ls", "read"]);
    }
}
