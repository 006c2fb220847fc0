//! The end of the help of each subcommand of `profile`.

pub(super) const LIST: &str = "\
Examples:
  pi-subagents profile list
  pi-subagents profile list --json";

pub(super) const SHOW: &str = "\
Examples:
  pi-subagents profile show scout
  pi-subagents profile show scout --json";

pub(super) const CREATE: &str = "\
Examples:
  pi-subagents profile new reviewer --example
  pi-subagents profile create reviewer --tools read --system-prompt @review.md";

pub(super) const EDIT: &str = "\
Examples:
  pi-subagents profile edit scout --model anthropic/claude-sonnet-5:high
  pi-subagents profile edit scout --unset tools,timeout";

pub(super) const DELETE: &str = "\
Examples:
  pi-subagents profile delete scout
  pi-subagents profile delete scout --scope project --yes";

pub(super) const EXPLAIN: &str = "\
Examples:
  pi-subagents profile explain scout
  pi-subagents profile explain scout --json";
