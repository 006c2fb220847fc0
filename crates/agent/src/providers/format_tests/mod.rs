//! Where a server may mislead us: one test for each trap.

mod completions;
mod google;
mod messages;
mod names;
mod played;
mod responses;
