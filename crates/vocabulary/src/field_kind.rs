//! The kinds of fields that a definition can have. The kind decides how a field is read, written,
//! taken from a flag and printed, so that a new field needs no code of its own for any of these.

use std::time::Duration;

use serde_json::Value;

use crate::{Definition, Field, FieldValue, Gate, McpServer, Secret};

/// The kind of a field, with access to its value in a definition.
#[derive(Debug, Clone, Copy)]
pub enum FieldKind {
    /// The name, which every definition has.
    Name,
    /// A line of text.
    Text(FieldSlot<Option<String>>),
    /// A text of many lines; its flag also takes a file, or stdin.
    LongText(FieldSlot<Option<String>>),
    /// One of a few words.
    Choice(FieldChoice),
    /// A switch that is off unless it is set.
    Switch(FieldSlot<bool>),
    /// A switch whose state without a key depends on the dialect of the file.
    DialectSwitch(FieldSlot<bool>),
    /// Names; a list without any counts as left out.
    Names(FieldSlot<Vec<String>>),
    /// Names of which an empty list would mean something else than no list.
    OptionalNames(FieldSlot<Option<Vec<String>>>),
    /// Texts of any kind, which may have commas.
    Texts(FieldSlot<Vec<String>>),
    /// Names that must follow a rule.
    Listed(FieldList),
    /// A key that is not to be shown, and never taken from a project.
    Secret(FieldSlot<Option<Secret>>),
    /// A time in seconds.
    Time(FieldSlot<Option<Duration>>),
    /// A whole number from 1.
    Count(FieldSlot<Option<u32>>),
    /// Commands that must pass.
    Gates(FieldSlot<Vec<Gate>>),
    /// A JSON schema.
    Schema(FieldSlot<Option<Value>>),
    /// MCP servers.
    Servers(FieldSlot<Vec<McpServer>>),
}

/// Access to the value of one field.
#[derive(Debug)]
pub struct FieldSlot<T: 'static> {
    pub(crate) get: fn(&Definition) -> &T,
    pub(crate) get_mut: fn(&mut Definition) -> &mut T,
}

/// A field whose value is one of a few words.
#[derive(Debug, Clone, Copy)]
pub struct FieldChoice {
    /// The value of the field in a sentence: `a level`.
    pub noun: &'static str,
    /// The consequence of a word that is none of them.
    pub unknown: UnknownWord,
    pub(crate) words: fn() -> Vec<&'static str>,
    pub(crate) get: fn(&Definition) -> Option<&'static str>,
    pub(crate) set: fn(&mut Definition, Option<&str>),
}

/// A field whose value is a list with a rule for its entries.
#[derive(Debug, Clone, Copy)]
pub struct FieldList {
    /// Returns the end of a sentence about a list that cannot be used: `must be …`.
    pub check: fn(&[String]) -> Result<(), String>,
    /// True if the field gives more to a sub-agent, so that it is never taken from a project.
    pub gives_more: bool,
    pub(crate) slot: FieldSlot<Vec<String>>,
}

/// The consequence of an unknown word in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownWord {
    /// The field is ignored with a warning.
    Ignored,
    /// The file cannot be used: its runs would get more than its author meant.
    Refused,
}

impl<T> Clone for FieldSlot<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for FieldSlot<T> {}

impl<T> FieldSlot<T> {
    /// Returns the place of the value in a definition.
    pub fn of(self, definition: &mut Definition) -> &mut T {
        (self.get_mut)(definition)
    }
}

impl FieldList {
    /// Returns the place of the list in a definition.
    pub fn of(self, definition: &mut Definition) -> &mut Vec<String> {
        self.slot.of(definition)
    }
}

impl FieldChoice {
    /// Returns the words to choose from.
    pub fn words(&self) -> Vec<&'static str> {
        (self.words)()
    }

    /// Sets the field to a word, or to nothing if the word is unknown.
    pub fn set(&self, definition: &mut Definition, word: Option<&str>) {
        (self.set)(definition, word);
    }

    /// Returns what a value must be, as the end of a sentence: `one of auto, pi, embedded`.
    pub fn rule(&self) -> String {
        let words = self.words();
        match words.as_slice() {
            [one, other] => format!("{one} or {other}"),
            words => format!("one of {}", words.join(", ")),
        }
    }
}

impl FieldKind {
    /// Returns the value that a field of this kind has in a definition, if it has one.
    pub(crate) fn value(self, definition: &Definition, field: Field) -> Option<FieldValue<'_>> {
        match self {
            Self::Name => Some(FieldValue::Text(&definition.name)),
            Self::Text(slot) | Self::LongText(slot) => {
                (slot.get)(definition).as_deref().map(FieldValue::Text)
            }
            Self::Choice(choice) => (choice.get)(definition).map(FieldValue::Text),
            Self::Switch(slot) => (slot.get)(definition).then_some(FieldValue::Switch(true)),
            Self::DialectSwitch(slot) => {
                let is_on = *(slot.get)(definition);
                let is_written = definition.origins.contains_key(&field);
                (is_on || is_written).then_some(FieldValue::Switch(is_on))
            }
            Self::Names(slot) => filled((slot.get)(definition)).map(FieldValue::Names),
            Self::Listed(list) => filled((list.slot.get)(definition)).map(FieldValue::Names),
            Self::OptionalNames(slot) => (slot.get)(definition).as_deref().map(FieldValue::Names),
            Self::Texts(slot) => filled((slot.get)(definition)).map(FieldValue::Texts),
            Self::Secret(slot) => (slot.get)(definition).as_ref().map(FieldValue::Secret),
            Self::Time(slot) => (slot.get)(definition).map(FieldValue::Time),
            Self::Count(slot) => (slot.get)(definition).map(FieldValue::Count),
            Self::Gates(slot) => filled((slot.get)(definition)).map(FieldValue::Gates),
            Self::Schema(slot) => (slot.get)(definition).as_ref().map(FieldValue::Json),
            Self::Servers(slot) => filled((slot.get)(definition)).map(FieldValue::Servers),
        }
    }

    /// Takes the value of a field of this kind away. The name stays, because every definition has
    /// one.
    pub(crate) fn unset(self, definition: &mut Definition, field: Field) {
        match self {
            Self::Name => {}
            Self::Text(slot) | Self::LongText(slot) => *slot.of(definition) = None,
            Self::Choice(choice) => choice.set(definition, None),
            Self::Switch(slot) => *slot.of(definition) = false,
            Self::DialectSwitch(slot) => {
                *slot.of(definition) = definition.dialect.finalizes();
                definition.origins.remove(&field);
            }
            Self::Names(slot) | Self::Texts(slot) => slot.of(definition).clear(),
            Self::Listed(list) => list.of(definition).clear(),
            Self::OptionalNames(slot) => *slot.of(definition) = None,
            Self::Secret(slot) => *slot.of(definition) = None,
            Self::Time(slot) => *slot.of(definition) = None,
            Self::Count(slot) => *slot.of(definition) = None,
            Self::Gates(slot) => slot.of(definition).clear(),
            Self::Schema(slot) => *slot.of(definition) = None,
            Self::Servers(slot) => slot.of(definition).clear(),
        }
    }
}

fn filled<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}
