//! # The embedded agent
//!
//! A coding agent as a child process: pi's flags in, pi's records out. It needs no Node,
//! starts in milliseconds and is launched, supervised, recorded and shown like the real pi.
//!
//! The way of the data: [`run()`] reads the flags, the settings and the session, builds the system
//! prompt (`prompt`) and puts an agent together; `rpc` or `one_shot` hand it prompts; `turns` asks
//! the model (`providers`) and runs the tools that it calls (`tools`, and those of MCP `servers`). Every step is printed on
//! stdout (`event`, `output`) and kept in the conversation and its session file (`conversation`,
//! `session`). A conversation that has become too long is summarized (`compaction`). The reasons are
//! in `docs/design/embedded-agent.md`.
//!
//! Everything happens on one thread. Files are searched and written on threads of their
//! own, and so are stdin and stdout read and written, so nothing ever keeps an abort waiting.
//!
//! It differs from pi on purpose: processes that a shell command started end with the call; shell
//! commands see no provider keys; `grep` and `find` pass over `.git` and list in the order of
//! the paths; `edit` refuses files that are not UTF-8 and `read` what is not a regular file;
//! an unknown price leaves `cost` out; an aborted tool is followed by an answer with stop
//! reason `aborted`; a session has one writer; small models are given room by shortening more.

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

mod abort;
mod agent;
mod clock;
mod compaction;
mod conversation;
mod dialogs;
mod event;
mod flags;
mod handed_key;
mod inner_process;
mod input;
mod message;
mod model_access;
mod model_route;
mod models;
mod notices;
mod one_shot;
mod opened_session;
mod orphans;
mod output;
mod processes;
mod prompt;
mod providers;
mod queue;
mod rpc;
mod run;
#[cfg(test)]
mod run_tests;
mod sections;
mod servers;
mod session;
mod settings;
mod signals;
mod surroundings;
#[cfg(test)]
mod testing;
mod tokens;
mod tool_stop;
mod tools;
mod turns;
mod usage;

pub use model_route::{ModelRoute, RoutedAgent, check_plain_route, model_route};
pub use models::{
    AskedModel, CatalogueOrigin, DefaultModel, DefaultReason, FoundModel, KeyPlace, MeantBy,
    MeantModel, ModelCatalogue, ModelOverview, OfferedModel, OfferedPrice, OfferedProvider,
    SendingCost, UsableProvider, all_providers, catalogue_origin, is_everyday, local_model_servers,
    model_overview, offered_models, secret_variables,
};
pub use run::run;
pub use servers::{HandedServers, configured_address};
pub use surroundings::Surroundings;
