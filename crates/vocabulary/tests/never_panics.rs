//! A line of a child becomes a record or stays a text, whatever the child prints: nothing panics,
//! and no record is larger than its line.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::fs;

use pi_subagents_vocabulary::child_protocol::{
    ChildLine, ChildRecord, Peeked, decode, decode_update, peek,
};
use pi_subagents_vocabulary::{Message, Part};
use proptest::prelude::*;
use proptest::sample::Index;

/// Lines of real and of odd children, each a case of its own.
fn corpus() -> Vec<Vec<u8>> {
    let folder = format!("{}/tests/streams", env!("CARGO_MANIFEST_DIR"));
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let lines = files.flat_map(|file| {
        let bytes = fs::read(file).unwrap();
        let lines = bytes.split(|byte| *byte == b'\n');
        lines.map(<[u8]>::to_vec).collect::<Vec<_>>()
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// Lines with a few careless edits, and bytes that were never a line.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<Index>(),
        0..40_usize,
        prop::collection::vec(any::<u8>(), 0..4),
    );
    let edits = prop::collection::vec(edit, 0..4);
    let edited = (prop::sample::select(corpus()), edits).prop_map(|(mut bytes, edits)| {
        for (at, removed, inserted) in edits {
            let start = at.index(bytes.len() + 1);
            let end = bytes.len().min(start + removed);
            bytes.splice(start..end, inserted);
        }
        bytes
    });
    prop_oneof![4 => edited, 1 => prop::collection::vec(any::<u8>(), 0..200), 1 => nested()]
}

/// Values of every type in the places of a record.
fn nested() -> impl Strategy<Value = Vec<u8>> {
    let kinds = prop::sample::select(vec![
        "message_end",
        "message_update",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
        "turn_end",
        "agent_end",
        "response",
        "extension_ui_request",
    ]);
    let values = prop::sample::select(vec![
        "null",
        "7",
        "-1e999",
        "\"\"",
        "[]",
        "{}",
        "[[[[]]]]",
        "\"\\ud800\"",
        "true",
    ]);
    let keys = prop::sample::select(vec![
        "message", "role", "content", "usage", "cost", "args", "result", "id", "success", "error",
    ]);
    (kinds, prop::collection::vec((keys, values), 0..5)).prop_map(|(kind, fields)| {
        let fields: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!(",\"{key}\":{value}"))
            .collect();
        format!("{{\"type\":\"{kind}\"{}}}", fields.concat()).into_bytes()
    })
}

/// Returns the number of bytes of text that a record carries.
fn texts(record: &ChildRecord) -> usize {
    match record {
        ChildRecord::MessageEnded(Message::Assistant(answer)) => {
            answer.parts.iter().map(part).sum()
        }
        _ => 0,
    }
}

fn part(part: &Part) -> usize {
    match part {
        Part::Text(text) | Part::Thinking(text) => text.len(),
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_line_of_anything_becomes_a_record_or_a_text(line in line()) {
        // Bytes that are no text become a sign of three bytes each.
        let most = 3 * line.len();
        if let ChildLine::Record(record) = decode(&line) {
            prop_assert!(texts(&record) <= most);
        }
        let _ = decode_update(&line);
    }

    #[test]
    fn the_beginning_of_a_line_never_says_the_opposite_of_the_whole(
        line in line(), cut in any::<Index>()
    ) {
        let beginning = &line[..cut.index(line.len() + 1)];
        let (first, whole) = (peek(beginning), peek(&line));
        prop_assert!(first == Peeked::Undecided || first == whole, "{first:?} then {whole:?}");
    }
}
