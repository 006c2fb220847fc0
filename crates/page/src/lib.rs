//! # The web page
//!
//! Serves the page on which a person watches, reads, steers and stops runs, and the JSON that the
//! page asks for. The crate knows nothing of runs but [`Runs`]: questions in, JSON out.
//!
//! In reading order: [`PageServer`] listens on this machine only; `admission` decides which
//! requests are answered at all; `routes` turns requests into [`Question`]s and [`Wish`]es; `live`
//! is the one stream of a tab; `assets` are the parts of the page, `bundle` makes one script of its
//! modules, and `files` are served; [`export_file`] puts the same and some runs into one HTML file;
//! [`markdown`] turns the text of a model into a tree that the page draws without HTML. See
//! `docs/design/web.md`.

mod admission;
mod assets;
mod bundle;
mod export;
mod files;
mod live;
mod markdown;
mod query;
mod routes;
mod runs;
mod server;
mod token;

pub use export::export_file;
pub use markdown::markdown;
pub use runs::{Answering, Problem, Question, Runs, View, Wish};
pub use server::{PageError, PageServer};
pub use token::{Power, Token, Tokens};
