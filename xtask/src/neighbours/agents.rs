//! The agents of others: their packages, the names of their tools, and the way to a scripted model.

/// An agent that is tried.
pub(super) struct Neighbour {
    /// The word for the runner.
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    pub(super) packages: &'static [&'static str],
    /// The call of its shell; `COMMAND` stands for the command.
    pub(super) shell: &'static str,
    /// The call of its tool that reads; `FILE` stands for the path.
    pub(super) read: &'static str,
    /// Our name for that tool. An agent without one reads with its shell.
    pub(super) reads_with: &'static str,
    /// The model that is named, if it needs one.
    pub(super) model: Option<&'static str>,
    /// Files of its settings below the home; `ADDRESS` stands for that of the model.
    pub(super) files: &'static [SettingsText],
}

/// A file of settings.
pub(super) struct SettingsText {
    pub(super) path: &'static str,
    pub(super) text: &'static str,
}

/// Variables that lead every agent to the scripted model. `URL` stands for its address with the
/// version, `ROOT` for the one without.
pub(super) const VARIABLES: [(&str, &str); 12] = [
    ("ANTHROPIC_API_KEY", "k"),
    ("ANTHROPIC_BASE_URL", "ROOT"),
    ("FAKE_KEY", "k"),
    ("OPENAI_API_KEY", "k"),
    ("OPENAI_BASE_URL", "URL"),
    ("OPENAI_MODEL", "fake-model"),
    ("GEMINI_API_KEY", "k"),
    ("GOOGLE_GEMINI_BASE_URL", "ROOT"),
    ("COPILOT_PROVIDER_BASE_URL", "URL"),
    ("COPILOT_PROVIDER_API_KEY", "k"),
    ("COPILOT_MODEL", "fake-model"),
    ("COPILOT_OFFLINE", "true"),
];

pub(super) const AGENTS: [Neighbour; 6] = [
    Neighbour {
        name: "claude",
        program: "claude-agent-acp",
        packages: &["@agentclientprotocol/claude-agent-acp"],
        shell: r#"{"name": "Bash", "arguments": {"command": "COMMAND", "description": "x"}}"#,
        read: r#"{"name": "Read", "arguments": {"file_path": "FILE"}}"#,
        reads_with: "read",
        model: None,
        files: &[],
    },
    Neighbour {
        name: "codex",
        program: "codex-acp",
        packages: &["@agentclientprotocol/codex-acp"],
        shell: r#"{"name": "exec_command", "arguments": {"cmd": "COMMAND"}}"#,
        read: r#"{"name": "exec_command", "arguments": {"cmd": "cat FILE"}}"#,
        reads_with: "bash",
        model: None,
        files: &[SettingsText {
            path: ".codex/config.toml",
            text: "model = \"fake-model\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"ADDRESS\"\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n",
        }],
    },
    Neighbour {
        name: "opencode",
        program: "opencode",
        packages: &["opencode-ai"],
        shell: r#"{"name": "bash", "arguments": {"command": "COMMAND", "description": "x"}}"#,
        read: r#"{"name": "read", "arguments": {"filePath": "FILE"}}"#,
        reads_with: "read",
        model: None,
        files: &[SettingsText {
            path: ".config/opencode/opencode.json",
            text: r#"{"model": "fake/fake-model", "small_model": "fake/fake-model", "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": "ADDRESS", "apiKey": "k"}, "models": {"fake-model": {"name": "fake"}}}}}"#,
        }],
    },
    Neighbour {
        name: "copilot",
        program: "copilot",
        packages: &["@github/copilot"],
        shell: r#"{"name": "bash", "arguments": {"command": "COMMAND", "description": "x", "sessionId": "a", "mode": "sync", "initial_wait": 60}}"#,
        read: r#"{"name": "view", "arguments": {"path": "FILE"}}"#,
        reads_with: "read",
        model: None,
        files: &[],
    },
    Neighbour {
        name: "gemini",
        program: "gemini",
        packages: &["@google/gemini-cli"],
        shell: r#"{"name": "run_shell_command", "arguments": {"command": "COMMAND", "description": "x"}}"#,
        read: r#"{"name": "read_file", "arguments": {"file_path": "FILE"}}"#,
        reads_with: "read",
        // With the model auto it looks for a network for a minute and a half.
        model: Some("gemini-2.5-flash"),
        files: &[],
    },
    Neighbour {
        name: "qwen",
        program: "qwen",
        packages: &["@qwen-code/qwen-code"],
        shell: r#"{"name": "run_shell_command", "arguments": {"command": "COMMAND", "description": "x", "is_background": false}}"#,
        read: r#"{"name": "read_file", "arguments": {"file_path": "FILE"}}"#,
        reads_with: "read",
        model: None,
        files: &[],
    },
];
