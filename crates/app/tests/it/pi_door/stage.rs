//! A pi with our package, whose model is a scripted server, as is the model of its sub-agents.

use std::fs;
use std::path::{Path, PathBuf};

use pi_subagents_testkit::llm::{LlmServer, Rule, Script, Turn};
use pi_subagents_testkit::sandbox::{Sandbox, SandboxCommand};
use serde_json::{Value, json};

use crate::agent_stage::Rpc;
use crate::real_pi::RealPi;

/// The kinds of children; the rules for one must hold for the other.
pub(crate) const RUNNERS: [&str; 2] = ["embedded", "pi"];

/// A sandbox in which pi has our package.
pub(crate) struct PiDoor {
    pi: RealPi,
    pub(crate) sandbox: Sandbox,
    pub(crate) server: LlmServer,
}

impl PiDoor {
    /// Installs the package for a pi whose sub-agents are of this kind; the script is theirs.
    pub(crate) fn new(pi: RealPi, runner: &str, script: Script) -> Self {
        let door = Self {
            pi,
            sandbox: Sandbox::new(),
            server: LlmServer::start(script),
        };
        door.sandbox.models_json(&door.server.base_url());
        let settings = json!({
            "defaultProvider": "fake", "defaultModel": "fake-model",
            "packages": [package()],
            "subagents": {"runner": runner},
        });
        door.sandbox
            .write("home/.pi/agent/settings.json", &settings.to_string());
        door
    }

    /// The real pi with these arguments.
    pub(crate) fn pi(&self, arguments: &[&str]) -> SandboxCommand {
        self.sandbox
            .command(&self.pi.program())
            .args(arguments)
            .env("PI_OFFLINE", "1")
            .env("PI_SUBAGENTS_BIN", env!("CARGO_BIN_EXE_pi-subagents"))
    }

    /// A pi that is driven by its protocol.
    pub(crate) fn parent(&self, arguments: &[&str]) -> Parent<'_> {
        self.parent_of(self.pi(&["--mode", "rpc"]).args(arguments))
    }

    pub(crate) fn parent_of(&self, command: SandboxCommand) -> Parent<'_> {
        Parent {
            door: self,
            rpc: Rpc::start(command),
            settled: 0,
        }
    }

    /// Changes the user's settings.
    pub(crate) fn change_settings(&self, change: impl Fn(&mut Value)) {
        let file = self.sandbox.agent_dir().join("settings.json");
        let text = fs::read_to_string(&file).unwrap();
        let mut settings: Value = serde_json::from_str(&text).unwrap();
        change(&mut settings);
        fs::write(file, settings.to_string()).unwrap();
    }

    /// Our command line in the same place.
    pub(crate) fn command(&self, arguments: &[&str]) -> SandboxCommand {
        self.sandbox
            .command(Path::new(env!("CARGO_BIN_EXE_pi-subagents")))
            .args(arguments)
    }

    /// Lets the model of the parent call a tool when it reads the returned words.
    pub(crate) fn script_call(&self, tool: &str, arguments: Value) -> String {
        let words = format!("Call number {}, please.", self.server.requests().len());
        self.server.add(Rule {
            user: Some(words.clone()),
            turns: vec![Turn::tool_call(tool, arguments), Turn::text("Called.")],
            ..Rule::default()
        });
        words
    }
}

/// The folder that users install.
pub(crate) fn package() -> PathBuf {
    let app = Path::new(env!("CARGO_MANIFEST_DIR"));
    app.ancestors().nth(2).unwrap().join("extension")
}

/// A pi in RPC mode.
pub(crate) struct Parent<'a> {
    door: &'a PiDoor,
    pub(crate) rpc: Rpc,
    /// The number of times that it has settled.
    settled: usize,
}

/// The answer of a tool to the parent's model.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) details: Value,
    pub(crate) usage: Value,
}

impl Parent<'_> {
    /// Lets the model call a tool, and waits for the tool's answer.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        self.begin(tool, arguments);
        self.settle()
    }

    /// Lets the model call a tool.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) {
        let words = self.door.script_call(tool, arguments);
        self.rpc.prompt(&words);
    }

    /// Waits until the end of a turn in which the model calls no tool.
    #[track_caller]
    pub(crate) fn pass_turn(&mut self) {
        self.settled += 1;
        self.rpc.wait_for_settled(self.settled);
    }

    /// Waits until the turn has finished, and returns the answer of the last tool.
    #[track_caller]
    pub(crate) fn settle(&mut self) -> Answer {
        self.pass_turn();
        let events = self.rpc.events();
        let result = |event: &&Value| {
            event["type"] == "message_end" && event["message"]["role"] == "toolResult"
        };
        let found = events.iter().rev().find(result);
        let message = &found.unwrap_or_else(|| panic!("no tool was called"))["message"];
        Answer {
            text: message["content"][0]["text"].as_str().unwrap().to_owned(),
            is_error: message["isError"] == true,
            details: message["details"].clone(),
            usage: message["usage"].clone(),
        }
    }

    /// The file of its session.
    #[track_caller]
    pub(crate) fn session_file(&mut self) -> String {
        let state = self.rpc.ask(&json!({"type": "get_state"}));
        state["data"]["sessionFile"].as_str().unwrap().to_owned()
    }

    /// The process of the parent.
    pub(crate) fn pid(&self) -> u32 {
        self.rpc.running().pid()
    }
}

impl Answer {
    /// The session ids of a delegation, in the order of its tasks.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let ids = self.details["sessionIds"].as_array().unwrap();
        ids.iter()
            .map(|id| id.as_str().unwrap().to_owned())
            .collect()
    }
}
