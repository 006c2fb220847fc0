//! Decides when the next frame, clock and look at the disk are due.

use std::time::{Duration, SystemTime};

use pi_subagents_vocabulary::Pacer;
use tokio::time::Instant;

/// No eye reads faster than this.
pub(super) const FRAME: Duration = Duration::from_millis(50);

/// The clocks show seconds.
pub(super) const CLOCK: Duration = Duration::from_secs(1);

/// The share of the time that reading the index may take: one part in this number.
const LOOKING_SHARE: u32 = 20;

/// The times at which the next frame, clock and look at the disk are due.
pub(super) struct Pace {
    pub(super) frames: Pacer,
    /// The time at which the last frame was drawn, for the clocks in it.
    pub(super) drawn_at: Option<Instant>,
    /// The time at which the index was last read, or from which on it may be read again.
    looked_at: Instant,
    pub(super) look_at_index: Option<Instant>,
    pub(super) look_at_records: Option<Instant>,
    /// The index as it was when it was last read.
    index_state: Option<IndexState>,
}

/// The length of the index, and the time of its last change.
pub(super) type IndexState = (u64, Option<SystemTime>);

impl Pace {
    pub(super) fn new() -> Self {
        Self {
            frames: first_frame(),
            drawn_at: None,
            looked_at: Instant::now(),
            look_at_index: Some(Instant::now()),
            look_at_records: None,
            index_state: None,
        }
    }

    /// Makes the next frame due at once.
    pub(super) fn begin_again(&mut self) {
        self.frames = first_frame();
        self.drawn_at = None;
    }

    /// Plans to read the index soon. An index of years is long, so reading it takes a bounded share
    /// of the time.
    pub(super) fn look_soon(&mut self) {
        let soon = Instant::now() + FRAME;
        let due = self.look_at_index.get_or_insert(soon);
        *due = (*due).max(self.looked_at);
    }

    /// Plans to read the index soon, even if it has not changed.
    pub(super) fn look_again(&mut self) {
        self.index_state = None;
        self.look_soon();
    }

    /// Begins to read the index; false if it is as it was when it was last read.
    pub(super) fn begin_looking(&mut self, state: Option<IndexState>) -> bool {
        if state.is_some() && state == self.index_state {
            return false;
        }
        self.index_state = state;
        self.looked_at = Instant::now();
        true
    }

    /// Notes that the index was read.
    pub(super) fn end_looking(&mut self) {
        let took = self.looked_at.elapsed();
        self.looked_at = Instant::now() + took * LOOKING_SHARE;
    }
}

/// Makes the pace of frames. The first frame is due at once.
fn first_frame() -> Pacer {
    let mut frames = Pacer::new(FRAME);
    frames.note_change();
    frames
}
