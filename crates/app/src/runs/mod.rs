//! The runs of all owners: finding, following and describing them, and requests to their owners.
//! Nothing here starts a run.

pub(crate) mod ask_which;
pub(crate) mod away;
pub(crate) mod conversation;
pub(crate) mod counts;
pub(crate) mod entries;
pub(crate) mod find;
#[cfg_attr(not(feature = "fleet"), path = "fleet/absent.rs")]
pub(crate) mod fleet;
pub(crate) mod fleet_values;
pub(crate) mod follow;
pub(crate) mod happened;
pub(crate) mod json_list;
pub(crate) mod keeping;
pub(crate) mod known;
pub(crate) mod merging;
pub(crate) mod missing_record;
pub(crate) mod no_result;
pub(crate) mod owned;
pub(crate) mod owner_request;
pub(crate) mod page_address;
pub(crate) mod read_along;
pub(crate) mod results;
pub(crate) mod row;
pub(crate) mod session_runs;
pub(crate) mod spans;
pub(crate) mod submodule_changes;
pub(crate) mod trace;
pub(crate) mod typed;
pub(crate) mod under_way;
#[cfg(test)]
#[path = "fleet/absent.rs"]
#[expect(dead_code, reason = "its tests run in every build")]
mod without_fleet;
pub(crate) mod workspace;
