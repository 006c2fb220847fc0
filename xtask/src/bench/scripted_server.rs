//! The scripted LLM server of testkit, with and without encryption.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use super::stage::{Stage, shipped};
use crate::Outcome;
use crate::machine::program;

/// Whether the server can be asked over HTTPS too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    With,
    Without,
}

/// The scripted LLM server, which ends with its stdin.
pub(super) struct ScriptedServer {
    process: Child,
    /// The base URL without encryption, and that with it, if the server was asked to have one.
    urls: Vec<String>,
    /// The certificate that vouches for the server.
    pub(super) root: PathBuf,
}

impl ScriptedServer {
    /// Starts a server that says hello.
    pub(super) fn start(stage: &Stage, encryption: Encryption) -> Outcome<Self> {
        let script = r#"{"rules": [{"turns": [{"text": "Hello."}], "repeat": true}]}"#;
        Self::with(stage, script, encryption)
    }

    /// Starts a server with a script of its own.
    pub(super) fn with(stage: &Stage, script: &str, encryption: Encryption) -> Outcome<Self> {
        let root = stage.path("root.pem");
        let is_encrypted = encryption == Encryption::With;
        let mut process = program(shipped("llm-server")?)
            .arg(stage.write("llm.json", script)?)
            .args(is_encrypted.then_some(&root))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().ok_or("the server has no stdout")?;
        let lines = BufReader::new(stdout).lines();
        let urls = lines
            .take(1 + usize::from(is_encrypted))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            process,
            urls,
            root,
        })
    }

    /// Returns the `models.json` with a provider for each address: `fake`, and `encrypted`.
    pub(super) fn models_file(&self) -> String {
        let providers = ["fake", "encrypted"].iter().zip(&self.urls);
        let providers: Vec<String> = providers
            .map(|(name, url)| {
                format!(
                    r#""{name}": {{"baseUrl": "{url}", "api": "openai-completions", "apiKey": "test-key", "models": [{{"id": "fake-model"}}]}}"#
                )
            })
            .collect();
        format!(r#"{{"providers": {{{}}}}}"#, providers.join(", "))
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends with its stdin; there is nothing to do if it does not.
        _ = self.process.wait();
    }
}
