//! A model that plays a script, behind the address of a provider on this machine.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use super::home::Home;
use crate::Outcome;
use crate::machine::{program, target};

const SETTINGS: &str = r#"{"defaultProvider": "fake", "defaultModel": "fake-model", "subagents": {"runner": "embedded"}}"#;

/// The scripted model server, which ends with its stdin.
pub(super) struct ScriptedModel {
    process: Child,
    url: String,
}

impl ScriptedModel {
    /// Returns whether the server was built.
    pub(super) fn is_here() -> Outcome<bool> {
        Ok(server()?.exists())
    }

    /// Starts a server that plays this script, and makes its model the default of a home.
    pub(super) fn start(home: &Home, script: &str) -> Outcome<Self> {
        let mut process = program(server()?)
            .arg(home.write("llm.json", script)?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().ok_or("the server has no stdout")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        let url = url.trim().trim_end_matches("/v1").to_owned();
        let model = Self { process, url };
        home.write("home/.pi/agent/settings.json", SETTINGS)?;
        home.write("home/.pi/agent/models.json", &model.entry())?;
        Ok(model)
    }

    /// Returns the address without the path of a wire format.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the entry of the model for pi's `models.json`.
    fn entry(&self) -> String {
        format!(
            r#"{{"providers": {{"fake": {{"baseUrl": "{}/v1", "api": "openai-completions", "apiKey": "test-key", "models": [{{"id": "fake-model"}}]}}}}}}"#,
            self.url
        )
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends with its stdin; there is nothing to do if it does not.
        _ = self.process.wait();
    }
}

/// Returns the place of the server, which `cargo xtask test` builds.
fn server() -> Outcome<PathBuf> {
    Ok(target()?.join("debug/llm-server"))
}
