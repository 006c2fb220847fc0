//! Pi's session file, version 3: read tolerantly, written append-only.

mod claim;
mod log;
mod place;
mod record;

pub(crate) use claim::{Claim, ClaimError};
pub(crate) use log::{SessionLog, SessionLogError};
pub(crate) use place::{NoSuchSession, SessionFile, SessionPlaces};
pub(crate) use record::{Recorded, SessionError};

#[cfg(test)]
mod never_panics;
#[cfg(test)]
mod tests;
