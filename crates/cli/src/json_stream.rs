//! Events as JSON lines on stdout, for programs that want to follow along.

use pi_subagents_records::recorded_line;
use pi_subagents_vocabulary::{EventSink, RunEvent, RunSummary, Task};
use serde::Serialize;
use serde_json::value::RawValue;

use pi_subagents_ground::print::Printer;

/// A sink that prints each recorded event with the run it belongs to.
pub(crate) struct JsonStream {
    printer: Printer<'static>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StreamedEvent<'a> {
    run_id: &'a str,
    session_id: &'a str,
    name: &'a str,
    /// The time at which it was seen, to the millisecond.
    at: String,
    /// The same text as in `events.jsonl`.
    event: &'a RawValue,
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
            run_id: task.run.as_str(),
            session_id: task.session.as_str(),
            name: &task.name,
            at: format!("{:.3}", event.at),
            event: raw,
        });
        if let Some(text) = streamed.and_then(|event| serde_json::to_string(&event).ok()) {
            self.printer.exact(&text);
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
