//! Events of a made-up call, written as the lines its children would print.

use std::collections::HashMap;
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pi_subagents_view::{PreviewContext, Wall};
use pi_subagents_vocabulary::child_protocol::{ChildLine, decode};
use pi_subagents_vocabulary::{
    Ending, Happening, ModelChoice, RunEvent, RunId, RunSummary, Runner, SessionId, Started, Task,
    ThinkingLevel, Timestamp, UsedDefinition,
};

/// The moment of a second after the call began.
pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_794_000_000 + second).unwrap()
}

pub(crate) fn context() -> PreviewContext {
    PreviewContext {
        home: Some(PathBuf::from("/home/ada")),
        cwd: PathBuf::from("/home/ada/engine"),
        width: 100,
    }
}

pub(crate) fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

pub(crate) fn task(name: &str) -> Task {
    let number: u64 = name.bytes().map(u64::from).sum();
    Task {
        timeout: Some(Duration::from_mins(10)),
        ..Task::new(
            run(name),
            SessionId::new(0xa3f7_0000_0000_0000 + number),
            name,
            "Look around.",
            PathBuf::from("/home/ada/engine"),
        )
    }
}

/// The events of a call, second by second.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) events: Vec<RunEvent>,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn happened(mut self, second: i64, name: &str, happening: Happening) -> Self {
        self.events.push(RunEvent {
            run: run(name),
            at: at(second),
            happening,
        });
        self
    }

    pub(crate) fn accepted(self, second: i64, task: Task) -> Self {
        let name = task.run.as_str().to_owned();
        self.happened(second, &name, Happening::Accepted(Arc::new(task)))
    }

    pub(crate) fn started(self, second: i64, name: &str) -> Self {
        let started = Started {
            runner: Runner::Embedded,
            child: 7,
            keeper: 6,
        };
        self.happened(second, name, Happening::Started(started))
    }

    /// The child prints a line.
    pub(crate) fn printed(self, second: i64, name: &str, line: &str) -> Self {
        let bytes = Bytes::copy_from_slice(line.as_bytes());
        let happening = match decode(&bytes) {
            ChildLine::Record(record) => Happening::Said {
                line: bytes,
                record,
            },
            ChildLine::Text => Happening::Printed(bytes),
        };
        self.happened(second, name, happening)
    }

    /// The child's model says something.
    pub(crate) fn answered_text(self, second: i64, name: &str, words: &str) -> Self {
        let text = serde_json::json!([{"type": "text", "text": words}]);
        self.answered(second, name, &text)
    }

    /// The child's model calls a tool.
    pub(crate) fn called(
        self,
        second: i64,
        name: &str,
        tool: &str,
        arguments: &serde_json::Value,
    ) -> Self {
        let call = serde_json::json!([
            {"type": "toolCall", "id": format!("call-{second}"), "name": tool, "arguments": arguments}
        ]);
        self.answered(second, name, &call)
    }

    /// A tool answers the call of a second.
    pub(crate) fn resulted(self, call: i64, name: &str, tool: &str, result: &str) -> Self {
        let line = serde_json::json!({"type": "message_end", "message": {
            "role": "toolResult", "toolCallId": format!("call-{call}"), "toolName": tool,
            "content": [{"type": "text", "text": result}], "isError": false,
        }});
        self.printed(call, name, &line.to_string())
    }

    pub(crate) fn ended(self, second: i64, name: &str, ending: Ending) -> Self {
        self.happened(second, name, Happening::Ended(ending))
    }

    pub(crate) fn wall(&self) -> Wall {
        let mut wall = Wall::new(context());
        self.play(|events, summary| wall.apply(events, summary));
        wall
    }

    /// Hands the events on one by one, each with the summary of its run, as an engine does.
    pub(crate) fn play(&self, each: impl FnMut(&[RunEvent], &RunSummary)) {
        self.play_after(&Self::new(), each);
    }

    /// Does the same after the events of an earlier script, which were handed on before.
    pub(crate) fn play_after(
        &self,
        earlier: &Self,
        mut each: impl FnMut(&[RunEvent], &RunSummary),
    ) {
        let mut summaries: HashMap<&RunId, RunSummary> = HashMap::new();
        for event in &earlier.events {
            summaries.entry(&event.run).or_default().apply(event);
        }
        for event in &self.events {
            let summary = summaries.entry(&event.run).or_default();
            summary.apply(event);
            each(slice::from_ref(event), summary);
        }
    }

    fn answered(self, second: i64, name: &str, content: &serde_json::Value) -> Self {
        let line = serde_json::json!({"type": "message_end", "message": {
            "role": "assistant", "provider": "scripted", "model": "tour", "content": content,
            "stopReason": "stop",
        }});
        self.printed(second, name, &line.to_string())
    }
}

