//! The scripted LLM, asked over real connections.

mod client;
mod faults;
mod formats;
mod rules;
mod server_binary;
