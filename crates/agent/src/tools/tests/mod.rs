//! Tests the results that the model gets when it calls a tool.

mod bash;
mod edit;
mod finalize;
mod read;
mod search;
