//! # JSON schemas of reports: read within limits, offered to models, checked
//!
//! Nothing here opens a file or a connection, so a schema may come from anybody.
//!
//! - `schema` reads a schema and says what is wrong with it
//! - `misfit` checks a value and names what does not fit
//! - `model_schema` makes the form that a model is shown
//! - `references` bounds what a schema may refer to
//! - `effort` bounds the effort of checking a value
//! - `error` names what is wrong with a schema

mod effort;
mod error;
mod misfit;
mod model_schema;
mod references;
mod schema;

pub use error::SchemaError;
pub use misfit::Misfit;
pub use schema::{LARGEST_SCHEMA, OutputSchema};

#[cfg(test)]
mod never_panics;
