//! # The gateway
//!
//! The way out of a confined child's network. The child made a listener in its own network, and its
//! keeper accepts outside of it: no bridge between the networks, and no socket in a file. A program
//! inside uses it as an HTTP proxy, with a word that only this run knows. It leads to the host of the
//! model and to hosts that the user has listed, and nowhere else; what goes through is not looked at.

mod request_head;
mod rules;
mod service;

pub(crate) use rules::GatewayRules;
pub(crate) use service::{Gateway, Refusals};
