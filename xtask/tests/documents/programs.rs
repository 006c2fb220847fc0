//! The programs that documents name.

/// Programs that the typed commands may begin with.
const OURS: [&str; 14] = [
    "pi-subagents",
    "git",
    "jq",
    "cat",
    "cd",
    "echo",
    "export",
    "for",
    "grep",
    "if",
    "ls",
    "mkdir",
    "printf",
    "summary",
];

/// Programs of others: their lines are shown, and no test installs anything or asks a network.
const OF_OTHERS: [&str; 40] = [
    "brew",
    "cargo",
    "claude",
    "code",
    "codex",
    "copilot",
    "curl",
    "docker",
    "gemini",
    "gh",
    "journalctl",
    "kubectl",
    "loginctl",
    "mcp-inspector",
    "nats",
    "nats-server",
    "node",
    "npm",
    "npx",
    "openssl",
    "opencode",
    "pi",
    "pip",
    "podman",
    "python",
    "python3",
    "qwen",
    "rm",
    "rustup",
    "sh",
    "ssh",
    "sudo",
    "systemctl",
    "systemd-run",
    "tar",
    "tmux",
    "uv",
    "watch",
    "xdg-open",
    "zed",
];

/// Whether a command is typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ours,
    OfOthers,
    Unknown(String),
}

/// Judges a command by the first word behind its variables.
pub(crate) fn verdict(command: &str) -> Verdict {
    let mut words = command.split_whitespace();
    let is_setting = |word: &str| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty()
            && name
                .chars()
                .all(|one| one.is_ascii_uppercase() || one == '_')
    };
    let first = words
        .find(|word| !is_setting(word) && *word != "{")
        .unwrap_or_default();
    let name = first.split('=').next().unwrap_or_default();
    if OURS.contains(&name) {
        Verdict::Ours
    } else if OF_OTHERS.contains(&name) {
        Verdict::OfOthers
    } else {
        Verdict::Unknown(first.to_owned())
    }
}

#[test]
fn variables_before_a_program_are_passed_over() {
    assert_eq!(verdict("PI_SUBAGENTS_LOG=debug pi"), Verdict::OfOthers);
    assert_eq!(verdict("summary=$(pi-subagents run x)"), Verdict::Ours);
    assert_eq!(
        verdict("frobnicate x"),
        Verdict::Unknown("frobnicate".to_owned())
    );
}
