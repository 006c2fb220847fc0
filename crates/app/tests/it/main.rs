//! The binary as its users know it: real processes, a hermetic home, children that misbehave.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod agent_faults;
mod agent_formats;
mod agent_keys;
mod agent_pi;
mod agent_sessions;
mod agent_shell;
mod agent_stage;
mod answers;
mod attach;
mod attach_runs;
mod attach_shell;
mod attach_tmux;
mod background;
mod background_crowd;
mod background_host;
mod background_pi;
mod background_stage;
mod bad_server;
mod bad_servers;
mod broken_pi;
mod clean;
mod completion;
mod concurrency;
mod control;
mod conversations;
mod definitions;
mod doctor;
mod endings;
mod error_reference;
mod errors_in_models;
mod errors_in_names;
mod errors_in_settings;
mod faults;
mod finalization;
mod first_contact;
#[cfg(feature = "fleet")]
mod fleet;
mod full_disk;
mod gates;
mod host;
mod host_commands;
mod host_entries;
mod host_stage;
mod host_trust;
mod house_stage;
mod live_windows;
mod locks;
mod logs;
mod manual;
mod mcp;
mod mcp_asking;
mod mcp_flood;
mod mcp_http;
mod mcp_in_sub_agent;
mod mcp_lines;
mod mcp_runs;
mod mcp_stage;
mod mcp_tasks;
mod offline;
mod on_end;
mod other_user;
mod partial_messages;
mod pi_children;
mod pi_door;
mod pi_trust;
mod pictures;
mod planted;
mod printed_answers;
mod printing;
mod profile;
mod prompt_stage;
mod reads;
mod real_model;
mod real_pi;
mod receipts;
mod record;
mod recovery;
mod references;
mod refusals;
mod resume;
mod retention;
mod retrieval;
mod room;
mod run_lists;
mod run_records;
mod schemas;
mod session_lock;
mod settings;
mod shared_diff;
mod spending;
mod stage;
mod stopped;
mod stopping;
mod subagent;
mod subagent_finalize;
mod subagent_in_pi;
mod subagent_sessions;
mod subagent_stage;
mod task_fields;
mod terminal;
mod tool_lists;
mod trust;
mod typed_prompts;
mod web;
mod web_callers;
mod web_named;
mod web_page;
mod web_results;
mod web_safety;
mod web_stage;
mod worktrees;
