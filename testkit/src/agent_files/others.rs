//! Files of Codex, opencode, Gemini CLI and Cursor.

use super::{AgentFile, Form};

const CODEX: Form = Form {
    folder: ".codex/agents",
    prefix: "codex",
};
const OPENCODE: Form = Form {
    folder: ".config/opencode/agents",
    prefix: "opencode",
};
const GEMINI: Form = Form {
    folder: ".gemini/agents",
    prefix: "gemini",
};
const CURSOR: Form = Form {
    folder: ".cursor/agents",
    prefix: "cursor",
};

const CODEX_FORMS: [(&str, &str); 7] = [
    (
        "every-key",
        "model_reasoning_effort = \"none\"\nmodel_reasoning_summary = \"auto\"\nmodel_verbosity = \"low\"\nnickname_candidates = [\"ada\"]\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n[mcp_servers.docs]\ncommand = \"docs-server\"\n[[skills.config]]\npath = \"x\"\nenabled = false",
    ),
    ("read-only", "sandbox_mode = \"read-only\""),
    ("workspace", "sandbox_mode = \"workspace-write\""),
    ("no-shell", "[features]\nshell_tool = false"),
    ("model", "model = \"gpt-5\""),
    ("twice", "name = \"again\""),
    ("unknown", "surprise = 1"),
];

const OPENCODE_FORMS: [(&str, &str); 20] = [
    (
        "every-key",
        "mode: subagent\nmodel: inherit\nvariant: high\ntemperature: 0.1\ntop_p: 0.9\nsteps: 20\nhidden: true\ncolor: '#ff0000'\npermission: allow\nreasoningSummary: auto",
    ),
    ("old-steps", "maxSteps: 5\nreasoningEffort: low"),
    ("mode-all", "mode: all"),
    ("primary", "mode: primary"),
    ("disabled", "disable: true"),
    (
        "switches",
        "tools:\n  write: false\n  bash: false\n  webfetch: false\n  read: true",
    ),
    ("switch-all", "tools: {'*': false}"),
    ("deny-edit", "permission:\n  edit: deny"),
    ("deny-bash", "permission: {bash: deny}"),
    ("ask-bash", "permission: {bash: ask}"),
    (
        "part-bash",
        "permission:\n  bash:\n    '*': ask\n    'git diff*': allow",
    ),
    ("whole-bash", "permission: {bash: {'*': allow}}"),
    ("deny-all", "permission: deny"),
    (
        "only-read",
        "permission: {'*': deny, read: allow, grep: allow}",
    ),
    ("last-counts", "permission: {read: allow, '*': deny}"),
    (
        "every-name",
        "permission: {read: deny, edit: allow, bash: allow, grep: deny, glob: deny, list: deny, webfetch: deny, websearch: deny, task: deny, skill: deny, todowrite: deny, doom_loop: ask}",
    ),
    ("inside", "permission: {external_directory: deny}"),
    ("word", "permission: {bash: perhaps}"),
    ("prompt", "prompt: You are in the key."),
    ("model", "model: anthropic/claude-sonnet-4-5"),
];

const GEMINI_FORMS: [(&str, &str); 6] = [
    (
        "every-key",
        "kind: local\ndisplay_name: Shown\ntools: [read_file, 'mcp_docs_*']\nmcpServers:\n  docs:\n    command: docs-server\nmodel: inherit\ntemperature: 0.2\nmax_turns: 30\ntimeout_mins: 10",
    ),
    (
        "every-tool",
        "tools:\n  - read_file\n  - read_many_files\n  - write_file\n  - replace\n  - run_shell_command\n  - grep_search\n  - search_file_content\n  - glob\n  - list_directory\n  - google_web_search\n  - save_memory\n  - write_todos\n  - mcp_*",
    ),
    ("tools-all", "tools: ['*']"),
    ("tools-read", "tools: [read_file, glob]"),
    ("remote", "kind: remote"),
    ("model", "model: gemini-3-pro-preview"),
];

const CURSOR_FORMS: [(&str, &str); 3] = [
    (
        "every-key",
        "model: inherit\nreadonly: false\nis_background: true",
    ),
    ("read-only", "readonly: true"),
    ("fast", "model: fast"),
];

pub(super) fn files() -> Vec<AgentFile> {
    let mut files: Vec<AgentFile> = CODEX_FORMS.iter().map(codex).collect();
    for (form, cases) in [
        (OPENCODE, &OPENCODE_FORMS[..]),
        (GEMINI, &GEMINI_FORMS),
        (CURSOR, &CURSOR_FORMS),
    ] {
        let markdown = |(name, fields): &(&str, &str)| form.markdown(name, fields);
        files.extend(cases.iter().map(markdown));
    }
    files.push(OPENCODE.file(
        "deep/opencode-pat.md",
        "deep/opencode-pat",
        "---\ndescription: In a folder\n---\nYou test.\n".to_owned(),
    ));
    files.push(CURSOR.file(
        "cursor-nameless.md",
        "cursor-nameless",
        "---\ndescription: Named by its file\n---\nYou test.\n".to_owned(),
    ));
    files
}

fn codex((name, fields): &(&str, &str)) -> AgentFile {
    let name = format!("codex-{name}");
    let text = format!(
        "name = \"{name}\"\ndescription = \"Tests {name}\"\ndeveloper_instructions = \"\"\"\nYou test {name}.\nTwice.\"\"\"\n{fields}\n"
    );
    CODEX.file(&format!("{name}.toml"), &name, text)
}
