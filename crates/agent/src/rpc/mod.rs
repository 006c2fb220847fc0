//! `--mode rpc`: commands come in on stdin, answers and events go out on stdout.

mod answers;
mod command;
mod other_session;
mod response;
mod server;

pub(crate) use server::serve;

#[cfg(test)]
mod tests;
