//! One file per command, or per few commands that are alike.

pub(crate) mod agent;
pub(crate) mod attach;
mod attach_starter;
mod call;
pub(crate) mod clean;
mod continued;
pub(crate) mod control;
pub(crate) mod delegate;
pub(crate) mod detached;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod host;
pub(crate) mod keeper;
pub(crate) mod manual;
pub(crate) mod mcp;
pub(crate) mod named_task;
pub(crate) mod output;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod spawn;
pub(crate) mod status;
pub(crate) mod tools;
pub(crate) mod tour;
pub(crate) mod trust;
pub(crate) mod wait;
pub(crate) mod warden;
mod words;
