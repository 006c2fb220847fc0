//! Reads from the events of a run the parts that tests compare.

use std::path::Path;

use serde_json::Value;

/// Returns the complete messages of one role.
pub(crate) fn messages_of<'a>(role: &str, events: &'a [Value]) -> Vec<&'a Value> {
    let ends = events.iter().filter(|event| event["type"] == "message_end");
    ends.map(|event| &event["message"])
        .filter(|message| message["role"] == role)
        .collect()
}

/// Returns the last event of a type.
pub(crate) fn last<'a>(kind: &str, events: &'a [Value]) -> &'a Value {
    events
        .iter()
        .rfind(|event| event["type"] == kind)
        .unwrap_or_else(|| panic!("no event {kind} in:\n{}", outline(events)))
}

/// Shows the events in one line each: type, role, tool and the other fields that tell them apart.
///
/// Lines that follow from their neighbours are left out: the two ends of a message are one line,
/// `streamed` if it came in pieces, and a turn that ends with the answer above it repeats nothing.
pub(crate) fn outline(events: &[Value]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut answer = &Value::Null;
    for event in events {
        match event["type"].as_str().unwrap() {
            "message_update" => {}
            "message_end" => {
                if event["message"]["role"] == "assistant" {
                    answer = &event["message"];
                }
                end_message(&mut lines, &line_of(event));
            }
            "turn_end" if event["message"] == *answer => lines.push("turn_end".to_owned()),
            _ => lines.push(line_of(event)),
        }
    }
    lines.join("\n")
}

/// Puts the end of a message in the place of its beginning.
fn end_message(lines: &mut Vec<String>, line: &str) {
    let ended = line.strip_prefix("message_end").unwrap();
    let started = lines
        .last()
        .and_then(|last| last.strip_prefix("message_start"));
    let name = match started {
        Some(started) if started == ended => "message",
        Some(" role=\"assistant\" stopReason=\"pending\"") => "streamed",
        Some(_) | None => return lines.push(line.to_owned()),
    };
    lines.pop();
    lines.push(format!("{name}{ended}"));
}

/// The pointers to the fields that tell events apart.
const TELLING: [&str; 20] = [
    "/message/role",
    "/message/stopReason",
    "/message/errorMessage",
    "/message/toolCallId",
    "/message/isError",
    "/toolCallId",
    "/isError",
    "/willRetry",
    "/attempt",
    "/delayMs",
    "/errorMessage",
    "/success",
    "/finalError",
    "/entry/type",
    "/steering",
    "/followUp",
    "/result/summary",
    "/result/tokensBefore",
    "/message/content/0/text",
    "/result/content/0/text",
];

fn line_of(event: &Value) -> String {
    let mut line = event["type"].as_str().unwrap().to_owned();
    for place in TELLING {
        let Some(value) = event.pointer(place) else {
            continue;
        };
        match place.rsplit('/').next().unwrap() {
            "text" => line.extend([" ", &value.to_string()]),
            name => line.extend([" ", name, "=", &value.to_string()]),
        }
    }
    line
}

/// Replaces the parts that differ between runs.
pub(crate) fn normalized(text: &str, root: &Path) -> String {
    let root = root.display().to_string();
    text.replace(root.trim_end_matches('/'), "ROOT")
}
