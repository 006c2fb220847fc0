//! Events as JSON lines on stdout, for programs that want to follow along.

use pi_subagents_records::recorded_line;
use pi_subagents_vocabulary::{
    EventSink, RunEvent, RunId, RunSummary, SessionId, Task, Timestamp, moment,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use pi_subagents_ground::print::{Envelope, EnvelopeKind, Printer};

/// A sink that prints each recorded event with the run it belongs to.
pub(crate) struct JsonStream {
    printer: Printer<'static>,
}

/// A line of `--json-stream` before the last one.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StreamedEvent<'a> {
    run_id: &'a RunId,
    session_id: &'a SessionId,
    /// The name of the task.
    name: &'a str,
    /// The time at which the event was seen.
    #[serde(with = "moment")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    at: Timestamp,
    /// The event, as it stands in `events.jsonl`.
    #[schemars(with = "StreamedRecord")]
    event: &'a RawValue,
}

/// An event: a record of ours, whose type begins with `run_`, or a record of the sub-agent.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct StreamedRecord {
    /// The kind of event.
    #[schemars(rename = "type")]
    kind: String,
}

impl JsonStream {
    pub(crate) fn new(printer: Printer<'static>) -> Self {
        Self { printer }
    }

    fn print(&self, task: &Task, event: &RunEvent) {
        let line = recorded_line(event);
        let raw = line
            .as_deref()
            .and_then(|line| serde_json::from_slice::<&RawValue>(line).ok());
        let streamed = raw.map(|raw| StreamedEvent {
            run_id: &task.run,
            session_id: &task.session,
            name: &task.name,
            at: event.at,
            event: raw,
        });
        if let Some(event) = streamed {
            self.printer
                .envelope(&Envelope::new(EnvelopeKind::Event, event));
        }
    }
}

impl EventSink for JsonStream {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        let Some(task) = &summary.task else {
            return;
        };
        for event in events {
            self.print(task, event);
        }
    }
}
