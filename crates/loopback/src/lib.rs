//! # HTTP on this machine
//!
//! The page and the MCP server over HTTP listen on this machine only. Every user of the machine can
//! open connections to them all the same, and only the owner has a [`Token`]. So a connection that
//! has not shown the token gets little: [`serve`] bounds the time that it may take for the head of a
//! request, and the number of such connections. A connection that has shown it is not bounded.
//!
//! In reading order: [`Token`] is compared; [`Connection`] is what a handler admits; `strangers`
//! counts the connections that were not admitted; [`serve`] accepts them.

mod connection;
mod serve;
mod strangers;
mod token;

pub use connection::Connection;
pub use serve::serve;
pub use token::{Token, bearer};
