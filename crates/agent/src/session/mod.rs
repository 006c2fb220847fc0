//! Pi's session file, version 3: read tolerantly, written append-only.

mod log;
mod record;

pub(crate) use log::{SessionLog, SessionLogError};
pub(crate) use record::Recorded;

#[cfg(test)]
mod tests;
