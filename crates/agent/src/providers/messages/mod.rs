//! Anthropic's messages.

mod claude;
mod reader;
mod request;

pub(super) use claude::Claude;
pub(super) use reader::Reader;
pub(super) use request::body;
