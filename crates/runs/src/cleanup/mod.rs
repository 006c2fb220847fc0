//! Keeping house: which runs may be removed, why others stay, and how they are removed. `clean` and
//! the retention of the settings go the same way. See `docs/design/keeping-house.md`.

pub mod choice;
pub mod keep_reason;
pub mod plan;
pub mod retention;
pub mod sticky_files;
pub mod sweep;
