//! Background runs: each belongs to a detached process of our own binary, which outlives its
//! caller. See `docs/design/background.md`.
//!
//! The caller hands over an [`DetachedOrder`] and gets an answer when the detached process has taken over;
//! from then on the run is like any other, with the same lowering, engine and record.

mod call_record;
mod life;
mod limit;
mod on_end;
mod order;
mod start;
mod waited_call;
mod whole_call;

pub use call_record::{CallNews, CallRecord, KEPT};
pub use life::live;
pub(crate) use limit::{Place, background_counts, check_limit};
pub use on_end::run_alone;
pub use order::{AnsweredCall, BegunRun, DetachedOrder, OrderedTool};
pub use start::{reap, start};
pub use waited_call::{WaitedCall, WaitedReply};
