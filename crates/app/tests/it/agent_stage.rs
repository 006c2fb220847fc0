//! The stage for the tests of the embedded agent: a scripted server in one of the four wire
//! formats, and our binary as an agent that is driven over pi's protocol.

use std::cell::{Cell, Ref, RefCell};
use std::path::PathBuf;
use std::time::Duration;

use pi_subagents_testkit::llm::{LlmServer, Script};
use pi_subagents_testkit::sandbox::{RunningCommand, Sandbox, SandboxCommand};
use pi_subagents_testkit::wait_until;
use serde_json::{Value, json};

/// Pi's names of the wire formats.
pub(crate) const FORMATS: [&str; 4] = [
    "openai-completions",
    "openai-responses",
    "anthropic-messages",
    "google-generative-ai",
];

const PATIENCE: Duration = Duration::from_mins(2);

/// A sandbox whose model `fake/fake-model` is a scripted server.
pub(crate) struct AgentStage {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: LlmServer,
}

impl AgentStage {
    pub(crate) fn new(api: &str, script: Script) -> Self {
        let stage = Self {
            sandbox: Sandbox::new(),
            server: LlmServer::start(script),
        };
        stage.models(api, 128_000);
        // An agent that ignores the pause of the server waits for a minute.
        stage.settings(&json!({}));
        stage
    }

    /// Makes the server the default model, with a context of this size.
    pub(crate) fn models(&self, api: &str, window: u64) {
        let model = |id: &str| {
            json!({
                "id": id, "name": id, "reasoning": true, "input": ["text", "image"],
                "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
                "contextWindow": window, "maxTokens": 16_384,
            })
        };
        let models = json!({"providers": {"fake": {
            "baseUrl": self.server.base_url(), "api": api, "apiKey": "test-key",
            "models": [model("fake-model"), model("other-model")],
        }}});
        self.sandbox
            .write("home/.pi/agent/models.json", &models.to_string());
    }

    /// Writes the settings, with retries that do not wait.
    pub(crate) fn settings(&self, more: &Value) {
        let mut settings = json!({
            "defaultProvider": "fake", "defaultModel": "fake-model",
            "retry": {"baseDelayMs": 1},
        });
        if let (Some(settings), Some(more)) = (settings.as_object_mut(), more.as_object()) {
            settings.extend(more.clone());
        }
        self.sandbox
            .write("home/.pi/agent/settings.json", &settings.to_string());
    }

    /// `pi-subagents embedded` with these flags.
    pub(crate) fn command(&self, flags: &[&str]) -> SandboxCommand {
        self.sandbox
            .command(&PathBuf::from(env!("CARGO_BIN_EXE_pi-subagents")))
            .arg("embedded")
            .args(flags)
    }

    /// Starts the agent in RPC mode, without a session file.
    pub(crate) fn agent(&self, flags: &[&str]) -> Rpc {
        Rpc::start(self.command(&["--mode", "rpc", "--no-session"]).args(flags))
    }

    /// Answers one prompt and returns the events.
    pub(crate) fn prompt(&self, flags: &[&str], prompt: &str) -> Vec<Value> {
        let mut agent = self.agent(flags);
        agent.prompt(prompt);
        agent.wait_for(|event| event["type"] == "agent_settled");
        agent.finish()
    }
}

/// A client of pi's protocol.
pub(crate) struct Rpc {
    running: RunningCommand,
    /// The events that it has printed, as far as they were read.
    events: RefCell<Vec<Value>>,
    bytes_read: Cell<usize>,
}

impl Rpc {
    pub(crate) fn start(command: SandboxCommand) -> Self {
        Self {
            running: command.spawn(),
            events: RefCell::default(),
            bytes_read: Cell::default(),
        }
    }

    pub(crate) fn send(&mut self, command: &Value) {
        assert!(self.running.write_line(&command.to_string()));
    }

    pub(crate) fn prompt(&mut self, message: &str) {
        self.send(&json!({"type": "prompt", "message": message}));
    }

    /// Sends a command and returns the answer to it.
    #[track_caller]
    pub(crate) fn ask(&mut self, command: &Value) -> Value {
        let mut command = command.clone();
        let id = format!("ask-{}", self.events().len());
        command["id"] = json!(id);
        self.send(&command);
        self.wait_for(|event| event["type"] == "response" && event["id"] == id.as_str())
    }

    /// Returns the events that were printed so far, whole lines only.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.read().clone()
    }

    /// Reads the events since the last read.
    fn read(&self) -> Ref<'_, Vec<Value>> {
        let text = self.running.stdout();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let begun = self.bytes_read.replace(whole);
        self.events.borrow_mut().extend(
            text[begun..whole]
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap()),
        );
        self.events.borrow()
    }

    /// The process that is driven.
    pub(crate) fn running(&self) -> &RunningCommand {
        &self.running
    }

    /// Waits for an event and returns it.
    #[track_caller]
    pub(crate) fn wait_for(&self, is_meant: impl Fn(&Value) -> bool) -> Value {
        let found = wait_until(PATIENCE, || {
            self.read().iter().find(|event| is_meant(event)).cloned()
        });
        found.unwrap_or_else(|| {
            panic!(
                "it did not come:\n{}\n{}",
                self.running.stdout(),
                self.running.stderr()
            )
        })
    }

    /// Waits until the agent has settled this number of times.
    #[track_caller]
    pub(crate) fn wait_for_settled(&self, times: usize) {
        let settled = || {
            let events = self.read();
            let count = events
                .iter()
                .filter(|event| event["type"] == "agent_settled");
            (count.count() >= times).then_some(())
        };
        assert!(
            wait_until(PATIENCE, settled).is_some(),
            "{}",
            self.running.stdout()
        );
    }

    /// Closes the input, which ends the agent, and returns all events.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Vec<Value> {
        self.running.close_stdin();
        let output = self.running.wait().expect_success();
        output.json_lines()
    }
}

/// The answers of the model, as they were at their end.
pub(crate) fn answers(events: &[Value]) -> Vec<&Value> {
    events
        .iter()
        .filter(|event| event["type"] == "message_end" && event["message"]["role"] == "assistant")
        .map(|event| &event["message"])
        .collect()
}

/// The events of one type.
pub(crate) fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect()
}
