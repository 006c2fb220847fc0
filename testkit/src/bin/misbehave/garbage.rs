//! Output that a careless reader chokes on.

use std::thread;
use std::time::Duration;

use crate::output;
use crate::record::{Message, Record};

/// Prints one record in two writes, cut inside `character`.
pub(crate) fn split_char(character: &str) {
    let text = format!("split: {character}");
    let line = output::json(&Record::MessageEnd {
        message: &Message::text(&text),
    });
    let cut = line.find(character).unwrap_or(0) + 1;
    output::raw(&line.as_bytes()[..cut]);
    // Long enough that a reader gets the two halves in two reads.
    thread::sleep(Duration::from_millis(50));
    output::raw(&line.as_bytes()[cut..]);
    output::raw(b"\n");
}

/// Prints records of known types with wrong types in every field, and JSON that is no record.
pub(crate) fn wrong_types() {
    for line in [
        r#"{"type":"message_end","message":7}"#,
        r#"{"type":"message_end","message":null}"#,
        r#"{"type":"message_end","message":{"role":"assistant","content":null,"usage":"much","stopReason":9}}"#,
        r#"{"type":"message_end","message":{"role":5,"content":"text"}}"#,
        r#"{"type":"message_end","message":{"role":"assistant","content":[5,null,{"type":"text","text":1},{"type":"toolCall","id":1,"name":2,"arguments":3}],"usage":{"input":"a","output":-1,"cost":[]},"stopReason":"stop"}}"#,
        r#"{"type":"message_start"}"#,
        r#"{"type":"message_update","assistantMessageEvent":[]}"#,
        r#"{"type":"tool_execution_start","toolCallId":null,"toolName":5,"args":"none"}"#,
        r#"{"type":"tool_execution_update","toolCallId":{},"toolName":[],"partialResult":1}"#,
        r#"{"type":"tool_execution_end","toolCallId":1,"toolName":5,"result":"text","isError":"no"}"#,
        r#"{"type":"turn_end","message":[],"toolResults":{}}"#,
        r#"{"type":"agent_end","messages":4,"willRetry":"maybe"}"#,
        r#"{"type":"response","id":{},"command":7,"success":"yes"}"#,
        r#"{"type":"extension_ui_request","id":3,"method":null}"#,
        r#"{"type":12}"#,
        r#"{"type":null}"#,
        "{}",
        "[]",
        r#"[{"type":"agent_settled"}]"#,
        r#""agent_settled""#,
        "3.5",
        "true",
    ] {
        output::line(line);
    }
}
