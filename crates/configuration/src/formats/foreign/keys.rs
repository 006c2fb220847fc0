//! The table of the keys of other tools, and what each key means for us.

use pi_subagents_vocabulary::{Dialect, nearest};

use Dialect::{Claude, Codex, Copilot, Cursor, Gemini, Nicobailon, Opencode, Tintinweb};

/// What a key of another tool means for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The name, which is read first.
    Name,
    Description,
    /// A text that follows the child's own system prompt.
    Instructions,
    /// A text in place of the child's own system prompt.
    Prompt,
    /// Whether the body replaces the child's own system prompt or follows it.
    PromptMode,
    Model,
    /// Models that are asked if the first is not there.
    FurtherModels,
    Thinking,
    /// The only tools of the agent.
    AllowedTools,
    /// Tools that the agent does not have.
    DeniedTools,
    /// Tools that are switched on or off one by one.
    ToolSwitches,
    /// What the agent may do with each tool.
    Permissions,
    /// How Claude Code asks for permissions.
    PermissionMode,
    /// A switch that takes away everything that writes.
    ReadOnly,
    /// The sandbox of Codex.
    SandboxMode,
    /// The role of an agent that checks the work of others.
    AcceptanceRole,
    /// Switches of Codex, of which one takes away the shell.
    Features,
    Hooks,
    Isolation,
    /// Where the agent runs: here, or on a server.
    Kind,
    /// Another program that does the work.
    Runner,
    /// Whether the agent is a sub-agent.
    Mode,
    /// The product that the agent is for.
    Target,
    /// A switch that takes the agent out of use.
    Disabled,
    /// A switch that takes the agent out of use if it is off.
    Enabled,
    /// A switch that keeps the agent out of the lists for models.
    Hidden,
    /// A switch that keeps the agent out of the lists for models if it is off.
    Advertised,
    Skills,
    /// A switch for "no skills" if it is off.
    InheritsSkills,
    NoContextFiles,
    /// A switch for "no context files" if it is off.
    InheritsContextFiles,
    /// A list of the only extensions, or a switch.
    Extensions,
    /// Extensions that are not loaded.
    ExcludedExtensions,
    /// A switch for "no extensions and no skills".
    Isolated,
    /// MCP servers, which are read before everything else: lists of tools name them.
    Servers,
    /// A limit of turns.
    Turns,
    Minutes,
    Milliseconds,
    /// Something that we do not have.
    Lost(&'static str),
    /// A switch for something that we do not have.
    LostSwitch(&'static str),
    /// Looks and habits of the other tool.
    Quiet,
}

/// A key of some tools.
struct KeyRow {
    key: &'static str,
    of: &'static [Dialect],
    meaning: Meaning,
}

const fn row(key: &'static str, of: &'static [Dialect], meaning: Meaning) -> KeyRow {
    KeyRow { key, of, meaning }
}

const ALL: &[Dialect] = &Dialect::FOREIGN;
const NO_SERVERS: &str = "Codex itself takes no MCP servers from an agent file";
const NO_SAMPLING: &str = "the model's own default is used";
const NO_MEMORY: &str = "an agent has no memory here; resume continues a session";
const NO_CONVERSATION: &str = "a sub-agent does not get the conversation of its caller";
const NO_BUDGET: &str = "a limit of tool calls is not kept here";

#[rustfmt::skip]
const KEYS: &[KeyRow] = &[
    row("name", ALL, Meaning::Name),
    row("description", ALL, Meaning::Description),
    row("developer_instructions", &[Codex], Meaning::Instructions),
    row("prompt", &[Opencode], Meaning::Prompt),
    row("prompt_mode", &[Tintinweb], Meaning::PromptMode),
    row("systemPromptMode", &[Nicobailon], Meaning::PromptMode),
    row("model", ALL, Meaning::Model),
    row("fallbackModels", &[Nicobailon], Meaning::FurtherModels),
    row("effort", &[Claude], Meaning::Thinking),
    row("model_reasoning_effort", &[Codex], Meaning::Thinking),
    row("reasoningEffort", &[Opencode], Meaning::Thinking),
    row("variant", &[Opencode], Meaning::Thinking),
    row("thinking", &[Tintinweb, Nicobailon], Meaning::Thinking),
    row("tools", &[Claude, Copilot, Gemini, Tintinweb, Nicobailon], Meaning::AllowedTools),
    row("tools", &[Opencode], Meaning::ToolSwitches),
    row("disallowedTools", &[Claude], Meaning::DeniedTools),
    row("disallowed_tools", &[Tintinweb], Meaning::DeniedTools),
    row("excludeTools", &[Nicobailon], Meaning::DeniedTools),
    row("permission", &[Opencode, Nicobailon], Meaning::Permissions),
    row("permissions", &[Nicobailon], Meaning::Permissions),
    row("permissionMode", &[Claude], Meaning::PermissionMode),
    row("readonly", &[Cursor], Meaning::ReadOnly),
    row("sandbox_mode", &[Codex], Meaning::SandboxMode),
    row("acceptanceRole", &[Nicobailon], Meaning::AcceptanceRole),
    row("features", &[Codex], Meaning::Features),
    row("hooks", &[Claude, Copilot], Meaning::Hooks),
    row("isolation", &[Claude, Tintinweb], Meaning::Isolation),
    row("kind", &[Gemini], Meaning::Kind),
    row("runner", &[Nicobailon], Meaning::Runner),
    row("mode", &[Opencode], Meaning::Mode),
    row("target", &[Copilot], Meaning::Target),
    row("disable", &[Opencode], Meaning::Disabled),
    row("enabled", &[Tintinweb], Meaning::Enabled),
    row("hidden", &[Opencode], Meaning::Hidden),
    row("disable-model-invocation", &[Copilot], Meaning::Hidden),
    row("infer", &[Copilot], Meaning::Advertised),
    row("advertise", &[Nicobailon], Meaning::Advertised),
    row("skills", &[Claude, Tintinweb, Nicobailon], Meaning::Skills),
    row("skill", &[Nicobailon], Meaning::Skills),
    row("inheritSkills", &[Nicobailon], Meaning::InheritsSkills),
    row("omitClaudeMd", &[Claude], Meaning::NoContextFiles),
    row("inheritProjectContext", &[Nicobailon], Meaning::InheritsContextFiles),
    row("extensions", &[Tintinweb, Nicobailon], Meaning::Extensions),
    row("exclude_extensions", &[Tintinweb], Meaning::ExcludedExtensions),
    row("isolated", &[Tintinweb], Meaning::Isolated),
    row("maxTurns", &[Claude], Meaning::Turns),
    row("max_turns", &[Gemini, Tintinweb], Meaning::Turns),
    row("steps", &[Opencode], Meaning::Turns),
    row("maxSteps", &[Opencode], Meaning::Turns),
    row("timeout_mins", &[Gemini], Meaning::Minutes),
    row("timeoutMs", &[Nicobailon], Meaning::Milliseconds),
    row("mcpServers", &[Claude, Gemini], Meaning::Servers),
    row("mcp-servers", &[Copilot], Meaning::Servers),
    row("mcp_servers", &[Codex], Meaning::Lost(NO_SERVERS)),
    row("memory", &[Claude, Tintinweb, Nicobailon], Meaning::Lost(NO_MEMORY)),
    row("temperature", &[Opencode, Gemini], Meaning::Lost(NO_SAMPLING)),
    row("top_p", &[Opencode], Meaning::Lost(NO_SAMPLING)),
    row("model_verbosity", &[Codex], Meaning::Lost(NO_SAMPLING)),
    row("model_reasoning_summary", &[Codex], Meaning::Lost(NO_SAMPLING)),
    row("autoCompactWindow", &[Claude], Meaning::Lost("conversations are shortened by our own rule")),
    row("skills", &[Codex], Meaning::Lost("single skills cannot be switched off here")),
    row("toolBudget", &[Nicobailon], Meaning::Lost(NO_BUDGET)),
    row("inherit_context", &[Tintinweb], Meaning::LostSwitch(NO_CONVERSATION)),
    row("defaultContext", &[Nicobailon], Meaning::LostSwitch(NO_CONVERSATION)),
    row("handoffs", &[Copilot], Meaning::Lost("an agent hands nothing over here")),
    row("background", &[Claude], Meaning::Quiet),
    row("is_background", &[Cursor], Meaning::Quiet),
    row("run_in_background", &[Tintinweb], Meaning::Quiet),
    row("initialPrompt", &[Claude], Meaning::Quiet),
    row("observer", &[Claude], Meaning::Quiet),
    row("experimental", &[Claude], Meaning::Quiet),
    row("color", &[Claude, Opencode, Tintinweb, Nicobailon], Meaning::Quiet),
    row("display_name", &[Gemini, Tintinweb], Meaning::Quiet),
    row("nickname_candidates", &[Codex], Meaning::Quiet),
    row("approval_policy", &[Codex], Meaning::Quiet),
    row("argument-hint", &[Copilot], Meaning::Quiet),
    row("agents", &[Copilot], Meaning::Quiet),
    row("metadata", &[Copilot], Meaning::Quiet),
    row("user-invocable", &[Copilot], Meaning::Quiet),
    row("allowed_subagents", &[Tintinweb], Meaning::Quiet),
];

/// Keys that only one of the two tools has whose files lie in the folder of our prompts.
#[rustfmt::skip]
const SHARED_FOLDER: [(&str, Dialect); 13] = [
    ("disallowed_tools", Tintinweb),
    ("prompt_mode", Tintinweb),
    ("max_turns", Tintinweb),
    ("display_name", Tintinweb),
    ("inherit_context", Tintinweb),
    ("run_in_background", Tintinweb),
    ("isolated", Tintinweb),
    ("allowed_subagents", Tintinweb),
    ("systemPromptMode", Nicobailon),
    ("inheritProjectContext", Nicobailon),
    ("inheritSkills", Nicobailon),
    ("defaultContext", Nicobailon),
    ("runner", Nicobailon),
];

/// Keys that restrict an agent in some tool. A file that has one where it means nothing is refused,
/// because its author meant to restrict.
const RESTRICTIONS: [&str; 9] = [
    "acceptanceRole",
    "disallowedTools",
    "disallowed_tools",
    "permission",
    "permissions",
    "permissionMode",
    "hooks",
    "readonly",
    "sandbox_mode",
];

/// Returns the meaning of a key, with the key as a constant.
pub(super) fn meaning_of(dialect: Dialect, key: &str) -> Option<(Meaning, &'static str)> {
    let mut rows = rows_of(dialect);
    rows.find(|row| row.key == key)
        .map(|row| (row.meaning, row.key))
}

/// Returns the restricting key that was probably meant by an unknown one.
pub(super) fn misspelt_restriction(dialect: Dialect, key: &str) -> Option<&'static str> {
    let known = rows_of(dialect).map(|row| row.key);
    let meant = nearest(key, known)?;
    let (meaning, meant) = meaning_of(dialect, meant)?;
    meaning.restricts().then_some(meant)
}

