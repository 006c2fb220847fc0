//! # The ground
//!
//! Everything that each door needs and no room above it owns: the places of the user (`places`),
//! the settings and definitions of a call (`configuration`), errors with hints (`error`, `exit`),
//! printing (`print`, `terminal`, `locale`, `bell`), signals, the log, and small edges to the system
//! (`random`, `runtime`, `sandbox_trial`, `token_file`). Only this crate and the doors read the environment.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]
#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

pub mod bell;
pub mod colour;
pub mod configuration;
pub mod error;
pub mod exit;
pub mod locale;
pub mod log;
pub mod own_commands;
pub mod places;
pub mod print;
pub mod random;
pub mod runtime;
pub mod sandbox_trial;
pub mod sheet;
pub mod signals;
pub mod terminal;
pub mod token_file;
