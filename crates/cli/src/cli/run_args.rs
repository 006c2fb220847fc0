//! Options of the commands that start runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pi_subagents_configuration::RunnerChoice;
use pi_subagents_files::read_own_text;
use pi_subagents_vocabulary::{
    Allowance, BaseChoice, Dollars, Gate, Isolation, LARGEST_SCHEMA, NetworkReach, OtherAgent,
    OutputSchema, READ_TOOLS, RunTerms, SandboxLevel, ThinkingLevel,
};
use serde_json::Value;

use super::budget_args::BudgetArgs;
use super::fleet_args::FleetArgs;
use pi_subagents_calls::caller::Overrides;

/// Options of every command that starts runs. The help is that of `delegate`; where another command
/// has another default, it replaces the sentence.
#[derive(Args, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "every one is a flag that is there or not"
)]
pub(crate) struct RunArgs {
    /// How sub-agents run [default: the setting subagents.runner, or auto]
    #[arg(long, value_parser = runner_parser())]
    runner: Option<RunnerChoice>,
    /// Model to use: an id, provider/id or a pattern, with a thinking level if you like, as in sonnet:high [default: the model of the agent or of the settings]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How much the model thinks, whatever its name or the agent says
    #[arg(long, value_name = "LEVEL", value_parser = thinking_parser())]
    thinking: Option<ThinkingLevel>,
    /// Model that takes over if the model is out of quota, overloaded or not available. The sub-agent continues where it was. May be given several times, in the order in which they are asked [default: the fallbackModels of the agent, or the setting subagents.fallbackModels, or none]
    #[arg(long = "fallback", value_name = "MODEL", value_parser = parse_fallback)]
    fallbacks: Vec<String>,
    /// Let no other model take over, whatever the agent or the settings say
    #[arg(long, conflicts_with = "fallbacks")]
    no_fallback: bool,
    /// Directory in which the sub-agents work [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Where the sub-agents work [default: the isolation of the agent, or the setting subagents.isolation, or none]
    #[arg(long, value_name = "PLACE", value_parser = isolation_parser())]
    isolation: Option<Isolation>,
    /// State that new worktrees begin from: working (HEAD with your uncommitted changes), head, or a branch, tag or commit [default: working]
    #[arg(long, value_name = "REV", value_parser = BaseChoice::parse)]
    base: Option<BaseChoice>,
    /// How much the sub-agents may write [default: the sandbox of the agent, or the setting subagents.sandbox, or read-only if its tools only read, else off]
    #[arg(long, value_name = "LEVEL", value_parser = sandbox_parser())]
    sandbox: Option<SandboxLevel>,
    /// What the tools of the sub-agents may reach in a sandbox: full, model, none, or hosts with ports, separated by commas [default: none in a sandbox]
    #[arg(long, value_name = "REACH", value_parser = parse_reach)]
    network: Option<NetworkReach>,
    /// Short for --sandbox read-only with the tools that only read: read, grep, find and ls
    #[arg(long, conflicts_with = "sandbox")]
    read_only: bool,
    /// Time limit per task in seconds, unless the task sets its own. A task whose tools are still active may run longer [default: the timeout of the agent, or 600]
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout)]
    timeout: Option<f64>,
    /// Cost limit per run in dollars. A run that has reached it and wants to continue gets one last answer without tools, and can be resumed [default: the setting subagents.maxCost, or no limit]
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    max_cost: Option<Dollars>,
    /// Token limit per run, such as 200000, 200k or 2m; tokens read from a cache are not counted. A run that has reached it and wants to continue gets one last answer without tools, and can be resumed [default: the setting subagents.maxTokens, or no limit]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    max_tokens: Option<u64>,
    /// End a run at its limit of cost, tokens or turns without a last answer
    #[arg(long)]
    no_wrap_up: bool,
    /// Answers that the model of each run may give. A run that wants to continue after that gets one last answer without tools, and can be resumed; 0 for no limit [default: the maxTurns of the agent, or the setting subagents.maxTurns, or no limit]
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    /// Command that must pass before a run counts as completed, such as "cargo test". If it fails, the sub-agent sees the output and tries again. May be given several times [default: the gate of the agent]
    #[arg(long = "gate", value_name = "CMD", value_parser = parse_gate)]
    gates: Vec<String>,
    /// Run no gate, whatever the agent or the continued run has
    #[arg(long, conflicts_with = "gates")]
    no_gate: bool,
    /// Attempts of a sub-agent to fix a failing gate [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=20))]
    gate_retries: Option<u32>,
    /// Seconds that a gate of this call may take [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout, requires = "gates")]
    gate_timeout: Option<f64>,
    /// File with a JSON schema that the result of each task must meet. The sub-agent then answers with data [default: the schema of the agent]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, value_parser = parse_schema_file)]
    output_schema: Option<Arc<Value>>,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    fleet: FleetArgs,
    /// Ask nothing before a very large prompt is sent, and do more than 16 items without a budget
    #[arg(long)]
    yes: bool,
    /// Use the agents, settings and skills of this project, for this call only
    #[arg(long)]
    pub(crate) trust: bool,
}