/// Returns whether a key restricts agents in some other tool.
pub(crate) fn is_restriction_elsewhere(key: &str) -> bool {
    RESTRICTIONS.contains(&key)
}

/// Returns the tool that has a key, if it is one of the two whose files lie in the folder of our
/// prompts. The runner of ours is a word, and theirs is a mapping.
pub(crate) fn shared_folder_dialect(key: &str, is_mapping: bool) -> Option<Dialect> {
    let found = SHARED_FOLDER.iter().find(|(known, _)| *known == key)?;
    (key != "runner" || is_mapping).then_some(found.1)
}

fn rows_of(dialect: Dialect) -> impl Iterator<Item = &'static KeyRow> {
    KEYS.iter().filter(move |row| row.of.contains(&dialect))
}

impl Meaning {
    /// Returns whether the key keeps an agent from something.
    pub(super) fn restricts(self) -> bool {
        matches!(
            self,
            Self::AllowedTools
                | Self::DeniedTools
                | Self::ToolSwitches
                | Self::Permissions
                | Self::PermissionMode
                | Self::ReadOnly
                | Self::SandboxMode
                | Self::AcceptanceRole
                | Self::Features
                | Self::Hooks
                | Self::Isolation
                | Self::Kind
                | Self::Runner
                | Self::Extensions
                | Self::ExcludedExtensions
                | Self::Isolated
                | Self::Disabled
                | Self::Enabled
                | Self::Mode
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_key_has_one_meaning_in_each_tool() {
        let mut seen = BTreeSet::new();
        for row in KEYS {
            for dialect in row.of {
                assert!(seen.insert((row.key, *dialect)), "{} {dialect:?}", row.key);
            }
        }
        for key in RESTRICTIONS {
            assert!(KEYS.iter().any(|row| row.key == key), "{key}");
        }
    }

    #[test]
    fn a_misspelt_restriction_is_found() {
        let meant = |key| misspelt_restriction(Claude, key);
        assert_eq!(meant("disallowed-tools"), Some("disallowedTools"));
        assert_eq!(meant("Hooks"), Some("hooks"));
        assert_eq!(meant("colour"), None);
    }
}
