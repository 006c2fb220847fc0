//! What became of another tool's agent file when it was read as a definition.

use std::collections::BTreeMap;

use crate::Field;

/// What became of another tool's agent file when it was read as a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Translation {
    /// The name in the file, if it is not a name that we allow.
    pub written_name: Option<String>,
    /// True if the agent is not in the lists for models, and only its name finds it.
    pub is_by_name_only: bool,
    /// The models that are asked if the first is not there, in this order.
    pub further_models: Vec<String>,
    /// The values in the file, where ours differ.
    pub written: BTreeMap<Field, String>,
    /// What its user should know, in the order of the file.
    pub notes: Vec<TranslationNote>,
}

/// Something about the translation that a user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranslationNote {
    /// The line of the file, counted from 1.
    pub line: u32,
    /// The consequence.
    pub kind: NoteKind,
    /// The part of the file: a key, or a name in its value.
    pub subject: String,
    /// The reason.
    pub reason: String,
}

/// The consequence of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// The agent cannot do something that it can do in its own tool.
    Lost,
    /// A tool is taken away, because a restriction could not be kept otherwise.
    Narrower,
    /// The agent does the same here.
    Remark,
}

impl NoteKind {
    /// Returns the word for this consequence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Narrower => "narrower",
            Self::Remark => "note",
        }
    }
}

impl Translation {
    /// Returns the notes about things that the agent cannot do here.
    pub fn losses(&self) -> impl Iterator<Item = &TranslationNote> {
        let notes = self.notes.iter();
        notes.filter(|note| note.kind != NoteKind::Remark)
    }
}

impl TranslationNote {
    /// Returns the note as a sentence without its place: `WebFetch: there is no such tool here`.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.subject, self.reason)
    }
}
