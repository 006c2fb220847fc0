//! # Testkit
//!
//! Real parts for the tests of the workspace, so that nothing has to be mocked:
//!
//! - [`sandbox`]: a home, an agent directory and a project of a test's own, and commands that run
//!   in it with a cleared environment and normalised output;
//! - [`llm`]: an HTTP server that plays a scripted LLM in four wire formats;
//! - [`fleet`]: real NATS servers, alone or three as a cluster, and a proxy that breaks the way to
//!   them;
//! - [`agent_files`]: agent files of other tools, in every form that they have;
//! - [`process`]: what `/proc` knows about processes;
//! - [`Chance`]: numbers at random that a seed repeats;
//! - the binaries `misbehave` (a child that speaks pi's RPC protocol and misbehaves by script),
//!   `llm-server` (the scripted LLM for use by hand), and `acp-agent` (an agent of others that speaks
//!   the Agent Client Protocol and misbehaves by script), found by [`bin`].
//!
//! Every function panics when it cannot do its work: there is no test without its parts.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::expect_used,
    reason = "a test whose parts fail has nothing better to do than to say so"
)]

pub mod agent_files;
mod binary;
mod chance;
pub mod fleet;
pub mod llm;
pub mod process;
mod program_file;
pub mod sandbox;
mod wait;

pub use binary::bin;
pub use chance::Chance;
pub use rustix::process::Signal;

/// A script that makes a repository with thousands of files and tests of its own.
pub const REVIEW_PROJECT: &str = include_str!("review_project.sh");
pub use wait::{wait_for_file, wait_until};
