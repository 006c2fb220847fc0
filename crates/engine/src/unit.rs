//! One sub-agent that runs: what it needs, and how it reports what happens to the dispatcher.

use std::sync::Arc;

use bytes::Bytes;
use pi_subagents_delegation::child_protocol::{ChildRecord, ResponseData};
use pi_subagents_delegation::{Happening, Task, TaskPlan, Timestamp};
use tokio::sync::mpsc;

use crate::child::LineMemory;
use crate::clock;
use crate::launcher::Launcher;
use crate::partial_feed::PartialFeed;
use crate::request::{UnitEvents, UnitRequest, UnitSaid};
use crate::room::Room;

/// Larger records are not sent on in decoded form.
const LARGE_RECORD: usize = 256 << 10;

/// How many events are told at once at most: a child that says much is followed in few steps.
const EVENTS_AT_ONCE: usize = 128;

/// One sub-agent that is about to run.
pub(crate) struct Unit {
    pub(crate) task: Arc<Task>,
    pub(crate) plan: Box<TaskPlan>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) memory: LineMemory,
    pub(crate) room: Arc<Room>,
    pub(crate) partial: PartialFeed,
    pub(crate) events: mpsc::Sender<UnitEvents>,
    /// What has happened and is not told yet; a unit that waits for anything has told all.
    pub(crate) untold: Vec<(Timestamp, UnitSaid)>,
    pub(crate) requests: mpsc::UnboundedReceiver<UnitRequest>,
}

impl Unit {
    pub(crate) async fn tell(&mut self, happening: Happening) {
        self.add(UnitSaid::Happened(happening)).await;
    }

    pub(crate) async fn tell_record(&mut self, line: Bytes, record: ChildRecord) {
        if !is_worth_telling(&record) {
            return;
        }
        if line.len() <= LARGE_RECORD {
            self.tell(Happening::Said { line, record }).await;
        } else {
            drop(record);
            self.add(UnitSaid::LargeRecord(line)).await;
        }
    }

    async fn add(&mut self, said: UnitSaid) {
        self.untold.push((clock::now(), said));
        if self.untold.len() >= EVENTS_AT_ONCE {
            self.tell_all().await;
        }
    }

    /// Hands what has happened to the dispatcher; waits while that has enough to do.
    pub(crate) async fn tell_all(&mut self) {
        if self.untold.is_empty() {
            return;
        }
        let run = self.task.run.clone();
        let what = std::mem::take(&mut self.untold);
        // The dispatcher outlives its units; if it does not, there is nobody left to tell.
        _ = self.events.send(UnitEvents { run, what }).await;
    }
}

/// Pieces and repetitions are not told, and neither is a list of all models there are.
fn is_worth_telling(record: &ChildRecord) -> bool {
    match record {
        ChildRecord::Delta | ChildRecord::Repetition => false,
        ChildRecord::Responded(response) => !matches!(response.data, ResponseData::Models(_)),
        _ => true,
    }
}
