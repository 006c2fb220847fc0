//! The doors through which the engine is reached. They do not know each other, but for the command
//! line, by whose commands the processes of the others begin.

pub(crate) mod command_line;
pub(crate) mod library;
pub(crate) mod mcp;
pub(crate) mod pi;
pub(crate) mod web;
