//! The formats on disk, and their mapping to the vocabulary.
//!
//! Every file names its format; a reader ignores fields it does not know, and a newer format than
//! its own is still read as far as it is understood. See `docs/design/record.md`.

mod child_session;
mod fleet_note;
mod life;
mod meta;
mod result;

pub(crate) use child_session::{MessageEntry, RecoveredMessage, ToldMessage};
pub use fleet_note::Travelled;
pub(crate) use life::LifeRecord;
pub use life::recorded_line;
pub(crate) use meta::Meta;
pub(crate) use result::RunResult;

/// The format this version writes.
pub(crate) const FORMAT: u32 = 1;
