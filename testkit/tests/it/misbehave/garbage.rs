//! Steps that print what is no record.

use std::io::Read;

use pi_subagents_testkit::sandbox::Sandbox;
use serde_json::{Value, json};

use super::stage::{misbehave, play, prompt};

const ACCEPTED: &str =
    "{\"id\":\"prompt\",\"type\":\"response\",\"command\":\"prompt\",\"success\":true}\n";

#[track_caller]
fn printed(script: &Value) -> String {
    let stdout = play(script).stdout;
    stdout.strip_prefix(ACCEPTED).unwrap().to_owned()
}

#[test]
fn text_is_printed_as_it_is() {
    let script = json!([{"print": "a\nb"}, {"halfLine": " c"}, {"null": true}]);
    assert_eq!(printed(&script), "a\nb cnull\n");
}

#[test]
fn stderr_is_written() {
    assert_eq!(play(&json!([{"stderr": "oh\n"}])).stderr, "oh\n");
}

#[test]
fn bytes_need_not_be_text() {
    assert_eq!(
        printed(&json!([{"bytes": [255, 254, 10]}])),
        "\u{fffd}\u{fffd}\n"
    );
}

#[test]
fn a_character_is_cut_in_two() {
    let sandbox = Sandbox::new();
    let mut child = misbehave(&sandbox).std_command().spawn().unwrap();
    std::io::Write::write_all(
        &mut child.stdin.take().unwrap(),
        (prompt(&json!([{"splitChar": "é"}])) + "\n").as_bytes(),
    )
    .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    let mut cuts = Vec::new();
    while let Ok(count @ 1..) = stdout.read(&mut chunk) {
        bytes.extend_from_slice(&chunk[..count]);
        cuts.push(bytes.len());
    }
    child.wait().unwrap();
    let inside = bytes.iter().position(|byte| *byte == 0xc3).unwrap() + 1;
    assert!(cuts.contains(&inside), "{cuts:?} {inside}");
    assert!(String::from_utf8(bytes).unwrap().contains("split: é"));
}

#[test]
fn wrong_types_are_valid_json() {
    let lines = play(&json!([{"wrongTypes": true}])).json_lines();
    assert_eq!(lines[1], json!({"type": "message_end", "message": 7}));
    assert_eq!(lines.len(), 23);
}