/// A definition of this name.
pub(crate) fn used(name: &str) -> UsedDefinition {
    UsedDefinition {
        name: name.to_owned(),
        summary: String::new(),
        model: ModelChoice::Named {
            provider: None,
            model: Some("sonnet".to_owned()),
            thinking: Some(ThinkingLevel::High),
        },
        file: None,
    }
}

/// Returns two runs at work, one run that waits, one that failed and one that is done.
pub(crate) fn busy_call() -> Script {
    let reviewer = Task {
        definition: Some(used("reviewer")),
        ..task("review")
    };
    let untimed = Task {
        timeout: None,
        ..task("tests")
    };
    Script::new()
        .accepted(0, reviewer)
        .accepted(0, untimed)
        .accepted(0, task("docs"))
        .accepted(0, task("types"))
        .accepted(0, task("later"))
        .started(0, "review")
        .started(0, "tests")
        .started(1, "docs")
        .printed(1, "review", SYSTEM)
        .printed(2, "review", r#"{"type":"message_end","message":{"role":"user","content":"Look around."}}"#)
        .printed(2, "review", ANSWER)
        .resulted(3, "review", "ls", "Cargo.toml\nREADME.md\nsrc/\n")
        .called(4, "review", "bash", &serde_json::json!({"command": "cd /home/ada/engine && cargo test"}))
        .happened(5, "review", Happening::Complained("\u{1b}[33mwarning\u{1b}[0m: unused".to_owned()))
        .printed(5, "tests", r#"{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"429 Too Many Requests"}"#)
        .happened(6, "tests", Happening::Corrected("You have not reported yet.".to_owned()))
        .happened(7, "tests", Happening::Steered("Only the unit tests.".to_owned()))
        .happened(7, "tests", Happening::Warned("model \"toor\" is not known".to_owned()))
        .printed(7, "tests", "npm notice: plain text on stdout")
        .answered_text(8, "docs", "The manual has three pages.")
        .ended(9, "docs", Ending::Completed)
        .ended(9, "types", Ending::Refused { message: "cwd must be an absolute path".to_owned() })
}

const SYSTEM: &str = r#"{"type":"message_end","message":{"role":"system","content":"","sections":{"cwd":"/"},"toolsAdded":[{"name":"read"},{"name":"bash"},{"name":"edit"},{"name":"write"}]}}"#;

const ANSWER: &str = r#"{"type":"message_end","message":{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","stopReason":"toolUse","content":[{"type":"thinking","thinking":"never shown"},{"type":"text","text":"I will look around.\n\nFirst the files:\n"},{"type":"toolCall","id":"call-3","name":"ls","arguments":{}},{"type":"toolCall","id":"call-x","name":"read","arguments":{"path":"/home/ada/engine/src/lib.rs","offset":10,"limit":40}},{"type":"toolCall","id":"call-y","name":"edit","arguments":{"path":"src/lib.rs","edits":[{"oldText":"a\n\nb","newText":"c\nd\ne"}]}}]}}"#;
