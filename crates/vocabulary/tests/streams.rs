//! Recorded and made-up streams of children: every line becomes a value, whatever it is.
#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

use std::fs;

use pi_subagents_vocabulary::child_protocol::{ChildLine, ChildRecord, decode};

/// Describes what each line of a stream is decoded to.
fn decoded(name: &str) -> String {
    let path = format!("{}/tests/streams/{name}", env!("CARGO_MANIFEST_DIR"));
    let stream = fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = Vec::new();
    for line in stream.lines() {
        let described = match decode(line.as_bytes()) {
            ChildLine::Record(ChildRecord::Delta) => "Delta".to_owned(),
            ChildLine::Record(ChildRecord::Repetition) => "Repetition".to_owned(),
            ChildLine::Record(record) => format!("{record:?}"),
            ChildLine::Text => format!("text: {line}"),
        };
        if lines.last() != Some(&described) {
            lines.push(described);
        }
    }
    lines.join("\n")
}

#[test]
fn a_run_of_the_real_pi_with_parallel_tools_a_retry_and_a_failure() {
    insta::assert_snapshot!(decoded("pi-0.87.1.jsonl"));
}

#[test]
fn wrong_types_cost_the_field_and_nothing_else() {
    insta::assert_snapshot!(decoded("wrong-types.jsonl"));
}
