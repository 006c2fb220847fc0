//! The tool calls of one answer while they stream in.

use std::collections::HashSet;

use serde_json::Value;

use super::Chunk;
use super::limits::ANSWER_CALLS;

/// The calls so far. A server names each call by a key of its format, such as its place in the
/// answer; we name the calls by ids that are unique in the conversation.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    /// Ids that cannot be used again: some servers count from 0 in every answer.
    known: HashSet<String>,
    calls: Vec<OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    key: String,
    /// The id that the server gave.
    theirs: String,
    ours: String,
    arguments: String,
    is_complete: bool,
}

impl OpenCalls {
    /// Begins an answer; `known` are the ids that the conversation has already.
    pub(super) fn new(known: HashSet<String>) -> Self {
        Self {
            known,
            calls: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns the id that the server gave to the call of this key.
    pub(super) fn id_of(&self, key: &str) -> Option<&str> {
        let open = self.calls.iter().rfind(|open| open.key == key)?;
        Some(&open.theirs)
    }

    /// Begins a call. An earlier call with the same key gets no more pieces.
    pub(super) fn begin(
        &mut self,
        key: &str,
        id: &str,
        name: &str,
        signature: Option<String>,
        said: &mut Vec<Chunk>,
    ) {
        // The answer is refused for its many calls; until then they must not cost much.
        if self.calls.len() > ANSWER_CALLS {
            return;
        }
        let ours = self.unused(id);
        self.known.insert(ours.clone());
        self.calls.push(OpenCall {
            key: key.to_owned(),
            theirs: id.to_owned(),
            ours: ours.clone(),
            arguments: String::new(),
            is_complete: false,
        });
        said.push(Chunk::CallStart {
            id: ours,
            name: name.to_owned(),
            signature,
        });
    }

    /// Adds a piece to the arguments of a call.
    pub(super) fn add(&mut self, key: &str, delta: &str, said: &mut Vec<Chunk>) {
        let Some(open) = self.calls.iter_mut().rfind(|open| open.key == key) else {
            return;
        };
        if delta.is_empty() {
            return;
        }
        open.arguments.push_str(delta);
        said.push(Chunk::CallArguments {
            id: open.ours.clone(),
            delta: delta.to_owned(),
        });
    }

    /// Adds the arguments that the pieces of a call left out.
    pub(super) fn complete(&mut self, key: &str, whole: &str, said: &mut Vec<Chunk>) {
        let is_meant = |open: &&mut OpenCall| open.key == key && !open.is_complete;
        let Some(open) = self.calls.iter_mut().rfind(is_meant) else {
            return;
        };
        open.is_complete = true;
        if let Some(rest) = whole.strip_prefix(open.arguments.as_str()) {
            let rest = rest.to_owned();
            return self.add(key, &rest, said);
        }
        let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
        let arguments = parsed(whole);
        if let Some(arguments) =
            arguments.filter(|whole| parsed(&open.arguments).as_ref() != Some(whole))
        {
            said.push(Chunk::CallCorrected {
                id: open.ours.clone(),
                arguments,
            });
        }
    }

    fn unused(&self, id: &str) -> String {
        let id = if id.is_empty() { "call_" } else { id };
        let numbered = (1..).map(|number| format!("{id}{number}"));
        std::iter::once(id.to_owned())
            .chain(numbered)
            .find(|id| !self.known.contains(id))
            .unwrap_or_default()
    }
}
