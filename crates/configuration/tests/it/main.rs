//! Files on disk → what the catalogue makes of them.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod child_flags;
mod documents;
mod edits;
mod explanations;
mod foreign_files;
mod never_panics;
mod odd_files;
mod precedence;
mod sandbox;
mod security;
mod skills;
