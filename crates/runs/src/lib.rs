//! # The runs of all owners
//!
//! The runs of all owners: finding, following and describing them, and requests to their owners.
//! Nothing here starts a run.

#![expect(
    missing_docs,
    reason = "only this workspace uses the crate, and many fields say enough by their names"
)]
#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests make the files that they read"
    )
)]

pub mod acts;
pub mod ask_which;
pub mod budgets;
pub mod cleanup;
pub mod conversation;
pub mod elsewhere;
pub mod entries;
pub mod find;
pub mod fleet_outage;
pub mod follow;
pub mod inbox;
pub mod json_list;
pub mod known_index;
pub mod known_session;
pub mod live_figures;
pub mod merging;
pub mod missing_record;
pub mod no_result;
pub mod owner_process;
pub mod page_address;
pub mod read_along;
pub mod results;
pub mod review;
pub mod row;
pub mod session_runs;
pub mod spans;
pub mod submodule_changes;
pub mod trace;
pub mod typed_ids;
pub mod upkeep;
pub mod workspace;
