//! Files of Claude Code.

use super::{AgentFile, Form};

const FORM: Form = Form {
    folder: ".claude/agents",
    prefix: "claude",
};

pub(super) fn files() -> Vec<AgentFile> {
    let mut files: Vec<AgentFile> = FORMS
        .iter()
        .map(|(name, fields)| FORM.markdown(name, fields))
        .collect();
    files.extend(odd());
    files
}

/// The forms of the frontmatter, each with a name.
const FORMS: [(&str, &str); 33] = [
    (
        "every-key",
        "tools: Read, Bash\nmodel: inherit\neffort: high\npermissionMode: acceptEdits\nmcpServers:\n  - github\n  - docs:\n      command: docs-server\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./stop.sh\nmaxTurns: 12\nautoCompactWindow: 100000\nmemory: project\nbackground: true\nomitClaudeMd: true\nisolation: worktree\ninitialPrompt: Begin.\nobserver: true\ncolor: blue\nexperimental: {}\nsurprise: 1",
    ),
    (
        "every-tool",
        "tools: Read, NotebookRead, Write, Edit, MultiEdit, NotebookEdit, Bash, Grep, Glob, LS, WebFetch, WebSearch, TodoWrite, Skill, Task, Agent, BashOutput, KillShell, mcp__github__search, mcp__docs",
    ),
    ("tools-absent", "color: red"),
    ("tools-list", "tools: [Read, Grep]"),
    ("tools-lines", "tools:\n  - Read\n  - Glob"),
    ("tools-lowercase", "tools: read, bash"),
    ("tools-spaces", "tools: Read Grep Bash"),
    ("tools-none", "tools: []"),
    ("tools-empty", "tools:"),
    ("tools-empty-text", "tools: \"\""),
    ("tools-unknown", "tools: WebFetch, mcp__x__y"),
    ("tools-mapping", "tools:\n  Bash: true"),
    ("tools-part", "tools: Read, Bash(git add:*, git log:*)"),
    ("tools-part-only", "tools: Bash(git:*)"),
    ("denied", "disallowedTools: Bash"),
    (
        "denied-of-allowed",
        "tools: Read, Bash\ndisallowedTools: [Bash, WebFetch]",
    ),
    ("denied-all", "tools: Bash\ndisallowedTools: Bash"),
    ("denied-part", "disallowedTools: Bash(rm:*)"),
    ("plan", "permissionMode: plan"),
    (
        "plan-of-tools",
        "permissionMode: plan\ntools: Read, Bash, Grep, mcp__docs__search\nmcpServers:\n  docs:\n    command: docs-server",
    ),
    ("plan-of-shell", "permissionMode: plan\ntools: Bash"),
    ("turns", "maxTurns: 7"),
    ("turns-odd", "maxTurns: many"),
    ("mode-unknown", "permissionMode: sometimes"),
    (
        "hook-before-tool",
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: ./check.sh}]",
    ),
    ("hook-permission", "hooks:\n  PermissionRequest: []"),
    ("remote", "isolation: remote"),
    ("misspelt", "dissallowedTools: Bash"),
    ("of-another-tool", "readonly: true"),
    ("effort-number", "effort: 3"),
    ("model-alias", "model: sonnet"),
    ("model-id", "model: claude-sonnet-4-5-20250929[1m]"),
    ("skills", "skills: [testing, git]"),
];

/// Files whose frontmatter is not YAML, and files with odd names.
fn odd() -> Vec<AgentFile> {
    let whole = |path: &str, name: &str, text: &str| FORM.file(path, name, text.to_owned());
    vec![
        whole(
            "odd-colon.md",
            "odd-colon",
            "---\nname: odd-colon\ndescription: Use when: tests fail. Examples: <example>user: \"go\"</example>\ntools: Read, Bash\nmodel: inherit\n---\nYou test.\n",
        ),
        whole(
            "odd-lines.md",
            "odd-lines",
            "---\nname: odd-lines\ndescription: \"Says \"hello\" to you\n  and more: here\"\ntools:\n  - Read\n---\nYou test.\n",
        ),
        whole(
            "odd-list.md",
            "odd-list",
            "---\nname: odd-list\ndescription: a: b\ntools: [Read, \"Grep\"]\n---\nYou test.\n",
        ),
        whole(
            "odd-hooks.md",
            "odd-hooks",
            "---\nname: odd-hooks\ndescription: a: b\nhooks:\n  Stop: []\n---\nYou test.\n",
        ),
        whole(
            "odd-twice.md",
            "odd-twice",
            "---\nname: odd-twice\ntools: Read\ntools: Bash\n---\nYou test.\n",
        ),
        whole(
            "odd-crlf.md",
            "odd-crlf",
            "\u{feff}---\r\nname: odd-crlf\r\ndescription: Windows\r\ntools: Read\r\n---\r\nYou test.\r\nTwice.\r\n",
        ),
        whole(
            "deep/folder/odd-deep.md",
            "odd-deep",
            "---\nname: odd-deep\ndescription: In a folder\n---\nYou test.\n",
        ),
        whole(
            "odd-name.md",
            "Code Reviewer (senior)",
            "---\nname: Code Reviewer (senior)\ndescription: Has spaces\n---\nYou test.\n",
        ),
        whole(
            "odd-number.md",
            "007",
            "---\nname: 007\ndescription: A number\n---\nYou test.\n",
        ),
        whole(
            "odd-nameless.md",
            "odd-nameless",
            "---\ndescription: No name\n---\nYou test.\n",
        ),
        whole("README.md", "README", "# Agents\n\nNot an agent.\n"),
    ]
}
