//! Tests for answers with which a server may mislead the agent: one for each trap.

mod completions;
mod google;
mod messages;
mod names;
mod responses;
mod stream_player;