impl RunArgs {
    /// Returns the options for all tasks.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            terms: self.terms(),
            cwd: self.cwd.clone(),
            base: self.base.clone(),
            worktree: None,
            fleet: self.fleet.wishes(),
            budget: self.budget.wishes(),
            host_servers: Vec::new(),
            is_agreed: self.yes,
        }
    }

    fn terms(&self) -> RunTerms {
        RunTerms {
            runner: self.runner,
            model: self.model.clone(),
            thinking: self.thinking,
            fallback_models: (self.no_fallback || !self.fallbacks.is_empty())
                .then(|| self.fallbacks.clone()),
            tools: self
                .read_only
                .then(|| READ_TOOLS.map(str::to_owned).to_vec()),
            timeout: self
                .timeout
                .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            max_turns: self.max_turns,
            wrap_up: self.no_wrap_up.then_some(false),
            allowance: Allowance {
                tokens: self.max_tokens,
                cost: self.max_cost,
            },
            isolation: self.isolation,
            sandbox: self.level(),
            network: self.network.clone(),
            gates: self.gates(),
            gate_retries: self.gate_retries,
            output_schema: self.output_schema.as_deref().cloned(),
        }
    }
}

/// Reads a schema at once, so that a mistake in it is found before anything is started.
fn parse_schema_file(path: &str) -> Result<Arc<Value>, String> {
    let largest = u64::try_from(LARGEST_SCHEMA).unwrap_or(u64::MAX);
    let text = read_own_text(Path::new(path), largest).map_err(|error| error.to_string())?;
    let schema = OutputSchema::read(&text).map_err(|error| error.to_string())?;
    Ok(Arc::new(schema.source().clone()))
}

impl RunArgs {
    /// Returns the gates of the call, if anything is said about them.
    fn gates(&self) -> Option<Vec<Gate>> {
        let gates = self.gates.iter().map(|command| self.gate(command));
        (self.no_gate || !self.gates.is_empty()).then(|| gates.collect())
    }

    fn level(&self) -> Option<SandboxLevel> {
        self.sandbox
            .or(self.read_only.then_some(SandboxLevel::ReadOnly))
    }

    fn gate(&self, command: &str) -> Gate {
        let given = self.gate_timeout.map(Duration::try_from_secs_f64);
        let timeout = match given {
            Some(Ok(timeout)) => timeout.min(Gate::LONGEST_TIMEOUT),
            Some(Err(_)) => Gate::LONGEST_TIMEOUT,
            None => Gate::USUAL_TIMEOUT,
        };
        Gate {
            timeout,
            ..Gate::new(command)
        }
    }
}

fn parse_fallback(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a model is an id, provider/id or a pattern, such as sonnet".to_owned()),
        model => Ok(model.to_owned()),
    }
}

fn parse_gate(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a gate is a command, such as \"cargo test\"".to_owned()),
        command => Ok(command.to_owned()),
    }
}

/// The option of every command that can start several runs at once.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct ConcurrencyArgs {
    /// How many sub-agents may run at once [default: the setting subagents.maxConcurrency, or 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    concurrency: Option<u16>,
}

impl ConcurrencyArgs {
    /// Returns the number that was asked for, if any.
    pub(crate) fn given(self) -> Option<usize> {
        self.concurrency.map(usize::from)
    }

    /// Returns the number that was asked for, else the setting.
    pub(crate) fn or(self, setting: usize) -> usize {
        self.concurrency.map_or(setting, usize::from)
    }
}

