//! `--mode rpc`: commands come in on stdin, answers and events go out on stdout.

mod command;
mod response;
mod server;
mod session;
mod state;

pub(crate) use server::serve;

#[cfg(test)]
mod tests;
