//! The testkit, tested through its own doors.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "clippy knows only functions with #[test] as tests"
)]

mod llm;
mod misbehave;
mod process;
mod sandbox;