/// Offers the words of [`RunnerChoice`], each with its help.
fn runner_parser() -> impl TypedValueParser<Value = RunnerChoice> {
    let described = RunnerChoice::ALL.map(|choice| {
        PossibleValue::new(choice.as_str()).help(match choice {
            RunnerChoice::Auto => {
                "Use pi if a recent version is installed, otherwise the embedded agent"
            }
            RunnerChoice::Pi => "Start a pi process for each sub-agent",
            RunnerChoice::Embedded => "Use the agent that is built into this program",
            RunnerChoice::Bridge(agent) => match agent {
                OtherAgent::Claude => "Use Claude Code, as it is installed and logged in",
                OtherAgent::Codex => "Use Codex, as it is installed and logged in",
                OtherAgent::Gemini => "Use Gemini CLI, as it is installed and logged in",
                OtherAgent::Copilot => "Use Copilot CLI, as it is installed and logged in",
                OtherAgent::Opencode => "Use opencode, as it is installed and logged in",
                OtherAgent::Qwen => "Use Qwen Code, as it is installed and logged in",
                OtherAgent::Acp => {
                    "Use the agent whose command the agent file names; it speaks the Agent Client Protocol"
                }
            },
        })
    });
    PossibleValuesParser::new(described)
        .try_map(|word| RunnerChoice::from_word(&word).ok_or("there is no such kind of sub-agent"))
}

/// Offers the words of [`ThinkingLevel`].
fn thinking_parser() -> impl TypedValueParser<Value = ThinkingLevel> {
    PossibleValuesParser::new(ThinkingLevel::ALL.map(ThinkingLevel::as_str))
        .try_map(|word| ThinkingLevel::from_word(&word).ok_or("there is no such level"))
}

/// Offers the words of [`Isolation`], each with its help.
fn isolation_parser() -> impl TypedValueParser<Value = Isolation> {
    let described = Isolation::ALL.map(|choice| {
        PossibleValue::new(choice.as_str()).help(match choice {
            Isolation::None => "In the directory itself, with everybody else who works there",
            Isolation::Worktree => {
                "Each in its own git worktree, which begins with your uncommitted changes; merge brings the result back"
            }
        })
    });
    PossibleValuesParser::new(described)
        .try_map(|word| Isolation::from_word(&word).ok_or("there is no such place"))
}

/// Offers the words of [`SandboxLevel`], each with its help.
fn sandbox_parser() -> impl TypedValueParser<Value = SandboxLevel> {
    let described = SandboxLevel::ALL.map(|level| {
        PossibleValue::new(level.as_str()).help(match level {
            SandboxLevel::Off => "Everything that you may write",
            SandboxLevel::WorkspaceWrite => {
                "Their working directory and its git repository; the rest is read-only, secrets are hidden"
            }
            SandboxLevel::ReadOnly => "Nothing but temporary files; secrets are hidden",
        })
    });
    PossibleValuesParser::new(described)
        .try_map(|word| SandboxLevel::from_word(&word).ok_or("there is no such level"))
}

fn parse_reach(text: &str) -> Result<NetworkReach, String> {
    NetworkReach::parse(text).map_err(|error| format!("it must be {error}"))
}

fn parse_timeout(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 1.0 && seconds.is_finite() => Ok(seconds),
        Ok(seconds) if seconds < 1.0 => Err("a timeout is at least 1 second".to_owned()),
        Ok(_) | Err(_) => Err("a timeout is a number of seconds".to_owned()),
    }
}

pub(crate) fn parse_dollars(text: &str) -> Result<Dollars, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(dollars) if dollars > 0.0 && dollars.is_finite() => Ok(Dollars::new(dollars)),
        Ok(_) | Err(_) => Err("a cost is a number of dollars above 0, such as 1.50".to_owned()),
    }
}

pub(crate) fn parse_tokens(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
        (Some(thousands), _) => (thousands, 1_000),
        (None, Some(millions)) => (millions, 1_000_000),
        (None, None) => (lower.as_str(), 1),
    };
    let count = digits.parse::<u64>().ok().filter(|count| *count > 0);
    count
        .and_then(|count| count.checked_mul(unit))
        .ok_or_else(|| "tokens are a whole number above 0, such as 200000, 200k or 2m".to_owned())
}
