//! The end of the help of each subcommand of `profile`.

pub(super) const LIST: &str = "\
Examples:
  pi-subagents agents list
  pi-subagents agents list --json";

pub(super) const SHOW: &str = "\
Examples:
  pi-subagents agents show scout
  pi-subagents agents show scout --json";

pub(super) const CREATE: &str = "\
Examples:
  pi-subagents agents new reviewer --example
  pi-subagents agents create reviewer --tools read --system-prompt @review.md";

pub(super) const ADD: &str = "\
Examples:
  pi-subagents agents add
  pi-subagents agents add scout reviewer --scope project";

pub(super) const IMPORT: &str = "\
Examples:
  pi-subagents agents import claude:reviewer
  pi-subagents agents import --all --dry-run";

pub(super) const EDIT: &str = "\
Examples:
  pi-subagents agents edit scout --model anthropic/claude-sonnet-5:high
  pi-subagents agents edit scout --unset tools,timeout";

pub(super) const DELETE: &str = "\
Examples:
  pi-subagents agents delete scout
  pi-subagents agents delete scout --scope project --yes";

pub(super) const EXPLAIN: &str = "\
Examples:
  pi-subagents agents explain scout
  pi-subagents agents explain scout --json";
