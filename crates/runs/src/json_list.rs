//! A JSON list that is written while it is made. A run may have a hundred thousand events, and as
//! values they take ten times the memory of their text.

use serde::Serialize;

/// The text of a list that is being made.
#[derive(Debug)]
pub struct JsonList {
    text: String,
    count: usize,
}

impl JsonList {
    pub fn new() -> Self {
        let text = "[".to_owned();
        Self { text, count: 0 }
    }

    /// Returns the number of values.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds a value.
    pub fn add(&mut self, value: &impl Serialize) {
        if self.count > 0 {
            self.text.push(',');
        }
        self.count += 1;
        // Our values have names for keys, so they can always be written.
        let written = serde_json::to_string(value);
        self.text += written.as_deref().unwrap_or("null");
    }

    /// Adds values.
    pub fn extend(&mut self, values: impl IntoIterator<Item = impl Serialize>) {
        values.into_iter().for_each(|value| self.add(&value));
    }

    /// Returns the whole list.
    pub fn finish(mut self) -> String {
        self.text.push(']');
        self.text
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_the_same_as_the_list_of_its_values() {
        assert_eq!(JsonList::new().finish(), "[]");
        let mut list = JsonList::new();
        list.extend([json!({"a": "\n"}), json!(1)]);
        list.add(&json!([]));
        assert_eq!(list.count(), 3);
        assert_eq!(list.finish(), json!([{"a": "\n"}, 1, []]).to_string());
    }
}
