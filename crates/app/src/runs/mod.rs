//! The runs of all owners: finding, following and describing them, and requests to their owners.
//! Nothing here starts a run.

pub(crate) mod ask_which;
pub(crate) mod conversation;
pub(crate) mod counts;
pub(crate) mod entries;
pub(crate) mod find;
pub(crate) mod fleet;
pub(crate) mod follow;
pub(crate) mod happened;
pub(crate) mod json_list;
pub(crate) mod keeping;
pub(crate) mod known;
pub(crate) mod merging;
pub(crate) mod missing_record;
pub(crate) mod owned;
pub(crate) mod owner_request;
pub(crate) mod page_address;
pub(crate) mod results;
pub(crate) mod row;
pub(crate) mod session_runs;
pub(crate) mod spans;
pub(crate) mod submodule_changes;
pub(crate) mod trace;
pub(crate) mod typed;
pub(crate) mod under_way;
pub(crate) mod workspace;
