//! The directories of a sandbox.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use super::command::SandboxCommand;
use super::leftovers;
use super::normalise::Normaliser;
use crate::program_file;

/// A temporary directory with a home, an agent directory and a project. When it is dropped, the
/// processes of its home are ended and it is removed.
#[derive(Debug)]
pub struct Sandbox {
    root: PathBuf,
    normaliser: Normaliser,
    _directory: TempDir,
}

impl Sandbox {
    /// Makes a sandbox whose project is a plain directory.
    #[expect(
        clippy::new_without_default,
        reason = "a value that makes directories should not look like a cheap default"
    )]
    pub fn new() -> Self {
        // Not `TMPDIR`: the path of a unix socket in the sandbox must stay under 108 bytes.
        let directory = tempfile::Builder::new()
            .prefix("pi-")
            .tempdir_in("/tmp")
            .expect("a temporary directory");
        let root = directory
            .path()
            .canonicalize()
            .expect("the path of the sandbox");
        let sandbox = Self {
            normaliser: Normaliser::new(&root),
            root,
            _directory: directory,
        };
        for place in [
            sandbox.agent_dir(),
            sandbox.project(),
            sandbox.runtime_dir(),
        ] {
            fs::create_dir_all(&place).expect("a directory of the sandbox");
        }
        fs::set_permissions(sandbox.runtime_dir(), Permissions::from_mode(0o700))
            .expect("the permissions of the runtime directory");
        leftovers::claim(&sandbox.root);
        sandbox
    }

    /// Makes a sandbox whose project is a git repository without a commit.
    pub fn with_git() -> Self {
        let sandbox = Self::new();
        let output = sandbox
            .command(Path::new("git"))
            .args(["init", "--quiet", "--initial-branch=main"])
            .run();
        assert_eq!(output.code, Some(0), "git init failed:\n{output}");
        sandbox.write(
            "home/.gitconfig",
            "[user]\n\tname = Test\n\temail = test@example.invalid\n",
        );
        sandbox
    }

    /// Returns the directory that holds all others.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the home directory.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Returns pi's agent directory, `home/.pi/agent`.
    pub fn agent_dir(&self) -> PathBuf {
        self.home().join(".pi/agent")
    }

    /// Returns the project, where commands run.
    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Returns the value of `XDG_RUNTIME_DIR`.
    pub fn runtime_dir(&self) -> PathBuf {
        self.root.join("run")
    }

    /// Writes a file, named relative to the root (`project/src/a.rs`), and returns its path.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.join(path);
        let parent = path.parent().expect("a file in a directory");
        fs::create_dir_all(parent).expect("the directory of the file");
        fs::write(&path, text).expect("a file of the sandbox");
        path
    }

    /// Writes a script that can be run, named relative to the root, and returns its path.
    pub fn program(&self, path: &str, script: &str) -> PathBuf {
        let path = self.root.join(path);
        let parent = path.parent().expect("a file in a directory");
        fs::create_dir_all(parent).expect("the directory of the program");
        program_file::write(&path, script);
        path
    }

    /// Makes the model `fake/fake-model` at `base_url` (OpenAI chat completions) the default.
    pub fn models_json(&self, base_url: &str) {
        self.models_json_for("openai-completions", base_url);
    }

    /// Makes the model `fake/fake-model`, which has the format `api` at `base_url`, the default.
    ///
    /// `api` is a word of pi's `models.json`, such as `anthropic-messages`. The key is `test-key`;
    /// a million tokens cost 3 dollars in, 15 out, 0.3 read from and 3.75 written to the cache.
    pub fn models_json_for(&self, api: &str, base_url: &str) {
        let models = json!({"providers": {"fake": {
            "baseUrl": base_url,
            "api": api,
            "apiKey": "test-key",
            "models": [{
                "id": "fake-model",
                "name": "Fake Model",
                "reasoning": false,
                "input": ["text"],
                "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
                "contextWindow": 128_000,
                "maxTokens": 16_384,
            }],
        }}});
        let settings = json!({"defaultProvider": "fake", "defaultModel": "fake-model"});
        self.write("home/.pi/agent/models.json", &format!("{models:#}\n"));
        self.write("home/.pi/agent/settings.json", &format!("{settings:#}\n"));
    }

    /// Begins a command that will run in the project with the sandbox's environment only.
    pub fn command(&self, bin: &Path) -> SandboxCommand {
        SandboxCommand::new(bin, self, self.normaliser.clone())
    }

    /// Replaces the parts of a text that differ from run to run, as [`super::CommandOutput`] does.
    pub fn normalise(&self, text: &str) -> String {
        self.normaliser.normalise(text)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        leftovers::end_all(&self.root);
    }
}
