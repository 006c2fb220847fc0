//! The formats on disk, and their mapping to the vocabulary.
//!
//! Every file names its format; a reader ignores fields it does not know, and a newer format than
//! its own is still read as far as it is understood. See `docs/design/record.md`.

mod child_session;
mod life;
mod meta;
mod result;
mod travelled;

pub(crate) use child_session::{MessageEntry, RecoveredMessage, ToldMessage};
pub(crate) use life::LifeRecord;
pub use life::recorded_line;
pub(crate) use meta::Meta;
pub(crate) use result::RunResult;
pub use travelled::Travelled;

/// The format this version writes.
pub(crate) const FORMAT: u32 = 1;
