//! What the commands that start runs take.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use pi_subagents_definitions::RunnerChoice;
use pi_subagents_delegation::{Allowance, Dollars};

use crate::calls::caller::Overrides;

/// What every command that starts runs takes.
#[derive(Args, Clone, Default)]
pub(crate) struct RunArgs {
    /// Which kind of child does the work [default: the setting subagents.runner, else auto; for resume that of the session]
    #[arg(long, value_enum)]
    runner: Option<RunnerName>,
    /// The model: an id, provider/id or a pattern, with :thinking if wanted [default: that of the definition or the settings; for resume that of the session]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The directory the sub-agents work in [default: this one; for resume that of the session]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Seconds a task may take, unless it says so itself; while its tools are at work it goes on [default: 600 for delegate, no limit for run and spawn]
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout)]
    timeout: Option<f64>,
    /// Dollars a run may cost; one that has and wants to go on is ended [default: the setting subagents.maxCost, else no limit]
    #[arg(long, value_name = "DOLLARS", value_parser = parse_dollars)]
    max_cost: Option<Dollars>,
    /// Tokens a run may consume, such as 200000, 200k or 2m [default: the setting subagents.maxTokens, else no limit]
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    max_tokens: Option<u64>,
    /// Use the definitions and settings of this project, for this call
    #[arg(long)]
    pub(crate) trust: bool,
}

impl RunArgs {
    /// What is asked for all tasks.
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            runner: self.runner.map(RunnerChoice::from),
            model: self.model.clone(),
            cwd: self.cwd.clone(),
            timeout: self
                .timeout
                .map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)),
            allowance: Allowance {
                tokens: self.max_tokens,
                cost: self.max_cost,
            },
            tools: None,
        }
    }
}

/// What every command that can start several runs at once takes.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct ConcurrencyArgs {
    /// How many sub-agents run at once [default: the setting subagents.maxConcurrency, else 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    concurrency: Option<u16>,
}

impl ConcurrencyArgs {
    /// Returns what was asked for, if anything was.
    pub(crate) fn given(self) -> Option<usize> {
        self.concurrency.map(usize::from)
    }

    /// Returns what was asked for, else what the settings say.
    pub(crate) fn or(self, setting: usize) -> usize {
        self.concurrency.map_or(setting, usize::from)
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum RunnerName {
    /// pi where there is one that is new enough, else embedded
    Auto,
    /// Real pi processes
    Pi,
    /// The agent inside this binary
    Embedded,
}

impl From<RunnerName> for RunnerChoice {
    fn from(name: RunnerName) -> Self {
        match name {
            RunnerName::Auto => Self::Auto,
            RunnerName::Pi => Self::Pi,
            RunnerName::Embedded => Self::Embedded,
        }
    }
}

fn parse_timeout(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 1.0 && seconds.is_finite() => Ok(seconds),
        Ok(seconds) if seconds < 1.0 => Err("a timeout is at least 1 second".to_owned()),
        Ok(_) | Err(_) => Err("a timeout is a number of seconds".to_owned()),
    }
}

fn parse_dollars(text: &str) -> Result<Dollars, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(dollars) if dollars > 0.0 && dollars.is_finite() => Ok(Dollars::new(dollars)),
        Ok(_) | Err(_) => Err("a cost is a number of dollars above 0, such as 1.50".to_owned()),
    }
}

fn parse_tokens(text: &str) -> Result<u64, String> {
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
