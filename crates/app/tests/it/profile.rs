//! `profile`: definitions from the command line.

pub(crate) mod terminal;
mod wizard;
