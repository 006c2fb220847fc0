//! OpenAI's chat completions, which most other servers have too.

mod reader;
mod request;

pub(super) use reader::Reader;
pub(super) use request::body;
