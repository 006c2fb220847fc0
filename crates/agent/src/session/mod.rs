//! Pi's session file, version 3: read tolerantly, written append-only.

mod claim;
mod log;
mod place;
mod record;

pub(crate) use claim::Claim;
pub(crate) use log::{SessionLog, SessionLogError};
pub(crate) use place::{Place, Places, beside};
pub(crate) use record::Recorded;

#[cfg(test)]
mod never_panics;
#[cfg(test)]
mod tests;
