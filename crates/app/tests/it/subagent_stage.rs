//! The stage for the tests of the subagent family: a scripted model, definitions and calls.

use std::fs;
use std::path::PathBuf;

use pi_subagents_testkit::llm::{LlmServer, Script};
use pi_subagents_testkit::sandbox::{CommandOutput, SandboxCommand};
use serde_json::{Value, json};

use crate::real_pi::RealPi;
use crate::stage::Stage;

/// A stage whose model `fake/fake-model` plays a script.
pub(crate) struct SubagentStage {
    pub(crate) stage: Stage,
    pub(crate) server: LlmServer,
    /// The pi that its commands find.
    pi: Option<RealPi>,
}

impl SubagentStage {
    pub(crate) fn new(script: Script) -> Self {
        let stage = Stage::new();
        let server = LlmServer::start(script);
        stage.sandbox.models_json(&server.base_url());
        Self {
            stage,
            server,
            pi: None,
        }
    }

    /// A stage whose commands find a real pi.
    pub(crate) fn beside(pi: RealPi, script: Script) -> Self {
        Self {
            pi: Some(pi),
            ..Self::new(script)
        }
    }

    /// Writes a definition of the user.
    pub(crate) fn define(&self, folder: &str, name: &str, fields: &str, body: &str) {
        self.stage.sandbox.write(
            &format!("home/.pi/agent/{folder}/{name}.md"),
            &format!(
                "---\nname: {name}\ndescription: {name} of the tests\n{fields}\n---\n{body}\n"
            ),
        );
    }

    /// A preset with the scripted model.
    pub(crate) fn preset(&self, name: &str) {
        self.define(
            "subagents",
            name,
            "model: fake/fake-model",
            "You look around.",
        );
    }

    /// `run --file -` with this call, done by embedded children, with the details of the tool.
    pub(crate) fn call(&self, call: &Value) -> SandboxCommand {
        self.stage
            .command(&["run", "--file", "-", "--runner", "embedded", "--json"])
            .arg("--details")
            .stdin(call.to_string())
    }

    /// One task in a session, done by this kind of child; the answer as JSON.
    pub(crate) fn say(&self, runner: &str, session: &str, task: &str) -> Value {
        let flags = ["--runner", runner, "--session", session, "--json"];
        self.with_pi(self.stage.command(&["run", "scout", task]).args(flags))
            .run()
            .expect_success()
            .json()
    }

    /// Lets a command find the pi of this stage.
    pub(crate) fn with_pi(&self, command: SandboxCommand) -> SandboxCommand {
        match self.pi {
            Some(pi) => command
                .env("PI_SUBAGENTS_PI", pi.program())
                .env("PI_OFFLINE", "1"),
            None => command,
        }
    }

    /// Returns the role and the text of each message of the last request.
    pub(crate) fn last_messages(&self) -> Vec<(String, String)> {
        let messages = self.last_body()["messages"].clone();
        let messages = messages.as_array().unwrap().iter();
        messages
            .map(|message| {
                let said = match &message["content"] {
                    Value::String(text) => text.clone(),
                    parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
                };
                (message["role"].as_str().unwrap().to_owned(), said)
            })
            .collect()
    }

    /// Returns the messages of the last request, without the system prompt.
    pub(crate) fn last_conversation(&self) -> Vec<(String, String)> {
        let mut messages = self.last_messages();
        messages.retain(|(role, _)| role == "user" || role == "assistant");
        messages
    }

    /// The tools the model had in the last request.
    pub(crate) fn last_tools(&self) -> Vec<String> {
        let tools = self.last_body()["tools"].clone();
        let tools = tools.as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    }

    fn last_body(&self) -> Value {
        self.server.requests().pop().unwrap().body
    }

    /// The sticky files there are, without the directory of their cwd.
    pub(crate) fn sticky_files(&self) -> Vec<PathBuf> {
        let root = self.stage.sandbox.home().join(".pi/subagent-sessions");
        let directories = fs::read_dir(root).into_iter().flatten().flatten();
        let files = directories.flat_map(|entry| fs::read_dir(entry.path()).unwrap());
        let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

/// One task for the preset `scout`.
pub(crate) fn scout(task: &str) -> Value {
    json!({"preset": "scout", "task": task})
}

/// Returns the text for the caller's model.
pub(crate) fn text(output: &CommandOutput) -> String {
    let answer = output.json();
    answer["text"].as_str().unwrap().to_owned()
}
