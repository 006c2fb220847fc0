//! The paths that a child in a sandbox must not see: keys, tokens and conversations of the user.

use std::path::{Path, PathBuf};

use super::Sandbox;

/// The paths in the home that every sandbox hides.
pub const HIDDEN_IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".password-store",
    ".docker/config.json",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".config/git/credentials",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".mozilla",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".config/github-copilot",
    ".cursor/mcp.json",
    ".gemini",
    ".local/share/opencode/auth.json",
    ".qwen/oauth_creds.json",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".lesshst",
    ".viminfo",
];

/// The paths in the agent directory that every sandbox hides.
pub const HIDDEN_IN_AGENT_DIR: &[&str] = &[
    "auth.json",
    "models.json",
    "mcp.json",
    "mcp-auth.json",
    "mcp.log",
    "mcp.log.1",
    "sessions",
    "subagents/runs",
];

/// Returns whether an entry of the agent directory is our own: tokens of the page and of the MCP
/// server, keys of a fleet, lists of all runs. A child needs none of them, and with a token it could
/// start runs outside of its sandbox.
pub fn is_for_us_alone(entry: &str) -> bool {
    entry.starts_with("subagents-") || entry.strip_suffix(".nk").is_some()
}

/// Returns the paths that a sandbox hides on this machine: those that are always hidden and its own,
/// without those that it may read.
pub fn hidden_paths(
    sandbox: &Sandbox,
    home: &Path,
    agent_dir: &Path,
    runtime_dir: Option<&Path>,
) -> Vec<PathBuf> {
    let absolute = |path: &String| Sandbox::absolute(path, home);
    let readable: Vec<PathBuf> = sandbox.readable.iter().filter_map(absolute).collect();
    let in_home = HIDDEN_IN_HOME.iter().map(|path| home.join(path));
    let of_agent = HIDDEN_IN_AGENT_DIR.iter().map(|path| agent_dir.join(path));
    let usual = in_home
        .chain(of_agent)
        .chain(runtime_dir.map(Path::to_owned))
        .filter(|path| !readable.contains(path));
    // A path that somebody hides by hand stays hidden, whoever wants to read it.
    usual
        .chain(sandbox.hidden.iter().filter_map(absolute))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_tokens_and_keys_are_for_us_alone() {
        for entry in ["subagents-web-token", "subagents-mcp-token", "fleet-ada.nk"] {
            assert!(is_for_us_alone(entry), "{entry}");
        }
        for entry in ["settings.json", "subagents", "skills"] {
            assert!(!is_for_us_alone(entry), "{entry}");
        }
    }

    #[test]
    fn a_path_is_taken_from_the_hidden_ones_and_others_are_added() {
        let sandbox = Sandbox {
            readable: vec!["~/.npmrc".to_owned(), "~/.aws".to_owned()],
            hidden: vec!["~/notes".to_owned(), "~/.aws".to_owned()],
            ..Sandbox::default()
        };
        let home = Path::new("/home/ada");
        let hidden = hidden_paths(&sandbox, home, &home.join(".pi/agent"), None);
        let has = |path: &str| hidden.contains(&home.join(path));
        assert!(has(".ssh") && has(".pi/agent/auth.json") && has("notes") && has(".aws"));
        assert!(!has(".npmrc"));
    }
}
