//! The signature of a turn: the calls of one answer and their results, as far as two turns are the
//! same.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use pi_subagents_vocabulary::{Part, ToolCall, ToolResult, text};
use serde_json::Value;

/// The number of bytes of a result that are compared.
const COMPARED: usize = 64 << 10;

/// Hashes a call: its name and its arguments in full depth, whatever the order of their keys.
pub(super) fn call_hash(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.name.hash(&mut hasher);
    hash_value(&call.arguments, &mut hasher);
    hasher.finish()
}

fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_unstable();
            '{'.hash(hasher);
            for key in keys {
                key.hash(hasher);
                hash_value(&fields[key], hasher);
            }
        }
        Value::Array(items) => {
            '['.hash(hasher);
            items.len().hash(hasher);
            for item in items {
                hash_value(item, hasher);
            }
        }
        plain => plain.to_string().hash(hasher),
    }
}

/// Hashes a result: whether it failed, and its text without what changes with the clock.
pub(super) fn result_hash(result: &ToolResult) -> u64 {
    let mut hasher = DefaultHasher::new();
    result.is_error.hash(&mut hasher);
    for part in &result.parts {
        match part {
            Part::Text(words) => {
                let end = words.floor_char_boundary(COMPARED.min(words.len()));
                words
                    .len()
                    .min(COMPARED)
                    .cmp(&COMPARED)
                    .is_eq()
                    .hash(&mut hasher);
                timeless(&text::clean(&words[..end])).hash(&mut hasher);
            }
            Part::Thinking(_) | Part::ToolCall(_) => {}
            Part::Image { mime_type } => mime_type.hash(&mut hasher),
        }
    }
    hasher.finish()
}

/// Replaces times, durations, process numbers and addresses with `#`. Other numbers stay: that 12 of
/// 100 are done is news after 11.
fn timeless(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        kept.push_str(&rest[..start]);
        let number = &rest[start..];
        let is_inside_word =
            kept.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let length = match changing_length(number, &kept) {
            Some(length) if !is_inside_word => {
                kept.push('#');
                length
            }
            Some(_) | None => {
                let digits = prefix_length(number, |letter| letter.is_ascii_digit());
                kept.push_str(&number[..digits]);
                digits
            }
        };
        rest = &number[length..];
    }
    kept.push_str(rest);
    kept
}

/// Returns the length of the part at the beginning of a text that changes with the clock, if there
/// is one.
fn changing_length(number: &str, before: &str) -> Option<usize> {
    let address = number.strip_prefix("0x");
    if let Some(digits) =
        address.map(|rest| prefix_length(rest, |letter| letter.is_ascii_hexdigit()))
        && digits > 0
    {
        return Some(2 + digits);
    }
    let time = prefix_length(number, |letter| {
        letter.is_ascii_digit() || ":.-TZ+/".contains(letter)
    });
    let whole = number[..time].trim_end_matches(['.', ':', '-', '/']);
    let colons = whole.matches(':').count();
    let dashes = whole.matches('-').count();
    if colons > 0 || (dashes == 2 && whole.len() >= 8) {
        return Some(whole.len());
    }
    let amount = prefix_length(number, |letter| letter.is_ascii_digit() || letter == '.');
    let behind = number[amount..].trim_start_matches(' ');
    let unit = &behind[..prefix_length(behind, char::is_alphabetic)];
    if UNITS.contains(&unit) {
        return Some(number.len() - behind.len() + unit.len());
    }
    let last_word = before.trim_end_matches([' ', '=', ':', '(', '[', '#']);
    let last_word = last_word
        .rsplit(|letter: char| !letter.is_alphabetic())
        .next();
    let is_process = last_word.is_some_and(|word| {
        ["pid", "process"]
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name))
    });
    is_process.then_some(amount)
}

/// The units of durations.
const UNITS: [&str; 13] = [
    "ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minutes", "h",
];

fn prefix_length(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|letter: char| !fits(letter))
        .unwrap_or(text.len())
}

/// Describes a call in a few words: its name and the argument that says most.
pub(super) fn call_words(call: &ToolCall) -> String {
    const TELLING: [&str; 6] = ["path", "file_path", "command", "pattern", "query", "url"];
    const COLUMNS: usize = 60;
    let told = TELLING
        .iter()
        .find_map(|key| call.arguments.get(key)?.as_str());
    let words = match told {
        Some(told) => format!("{} {told}", call.name),
        None => call.name.clone(),
    };
    text::cut_columns(&text::one_line(&text::clean(&words)), COLUMNS)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_changes_with_the_clock_is_left_out_and_other_numbers_stay() {
        for (text, kept) in [
            ("finished in 0.31s", "finished in #"),
            ("took 12 ms, 3 failed", "took #, 3 failed"),
            ("2026-11-18T14:05:00Z ok", "# ok"),
            ("at 14:05:07.123 ok", "at # ok"),
            ("pid 4711 is up", "pid # is up"),
            ("at 0x7ffd12ab in main", "at # in main"),
            ("11 of 100 done", "11 of 100 done"),
            (
                "test result: ok. 5 passed; 0 failed",
                "test result: ok. 5 passed; 0 failed",
            ),
            ("utf8 and v1.2.3", "utf8 and v1.2.3"),
            ("", ""),
        ] {
            assert_eq!(timeless(text), kept, "{text}");
        }
    }

    #[test]
    fn equal_calls_have_equal_hashes_whatever_the_order_of_keys() {
        let call = |arguments: &str| ToolCall {
            id: String::new(),
            name: "bash".to_owned(),
            arguments: serde_json::from_str(arguments).unwrap(),
        };
        let one = call_hash(&call(r#"{"a":1,"b":[{"c":2,"d":3}]}"#));
        assert_eq!(one, call_hash(&call(r#"{"b":[{"d":3,"c":2}],"a":1}"#)));
        assert_ne!(one, call_hash(&call(r#"{"b":[{"d":3,"c":1}],"a":1}"#)));
    }
}
