//! The variables by which the processes of runs are recognised: every process of a run inherits
//! them in its environment.

/// The variable that names the run.
pub(crate) const RUN_MARK: &str = "PI_SUBAGENTS_RUN";

/// The variable that names the owner of the run.
pub(crate) const OWNER_MARK: &str = "PI_SUBAGENTS_OWNER";

/// The variable that names the run and its budgets, so that what its child starts counts in them
/// too: `RUN:SCOPE,SCOPE`.
pub const BUDGETS: &str = "PI_SUBAGENTS_BUDGETS";

/// The variables by which the processes of runs are recognised. A process that belongs to no run
/// must not have them.
pub const MARKS: [&str; 2] = [RUN_MARK, OWNER_MARK];
