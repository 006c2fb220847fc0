//! The second, inner layer: what the shell of a child may do less than the child itself.

use serde::{Deserialize, Serialize};

/// The variable that holds the policy of the inner layer as JSON. Everybody inside may read it; a
/// process that changes it for its own children can only lose something.
pub const INNER_VARIABLE: &str = "PI_SUBAGENTS_SANDBOX_INNER";

/// The policy of the inner layer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InnerPolicy {
    /// The level and the network, as people read them.
    pub shown: String,
    /// True if the gateway is for the child alone: its shell gets no address and no token.
    pub closes_gateway: bool,
    /// True if there is no network namespace, so that the shell must be refused the network.
    pub closes_network: bool,
}
