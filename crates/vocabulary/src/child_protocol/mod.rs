//! The protocol of children: pi's RPC records, one JSON object per LF-ended line, both ways.
//!
//! [`peek`] finds the kind of a line from its first bytes, so that most bytes of a stream are never
//! parsed; [`decode`] reads the rest once; [`decode_update`] reads a message that is still being
//! written, for readers who follow it; [`Command`] is a line that we send.

mod command;
mod decode;
mod fields;
mod message;
mod peek;
mod record;
mod surrogates;
mod update;

pub use command::Command;
pub use decode::decode;
pub use peek::{Peeked, peek};
pub use record::{ChildLine, ChildRecord, Dialog, ModelName, Response, ResponseData};
pub use update::{MessageUpdate, decode_update};
