//! What a child may reach: how much it may write, and whom its tools may talk to.
//!
//! These are values and pure rules. The engine keeps what was decided, or does not
//! start the child.

mod confinement;
mod hidden;
mod host;
mod instruction;
mod level;
mod limits;
mod network;

pub use confinement::Confinement;
pub use hidden::hidden_paths;
pub use host::{BadHost, NetworkHost};
pub use level::SandboxLevel;
pub use limits::Sandbox;
pub use network::{BadReach, NetworkReach};
