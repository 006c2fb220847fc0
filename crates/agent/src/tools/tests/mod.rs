//! What the model sees when it calls a tool.

mod bash;
mod edit;
mod finalize;
mod read;
mod search;
