//! Windows as people see them: whole views, whole logs, whole screens.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "what is missing in a test fails it"
)]

mod emulator;
mod hands;
mod hostile;
mod live;
mod partial_messages;
mod previews;
mod progress;
mod screens;
mod script;
mod todos;
mod views;
