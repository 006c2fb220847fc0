//! OpenAI's responses.

mod reader;
mod request;

pub(super) use reader::Reader;
pub(super) use request::body;
