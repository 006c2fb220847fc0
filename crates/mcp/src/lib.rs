//! # The Model Context Protocol
//!
//! Serves tools over stdin and stdout, or over HTTP on this machine, and knows nothing of them but
//! [`Tools`]. All of the protocol's library is in here: it changes often and compiles long.
//!
//! A call ends early when its client cancels it, or when stdin ends; [`Call::cancelled`] then
//! becomes ready, and the call is waited for. [`serve`] returns when no call is under way any more.
//! A call that may take long is a task for a client that knows the tasks extension.

mod asking;
mod calls;
mod door;
mod http;
mod listing;
mod offering;
mod progress;
mod roots;
mod serve;
mod tasks;
mod tools;
mod watched_input;

pub use http::{HttpError, HttpServer, Token};
pub use progress::{OnProgress, Progress};
pub use serve::{ServeError, serve};
pub use tools::{
    Call, CallAnswer, Cancelled, Introduction, Question, ResourceDescription,
    ResourceTemplateDescription, ToolDescription, ToolEffect, Tools,
};
