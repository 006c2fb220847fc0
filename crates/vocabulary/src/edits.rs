//! The changes that a run made by calls of `edit` and `write`, as far as its child reported them.

use std::collections::VecDeque;

use serde_json::Value;

use crate::child_protocol::ChildRecord;
use crate::receipt::shown_path;
use crate::{Happening, Message, RunEvent, Task};

/// The number of calls that are remembered as under way.
const MAX_PENDING: usize = 200;

/// The number of bytes of all changes that are kept.
const MAX_BYTES: usize = 20 << 20;

/// One successful call of `edit` or `write`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenEdit {
    /// The file, relative to the run's directory if it is below it.
    pub path: String,
    /// The change of that file.
    pub change: SeenChange,
}

/// The change that a call made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenChange {
    /// A unified patch, as the child reported it.
    Patch(String),
    /// The whole new text. The text before is not known.
    Written(String),
    /// The call succeeded, and nothing else is known.
    Unknown,
}

/// The changes of a run, in the order of their calls.
#[derive(Debug, Clone, Default)]
pub struct SeenEdits {
    /// The changes.
    pub edits: Vec<SeenEdit>,
    /// The number of changes that are left out, because there are more than can be kept.
    pub left_out: usize,
    task: Option<std::sync::Arc<Task>>,
    pending: VecDeque<Pending>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Pending {
    id: String,
    path: String,
    /// The text that a call of `write` writes.
    content: Option<String>,
}

impl SeenEdits {
    /// Adds one more event of the run.
    pub fn apply(&mut self, event: &RunEvent) {
        match &event.happening {
            Happening::Accepted(task) => self.task = Some(std::sync::Arc::clone(task)),
            Happening::Said { record, .. } => self.add_record(record),
            _ => {}
        }
    }

    fn add_record(&mut self, record: &ChildRecord) {
        match record {
            ChildRecord::MessageEnded(Message::Assistant(answer)) => {
                for call in answer.tool_calls() {
                    self.began(&call.id, &call.name, &call.arguments);
                }
            }
            ChildRecord::ToolStarted {
                call_id,
                tool,
                arguments,
            } => self.began(call_id, tool, arguments),
            ChildRecord::ToolEnded {
                call_id,
                is_error,
                details,
                ..
            } => self.ended(call_id, *is_error, details.as_ref()),
            _ => {}
        }
    }

    fn began(&mut self, id: &str, tool: &str, arguments: &Value) {
        let word = |field: &str| arguments.get(field).and_then(Value::as_str);
        let is_change = matches!(tool, "edit" | "write");
        let is_known = self.pending.iter().any(|call| call.id == id);
        let Some(path) = word("path").filter(|_| is_change && !is_known) else {
            return;
        };
        if self.pending.len() >= MAX_PENDING {
            self.pending.pop_front();
        }
        let content = word("content").filter(|_| tool == "write");
        self.pending.push_back(Pending {
            id: id.to_owned(),
            path: path.to_owned(),
            content: content.map(str::to_owned),
        });
    }

    fn ended(&mut self, id: &str, is_error: bool, details: Option<&Value>) {
        let place = self.pending.iter().position(|call| call.id == id);
        let Some(call) = place.and_then(|place| self.pending.remove(place)) else {
            return;
        };
        if is_error {
            return;
        }
        let patch = details.and_then(|details| details.get("patch")?.as_str());
        let change = match (patch, call.content) {
            (Some(patch), _) => SeenChange::Patch(patch.to_owned()),
            (None, Some(content)) => SeenChange::Written(content),
            (None, None) => SeenChange::Unknown,
        };
        self.bytes += change.size();
        if self.bytes > MAX_BYTES {
            self.left_out += 1;
            return;
        }
        let cwd = self.task.as_ref().map(|task| task.cwd.as_path());
        self.edits.push(SeenEdit {
            path: shown_path(&call.path, cwd),
            change,
        });
    }
}

impl SeenChange {
    fn size(&self) -> usize {
        match self {
            Self::Patch(text) | Self::Written(text) => text.len(),
            Self::Unknown => 0,
        }
    }

    /// Returns the number of lines that were added and removed, if both are known.
    pub fn lines(&self) -> Option<(usize, usize)> {
        match self {
            Self::Patch(patch) => {
                let hunks = || patch.lines().skip_while(|line| !line.starts_with("@@"));
                let count = |sign: char| hunks().filter(|line| line.starts_with(sign)).count();
                Some((count('+'), count('-')))
            }
            Self::Written(_) | Self::Unknown => None,
        }
    }
}

impl SeenEdit {
    /// Returns the change as a patch, with the path as git writes it.
    pub fn patch(&self) -> String {
        let path = &self.path;
        let head = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n");
        match &self.change {
            SeenChange::Patch(told) => {
                let hunks = told.find("@@").map_or("", |at| &told[at..]);
                format!("{head}{}\n", hunks.trim_end_matches('\n'))
            }
            SeenChange::Written(text) => {
                let lines: Vec<String> = text.lines().map(|line| format!("+{line}\n")).collect();
                format!(
                    "{head}@@ written whole; the text before is not known @@\n{}",
                    lines.concat()
                )
            }
            SeenChange::Unknown => format!("{head}@@ changed; the child did not report how @@\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn successful_edits_and_writes_make_a_patch() {
        let mut seen = SeenEdits::default();
        let patch = "--- a.rs\n+++ a.rs\n@@ -1 +1 @@\n-old\n+new\n";
        seen.began("1", "edit", &json!({"path": "a.rs"}));
        seen.began("1", "edit", &json!({"path": "a.rs"}));
        seen.began("2", "edit", &json!({"path": "b.rs"}));
        seen.began(
            "3",
            "write",
            &json!({"path": "c.rs", "content": "one\ntwo\n"}),
        );
        seen.began("4", "bash", &json!({"command": "rm d.rs"}));
        seen.ended("1", false, Some(&json!({"patch": patch})));
        seen.ended("2", true, None);
        seen.ended("3", false, None);
        seen.ended("4", false, None);
        let text: String = seen.edits.iter().map(SeenEdit::patch).collect();
        assert_eq!(seen.edits[0].change.lines(), Some((1, 1)));
        insta::assert_snapshot!(text, @"
        diff --git a/a.rs b/a.rs
        --- a/a.rs
        +++ b/a.rs
        @@ -1 +1 @@
        -old
        +new
        diff --git a/c.rs b/c.rs
        --- a/c.rs
        +++ b/c.rs
        @@ written whole; the text before is not known @@
        +one
        +two
        ");
    }
}
