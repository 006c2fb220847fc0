//! The agents that a bridge knows, as data. `docs/design/other-agents.md` says which of it was tried.

use pi_subagents_vocabulary::OtherAgent;

/// Everything in which the agents differ, apart from their tools.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an ability that an agent has or not"
)]
pub struct AgentFacts {
    /// The program that speaks ACP; empty for an agent that its user names.
    pub program: &'static str,
    /// The arguments that make it speak ACP.
    pub arguments: &'static [&'static str],
    /// The line that installs the program.
    pub install: &'static str,
    /// The way in which its model is chosen.
    pub model: ModelBy,
    /// True if it reads a message while it works.
    pub takes_steering: bool,
    /// True if it starts MCP servers that speak over stdio.
    pub starts_servers: bool,
    /// The flag that limits its answers.
    pub(crate) turns_flag: Option<&'static str>,
    /// True if it ends by itself when a run has cost so much.
    pub keeps_cost: bool,
    /// True if it says what a run has cost.
    pub tells_cost: bool,
    /// True if its system prompt can be set; other agents get the text before their first prompt.
    pub(crate) takes_system_prompt: bool,
    /// The beginnings of texts that it sends as answers and that no model wrote.
    pub(crate) notices: &'static [&'static str],
}

/// The way in which the model of an agent is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelBy {
    /// By an option of its session, which lists the models.
    Session,
    /// By a flag of its program.
    Flag(&'static str),
}

const PLAIN: AgentFacts = AgentFacts {
    program: "",
    arguments: &[],
    install: "",
    model: ModelBy::Session,
    takes_steering: false,
    starts_servers: true,
    turns_flag: None,
    keeps_cost: false,
    tells_cost: false,
    takes_system_prompt: false,
    notices: &[],
};

/// Returns the facts about an agent.
pub fn facts_of(agent: OtherAgent) -> AgentFacts {
    match agent {
        OtherAgent::Claude => AgentFacts {
            program: "claude-agent-acp",
            install: "npm install -g @agentclientprotocol/claude-agent-acp",
            takes_steering: true,
            keeps_cost: true,
            tells_cost: true,
            takes_system_prompt: true,
            ..PLAIN
        },
        OtherAgent::Codex => AgentFacts {
            program: "codex-acp",
            install: "npm install -g @agentclientprotocol/codex-acp",
            takes_steering: true,
            notices: &["Warning: Model metadata for "],
            ..PLAIN
        },
        OtherAgent::Gemini => AgentFacts {
            program: "gemini",
            arguments: &["--acp"],
            install: "npm install -g @google/gemini-cli",
            model: ModelBy::Flag("--model"),
            ..PLAIN
        },
        OtherAgent::Copilot => AgentFacts {
            program: "copilot",
            arguments: &["--acp"],
            install: "npm install -g @github/copilot",
            model: ModelBy::Flag("--model"),
            starts_servers: false,
            notices: &["Info: "],
            ..PLAIN
        },
        OtherAgent::Opencode => AgentFacts {
            program: "opencode",
            arguments: &["acp"],
            install: "npm install -g opencode-ai",
            ..PLAIN
        },
        OtherAgent::Qwen => AgentFacts {
            program: "qwen",
            arguments: &["--acp"],
            install: "npm install -g @qwen-code/qwen-code",
            model: ModelBy::Flag("--model"),
            turns_flag: Some("--max-session-turns"),
            ..PLAIN
        },
        OtherAgent::Acp => PLAIN,
    }
}
