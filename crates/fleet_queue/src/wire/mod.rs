//! The messages between the machines of a fleet, as JSON. An order with a field that its reader
//! does not know is refused, because the field may change the work; entries and cards with such a
//! field are read without it.

mod card;
mod entry;
mod order;
mod record;
mod session;

pub use card::{Begin, CallerCard, RunCard, WorkerCard};
pub use entry::{
    Ended, LateChanges, LeftBy, Released, ResultName, RunEntry, Running, SeenEntry, StopWish,
    Unrecorded, Unsent, Wish,
};
pub use order::{
    Bundle, BundledSubmodule, Cloned, Conversation, Included, Order, OrderDefinition, OrderSkill,
    SentLargeFile, SentWorkspace, Shared, StickyConversation,
};
pub use record::RecordHeaders;
pub use session::{SavedSession, SessionEntry, SessionHolder};

/// The format of all messages. A reader that knows only older formats refuses newer orders.
pub const FORMAT: u32 = 2;
