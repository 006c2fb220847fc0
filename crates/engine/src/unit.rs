//! One sub-agent that runs, and its reports of events to the dispatcher.

use std::sync::Arc;

use bytes::Bytes;
use pi_subagents_vocabulary::child_protocol::{ChildRecord, ResponseData};
use pi_subagents_vocabulary::{Happening, Task, TaskPlan, Timestamp};
use tokio::sync::mpsc;

use crate::child::LineMemory;
use crate::clock::RunClock;
use crate::head_start::HeadStart;
use crate::launcher::Launcher;
use crate::machine_room::MachineRoom;
use crate::partial_feed::PartialFeed;
use crate::purse::Purse;
use crate::request::{UnitEvent, UnitEvents, UnitRequest};
use crate::room::Room;

/// Larger records are not sent on in decoded form.
const LARGE_RECORD: usize = 256 << 10;

/// The largest number of events in one batch. Batches keep the steps few for a child that prints
/// much.
const EVENTS_AT_ONCE: usize = 128;

/// One sub-agent that is about to run.
pub(crate) struct Unit {
    pub(crate) task: Arc<Task>,
    pub(crate) plan: Box<TaskPlan>,
    /// Its first child, if that was started before its turn.
    pub(crate) head_start: Option<HeadStart>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) memory: LineMemory,
    pub(crate) room: Arc<Room>,
    /// The room of the machine, which all owners share.
    pub(crate) machine: Arc<MachineRoom>,
    /// Its part of its budgets, once it has one.
    pub(crate) purse: Option<Purse>,
    pub(crate) partial: PartialFeed,
    pub(crate) clock: RunClock,
    pub(crate) events: mpsc::Sender<UnitEvents>,
    /// Events that are not sent yet. A unit sends all of them before it waits for anything.
    pub(crate) unsent: Vec<(Timestamp, UnitEvent)>,
    pub(crate) requests: mpsc::UnboundedReceiver<UnitRequest>,
}

impl Unit {
    pub(crate) async fn report(&mut self, happening: Happening) {
        self.add(UnitEvent::Happened(happening)).await;
    }

    pub(crate) async fn report_record(&mut self, line: Bytes, record: ChildRecord) {
        if !is_worth_reporting(&record) {
            return;
        }
        if line.len() <= LARGE_RECORD {
            self.report(Happening::Said { line, record }).await;
        } else {
            drop(record);
            self.add(UnitEvent::LargeRecord(line)).await;
        }
    }

    async fn add(&mut self, event: UnitEvent) {
        self.unsent.push((self.clock.now(), event));
        if self.unsent.len() >= EVENTS_AT_ONCE {
            self.send_events().await;
        }
    }

    /// Sends the events to the dispatcher; waits while that is busy.
    pub(crate) async fn send_events(&mut self) {
        if self.unsent.is_empty() {
            return;
        }
        let run = self.task.run.clone();
        let what = std::mem::take(&mut self.unsent);
        // The dispatcher outlives its units; if it does not, nobody takes the events.
        _ = self.events.send(UnitEvents { run, what }).await;
    }
}

/// Returns whether sinks get a record: updates and repetitions are left out, and so is a list of
/// all models.
fn is_worth_reporting(record: &ChildRecord) -> bool {
    match record {
        ChildRecord::Delta | ChildRecord::Repetition => false,
        ChildRecord::Responded(response) => !matches!(response.data, ResponseData::Models(_)),
        _ => true,
    }
}
