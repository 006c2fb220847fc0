//! The record of a run, from the machine that writes it to those that read it: bytes of growing
//! files, each with its place.
//!
//! The worker's [`RecordSender`] looks at the files of a run directory and publishes the new bytes.
//! A [`RecordReader`] on another machine gets these chunks, and [`chunk_fit`] decides which of
//! their bytes are new there. Chunks may come twice or again from an earlier place; they are never
//! taken twice.

mod chunk;
mod chunk_fit;
mod files;
mod reader;
mod sender;

pub use chunk::RecordChunk;
pub use chunk_fit::{ChunkFit, chunk_fit};
pub use files::{MOST_FILES, record_lengths, travels};
pub use reader::RecordReader;
pub use sender::{RecordSender, SendError};
