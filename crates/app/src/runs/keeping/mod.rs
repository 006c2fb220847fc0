//! Keeping house: which runs may be removed, why others stay, and how they are removed. `clean` and
//! the retention of the settings go the same way. See `docs/design/keeping-house.md`.

pub(crate) mod choice;
pub(crate) mod plan;
pub(crate) mod retention;
pub(crate) mod sticky_files;
pub(crate) mod sweep;
pub(crate) mod why_kept;
