//! Ends a run whose model makes the same tool call again and again.

use pi_subagents_vocabulary::{Decision, ToolCall};
use serde_json::Value;

use super::signature::call_words;

/// Counts equal tool calls in a row, over as many messages as they take.
#[derive(Debug, Clone)]
pub(crate) struct Repetition {
    limit: u32,
    last: Option<(String, Value)>,
    times: u32,
}

impl Repetition {
    /// Makes a guard that ends a run at `limit` equal calls; 0 turns it off.
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            limit,
            last: None,
            times: 0,
        }
    }

    /// Counts one more call. Calls are equal when name and arguments are, in full depth and
    /// whatever the order of their keys.
    pub(crate) fn observe(&mut self, call: &ToolCall) -> Option<Decision> {
        if self.limit == 0 {
            return None;
        }
        let is_same = self
            .last
            .as_ref()
            .is_some_and(|(name, arguments)| *name == call.name && *arguments == call.arguments);
        if is_same {
            self.times += 1;
        } else {
            self.last = Some((call.name.clone(), call.arguments.clone()));
            self.times = 1;
        }
        (self.times >= self.limit).then_some(Decision::Looped { times: self.times })
    }

    /// Describes the call that was repeated.
    pub(crate) fn evidence(&self) -> Option<String> {
        let (name, arguments) = self.last.as_ref()?;
        let call = ToolCall {
            id: String::new(),
            name: name.clone(),
            arguments: arguments.clone(),
        };
        Some(format!("{} ×{}", call_words(&call), self.times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(limit: u32, calls: &[(&str, &str)]) -> Option<usize> {
        let mut guard = Repetition::new(limit);
        calls.iter().position(|(name, arguments)| {
            guard
                .observe(&ToolCall {
                    id: String::new(),
                    name: (*name).to_owned(),
                    arguments: serde_json::from_str(arguments).unwrap(),
                })
                .is_some()
        })
    }

    #[test]
    fn equal_calls_in_a_row_are_a_loop() {
        let call = ("bash", r#"{"command":"ls","deep":{"a":1,"b":[2]}}"#);
        let reordered = ("bash", r#"{"deep":{"b":[2],"a":1},"command":"ls"}"#);
        assert_eq!(check(3, &[call, reordered, call, call]), Some(2));
    }

    #[test]
    fn different_edits_of_one_file_are_not_a_loop() {
        let edits: Vec<String> = (0..9)
            .map(|n| format!(r#"{{"path":"a","edits":[{{"oldText":"{n}","newText":"x"}}]}}"#))
            .collect();
        let calls: Vec<(&str, &str)> = edits.iter().map(|edit| ("edit", edit.as_str())).collect();
        assert_eq!(check(2, &calls), None);
    }

    #[test]
    fn another_call_in_between_starts_the_count_again() {
        let (a, b) = (("read", "{}"), ("ls", "{}"));
        assert_eq!(check(3, &[a, a, b, a, a, b, a, a, a]), Some(8));
    }

    #[test]
    fn zero_turns_it_off_and_one_means_the_first_call() {
        let call = ("bash", "{}");
        assert_eq!(check(0, &[call; 60]), None);
        assert_eq!(check(1, &[call]), Some(0));
    }
}
