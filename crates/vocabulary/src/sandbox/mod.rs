//! The sandbox of a run: how much its child may write, what it must not read, and whom its tools may
//! reach. These are values and pure rules; the engine keeps what was decided, or starts nothing.
//!
//! [`decide_sandbox`] decides between the wishes of settings, definitions, flags, tasks and earlier
//! runs.

mod confinement;
mod decision;
mod hidden;
mod host;
mod instruction;
mod level;
mod limits;
mod network;
mod refused_command;
mod rules;
mod wish;

pub use confinement::Confinement;
pub use decision::{DecidedSandbox, NetworkNeedsSandbox, decide_sandbox};
pub use hidden::{HIDDEN_IN_AGENT_DIR, HIDDEN_IN_HOME, hidden_paths, is_for_us_alone};
pub use host::{BadHost, NetworkHost};
pub use level::SandboxLevel;
pub use limits::Sandbox;
pub use network::{BadReach, NetworkReach};
pub use refused_command::{REFUSAL_WORDS, refusal_hint};
pub(crate) use rules::{check_hosts, check_paths, check_reach};
pub use wish::{SandboxWish, WishSource};
