//! The options with which a team is opened.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use pi_subagents_host_tools::HostTools;
use pi_subagents_vocabulary::{Allowance, Dollars, RunnerChoice};

/// Options for opening a team. An option that is not set is as on the command line in this process.
///
/// ```
/// use pi_subagents::{RunnerChoice, TeamOptions};
///
/// let options = TeamOptions::new()
///     .cwd("/home/me/lighthouse")
///     .runner(RunnerChoice::Embedded)
///     .model("local/qwen3-coder")
///     .tools(["read", "grep"]);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct TeamOptions {
    pub(super) cwd: Option<PathBuf>,
    pub(super) home: Option<PathBuf>,
    pub(super) binary: Option<PathBuf>,
    pub(super) trusts_project: bool,
    pub(super) runner: Option<RunnerChoice>,
    pub(super) model: Option<String>,
    pub(super) fallback_models: Option<Vec<String>>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) max_turns: Option<u32>,
    pub(super) allowance: Allowance,
    pub(super) concurrency: Option<NonZeroUsize>,
    pub(super) host_tools: Vec<HostTools>,
}

impl TeamOptions {
    /// Returns the options that the command line has in this process.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the directory in which the sub-agents work and to whose project the agents belong;
    /// else the current directory.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets the home directory that holds `.pi/agent`, for us and for the sub-agents; else that of
    /// the environment. Git reads its own configuration in the home of the process.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Sets the `pi-subagents` binary, which looks after every sub-agent and is also the embedded
    /// agent. By default it is the one that `PI_SUBAGENTS_BIN` names, else the one on `PATH`.
    pub fn binary(mut self, binary: impl Into<PathBuf>) -> Self {
        self.binary = Some(binary.into());
        self
    }

    /// Uses the agents, settings and skills of the project even if nobody has trusted it yet.
    pub fn trust_project(mut self) -> Self {
        self.trusts_project = true;
        self
    }

    /// Sets the kind of sub-agent that does the work. By default an agent or the settings
    /// decide.
    pub fn runner(mut self, runner: RunnerChoice) -> Self {
        self.runner = Some(runner);
        self
    }

    /// Sets the model of all tasks: an id, provider/id or a pattern.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the models that take over, in this order, if the model of a run is out of quota,
    /// overloaded or not available. By default a definition or the settings name them.
    pub fn fallback_models(mut self, models: impl IntoIterator<Item: Into<String>>) -> Self {
        self.fallback_models = Some(models.into_iter().map(Into::into).collect());
        self
    }

    /// Limits the dollars that each run may cost: a run that has reached the limit is stopped before
    /// its next tool call. Else the settings limit it.
    pub fn max_cost(mut self, dollars: f64) -> Self {
        self.allowance.cost = Some(Dollars::new(dollars));
        self
    }

    /// Limits the tokens that each run may consume; else the settings limit it.
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.allowance.tokens = Some(tokens);
        self
    }

    /// Limits the answers that the model of each run may give: a run that wants to go on after that
    /// gets one last answer without tools. Else an agent or the settings limit it.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Sets the only tools of all sub-agents. By default they have the tools of their agent,
    /// else the usual ones. A team with a misspelt tool does not open.
    pub fn tools(mut self, tools: impl IntoIterator<Item: Into<String>>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Gives all sub-agents functions of this program as tools, beside those that they have. They see
    /// them as `mcp__NAME__TOOL`, and a list of tools, as of [`Self::tools`] or of an agent, must name
    /// them so. A sub-agent in a sandbox reaches them too. A task for pi or for a fleet is refused.
    ///
    /// ```
    /// use pi_subagents::{HostTools, TeamOptions, schemars};
    ///
    /// #[derive(schemars::JsonSchema, serde::Deserialize)]
    /// struct Order {
    ///     number: u32,
    /// }
    ///
    /// let tools = HostTools::new("shop").tool(
    ///     "find_order",
    ///     "Says where an order is.",
    ///     |order: Order| async move { Ok::<_, String>(format!("Order {} left today.", order.number)) },
    /// );
    /// let options = TeamOptions::new().host_tools(tools);
    /// ```
    pub fn host_tools(mut self, tools: HostTools) -> Self {
        self.host_tools.push(tools);
        self
    }

    /// Sets how many sub-agents run at once. By default the settings decide.
    pub fn concurrency(mut self, concurrency: NonZeroUsize) -> Self {
        self.concurrency = Some(concurrency);
        self
    }
}
