//! The end of each help: examples that can be typed. A test parses all of them.

pub(super) const MAIN: &str = "\
Examples:
  pi-subagents tour
  pi-subagents run \"Review the last commit\" --model sonnet

Use pi-subagents help COMMAND to read more about a command, and pi-subagents doctor to check that
everything is set up.";

pub(super) const MAIN_LONG: &str = "\
Examples:
  pi-subagents tour
  pi-subagents run \"Review the last commit\" --model sonnet

Exit codes:
  0    all runs completed, or the command did its job
  1    a run or the command failed
  2    invalid arguments or an invalid agent file
  3    no such run, session or agent
  4    some runs completed and some did not
  5    no finished answer (output), or no result (diff, merge, review, keep, discard)
  75   all runs wait for an answer (inbox lists the questions)
  124  a run timed out
  129  the terminal was closed
  130  interrupted with Ctrl-C
  143  stopped or terminated

Use pi-subagents help COMMAND to read more about a command, and pi-subagents doctor to check that
everything is set up.";

pub(super) const TOUR: &str = "\
Examples:
  pi-subagents tour
  pi-subagents tour --here";

pub(super) const DELEGATE: &str = "\
Examples:
  pi-subagents delegate \"What is this for?\" --task gaps=\"What is not tested?\"
  pi-subagents delegate tasks.json --agent reviewer --json";

pub(super) const RUN: &str = "\
Examples:
  pi-subagents run scout \"Where is the lamp lit?\"
  git diff | pi-subagents run reviewer - --session review";

pub(super) const SPAWN: &str = "\
Examples:
  pi-subagents spawn \"Read every file under src and explain the lamp\"
  pi-subagents spawn tester \"Run the tests and fix what fails\" --timeout 3600";

pub(super) const RESUME: &str = "\
Examples:
  pi-subagents resume last \"And the horn?\"
  pi-subagents resume review - < comments.txt";

pub(super) const INBOX: &str = "\
Examples:
  pi-subagents inbox
  pi-subagents inbox --watch";

pub(super) const ANSWER: &str = "\
Examples:
  pi-subagents answer q7f3a \"v3, because v2 is old\"
  pi-subagents answer last --yes";

pub(super) const WEB: &str = "\
Examples:
  pi-subagents web --open
  pi-subagents web last last~2 --read-only";

pub(super) const TRACE: &str = "\
Examples:
  pi-subagents trace last
  pi-subagents trace last --output lamp.trace.json";

pub(super) const ATTACH: &str = "\
Examples:
  pi-subagents attach
  pi-subagents attach 9c9fa4";

pub(super) const OUTPUT: &str = "\
Examples:
  pi-subagents output last
  pi-subagents output 20261115-204209 --json";

pub(super) const DIFF: &str = "\
Examples:
  pi-subagents diff last
  pi-subagents diff api --stat";

pub(super) const MERGE: &str = "\
Examples:
  pi-subagents merge api ui --check
  pi-subagents merge last --commit";

pub(super) const BUDGET: &str = "\
Examples:
  pi-subagents budget day
  pi-subagents delegate \"…\" \"…\" --budget nightly --budget-cost 5";

pub(super) const REVIEW: &str = "\
Examples:
  pi-subagents review
  pi-subagents review --accept-all --gate \"cargo test\"";

pub(super) const UNDO: &str = "\
Examples:
  pi-subagents undo
  pi-subagents undo --keep-edits";

pub(super) const WORKTREES: &str = "\
Examples:
  pi-subagents worktrees --all
  pi-subagents worktrees prune";

pub(super) const KEEP: &str = "\
Examples:
  pi-subagents keep api
  pi-subagents keep api --undo";

pub(super) const DISCARD: &str = "\
Examples:
  pi-subagents discard ui
  pi-subagents discard last --yes";

pub(super) const SESSION: &str = "\
Examples:
  pi-subagents session last~1
  pi-subagents session review | less";

pub(super) const FLEET: &str = "\
Examples:
  pi-subagents fleet init --pool default --pool gpu
  pi-subagents fleet work --slots 4";

pub(super) const LOGS: &str = "\
Examples:
  pi-subagents logs 9c9fa4 --follow
  pi-subagents logs 9c9fa4 --tail 20";

pub(super) const EXPORT: &str = "\
Examples:
  pi-subagents export 9c9fa4 --markdown
  pi-subagents export 9c9fa4 --markdown --output review.md";

pub(super) const EVENTS: &str = "\
Examples:
  pi-subagents events 9c9fa4 --follow
  pi-subagents events 9c9fa4 | grep tool_execution_start";

pub(super) const STATUS: &str = "\
Examples:
  pi-subagents status --watch
  pi-subagents status --since 2h --sort cost";

pub(super) const STEER: &str = "\
Examples:
  pi-subagents steer 9c9fa4 \"Stop at the first failure\"
  pi-subagents steer 9c9fa4 - < remarks.txt";

pub(super) const STOP: &str = "\
Examples:
  pi-subagents stop 9c9fa4
  pi-subagents stop --all";

pub(super) const WAIT: &str = "\
Examples:
  pi-subagents wait 9c9fa4 && pi-subagents output 9c9fa4
  pi-subagents wait --any 9c9fa4 ba15e3";

pub(super) const CLEAN: &str = "\
Examples:
  pi-subagents clean --older 30d --dry-run
  pi-subagents clean --all-projects --keep-last 20";

pub(super) const AGENTS: &str = "\
Examples:
  pi-subagents agents scout
  pi-subagents agents create scout --tools read,grep,find,ls";

pub(super) const TRUST: &str = "\
Examples:
  pi-subagents trust --show
  pi-subagents trust";

pub(super) const MODELS: &str = "\
Examples:
  pi-subagents models
  pi-subagents models --provider anthropic --json";

pub(super) const INIT: &str = "\
Examples:
  pi-subagents init
  pi-subagents init --undo";

pub(super) const DOCTOR: &str = "\
Examples:
  pi-subagents doctor
  pi-subagents doctor --json";

pub(super) const MCP: &str = "\
Examples:
  pi-subagents mcp --model local/qwen3-coder --trust
  pi-subagents mcp --http 127.0.0.1:8765";

pub(super) const TOOLS: &str = "\
Examples:
  pi-subagents tools
  pi-subagents tools subagent background_agent --json";

pub(super) const SCHEMA: &str = "\
Examples:
  pi-subagents schema
  pi-subagents schema status";

pub(super) const HOST: &str = "\
The pi package starts this command; people do not need it.";

pub(super) const COMPLETIONS: &str = "\
Examples:
  source <(pi-subagents completions bash)
  pi-subagents completions fish > ~/.config/fish/completions/pi-subagents.fish

For bash, put the first line into ~/.bashrc. For zsh, write the script to a file named _pi-subagents in a directory of $fpath.";

pub(super) const MAN: &str = "\
Examples:
  pi-subagents man | man -l -
  pi-subagents man --dir ~/.local/share/man/man1";

pub(super) const UNINSTALL: &str = "\
Examples:
  pi-subagents uninstall
  pi-subagents uninstall | less";

pub(super) const VERSION: &str = "\
Examples:
  pi-subagents version
  pi-subagents --version";
