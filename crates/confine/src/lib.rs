//! # Confining a child
//!
//! The keeper of a child with a sandbox does not start the child itself. It starts this binary again
//! with the hidden command `confine`, which closes the sandbox around its own process, says that it
//! is sealed, and becomes the child. Whatever fails on the way is said with its step, and nothing is
//! run.
//!
//! - `order.rs` and `step.rs` have the messages between the two.
//! - `plan.rs` turns the policy and the files of the machine into covers (`cover.rs`), with git's
//!   directories from `git_places.rs`. Nothing is closed yet.
//! - `confine.rs` takes the steps: `namespaces.rs`, `loopback_link.rs`, `mounts.rs`, `rights.rs`,
//!   `access_rules.rs` (Landlock), `system_calls.rs` (seccomp), `descriptors.rs`.
//! - `client.rs` is the side of the keeper.
//! - `trial.rs` finds out what this machine can do.
//! - `inner.rs` is the second layer, around the shell of a child.
//!
//! Everything here is of Linux. See `docs/design/sandbox.md` for what was tried and why it is so.

#![expect(
    clippy::disallowed_methods,
    reason = "this process becomes another program: it has no app around it, and reads files of the kernel"
)]

mod access_rules;
mod client;
mod confine;
mod cover;
mod descriptors;
mod environment;
mod git_places;
mod inner;
mod inner_policy;
mod loopback_link;
mod mount_table;
mod mounts;
mod namespaces;
mod order;
mod plan;
mod rights;
mod step;
mod system_calls;
mod trial;

pub use client::{ConfinedChild, NotStarted, start_confined};
pub use confine::{FAULT_VARIABLE, confine};
pub use environment::SANDBOX_VARIABLE;
pub use inner::confine_inner;
pub use inner_policy::{INNER_VARIABLE, InnerPolicy};
pub use order::{ConfineAnswer, ConfineOrder, Seal};
pub use step::{ConfineFailure, ConfineStep};
pub use trial::{SandboxTrial, try_sandbox, try_sandbox_once};
