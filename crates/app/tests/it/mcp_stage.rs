//! The official MCP client for Python with our binary as its server, and that server alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_testkit::process::{descendants, parent};
use pi_subagents_testkit::sandbox::{CommandOutput, RunningCommand, SandboxCommand};
use pi_subagents_testkit::{wait_for_file, wait_until};
use serde_json::{Value, json};

use crate::stage::{Stage, call};

pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A client that is connected to our server.
pub(crate) struct McpClient {
    running: RunningCommand,
}

impl McpClient {
    /// Starts the client and the server; `mode` is how they begin: `legacy` with `initialize`,
    /// `auto` as the newest version of the protocol does.
    pub(crate) fn start(stage: &Stage, mode: &str, flags: &[&str]) -> Self {
        Self::start_as(stage, &json!({"mode": mode}), flags)
    }

    /// Starts a client that knows more: `tasks`, `roots`, and an `answer` to every question.
    pub(crate) fn start_as(stage: &Stage, kind: &Value, flags: &[&str]) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_client.py");
        let command = stage
            .sandbox
            .command(&python())
            .arg(script)
            .arg(kind.to_string())
            .args([env!("CARGO_BIN_EXE_pi-subagents"), "mcp"])
            .args(flags)
            .env("PI_SUBAGENTS_PI", pi_subagents_testkit::bin("misbehave"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        Self {
            running: command.spawn(),
        }
    }

    /// Starts a client of a server that listens at this address.
    pub(crate) fn over_http(stage: &Stage, mode: &str, url: &str, token: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_client.py");
        let command = stage
            .sandbox
            .command(&python())
            .arg(script)
            .arg(json!({"mode": mode}).to_string())
            .arg(url)
            .env("MCP_TOKEN", token)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        Self {
            running: command.spawn(),
        }
    }

    /// Lets the client list the resources and read them all, and returns them.
    pub(crate) fn resources(&mut self) -> Value {
        self.wish(&json!({"do": "resources", "id": "resources"}));
        self.answer("resources")
    }

    /// Lets the client list the tools, and returns them.
    pub(crate) fn list(&mut self) -> Value {
        self.list_as("list")
    }

    /// The same once more, under an id of its own.
    pub(crate) fn list_as(&mut self, id: &str) -> Value {
        self.wish(&json!({"do": "list", "id": id}));
        self.answer(id)
    }

    /// Begins a call.
    pub(crate) fn call(&mut self, id: &str, tool: &str, arguments: &Value) {
        self.wish(&json!({"do": "call", "id": id, "tool": tool, "arguments": arguments}));
    }

    /// Begins a call and follows its progress.
    pub(crate) fn follow(&mut self, id: &str, tool: &str, arguments: &Value) {
        self.wish(&json!({
            "do": "call", "id": id, "tool": tool, "arguments": arguments, "progress": true
        }));
    }

    /// Cancels a call.
    pub(crate) fn cancel(&mut self, id: &str) {
        self.wish(&json!({"do": "cancel", "id": id}));
    }

    /// Waits for the answer to a call.
    pub(crate) fn answer(&self, id: &str) -> Value {
        self.wait_for(|line| line["id"] == id)
    }

    /// Waits for something the client has seen.
    pub(crate) fn wait_for(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        wait_until(PATIENCE, || self.seen().into_iter().find(&is_it)).unwrap_or_else(|| {
            panic!(
                "it did not come\n{}\n{}",
                self.running.stdout(),
                self.running.stderr()
            )
        })
    }

    /// Returns the progress of a call, as the client got it.
    pub(crate) fn progress(&self, id: &str) -> Vec<Value> {
        let seen = self.seen().into_iter();
        seen.filter(|line| line["of"] == id).collect()
    }

    /// The process of the server.
    pub(crate) fn server(&self) -> u32 {
        let client = self.running.pid();
        let found = descendants(client)
            .into_iter()
            .find(|process| parent(*process) == Some(client));
        found.unwrap()
    }

    /// Lets the client leave.
    pub(crate) fn leave(mut self) -> CommandOutput {
        self.running.close_stdin();
        self.running.wait()
    }

    fn wish(&mut self, wish: &Value) {
        assert!(self.running.write_line(&wish.to_string()));
    }

    /// Returns all lines of the client.
    pub(crate) fn seen(&self) -> Vec<Value> {
        whole_lines(&self.running.stdout())
    }
}

/// The server alone, with a client that is nothing but our pipes.
pub(crate) struct McpServer {
    pub(crate) running: RunningCommand,
    sent: u32,
}

impl McpServer {
    pub(crate) fn start(stage: &Stage, flags: &[&str]) -> Self {
        let command = stage.command(&["mcp"]).args(flags);
        Self {
            running: command.spawn(),
            sent: 0,
        }
    }

    /// Starts it and begins as the older versions of the protocol do.
    pub(crate) fn initialized(stage: &Stage, flags: &[&str], capabilities: &Value) -> Self {
        Self::begun(stage, flags, "2025-06-18", capabilities)
    }

    /// The same with a command that starts the server.
    pub(crate) fn initialized_by(command: SandboxCommand, capabilities: &Value) -> Self {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": {"name": "pipes", "version": "1"}
        });
        let server = Self {
            running: command.spawn(),
            sent: 0,
        };
        server.begin(&params)
    }

    /// The same with a certain version.
    pub(crate) fn begun(
        stage: &Stage,
        flags: &[&str],
        version: &str,
        capabilities: &Value,
    ) -> Self {
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "pipes", "version": "1"}
        });
        Self::start(stage, flags).begin(&params)
    }

    /// The same for a client of this name.
    pub(crate) fn introduced(stage: &Stage, flags: &[&str], client: &str) -> Self {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": client, "version": "1"}
        });
        Self::start(stage, flags).begin(&params)
    }

    /// The same in a directory of its own.
    pub(crate) fn started_in(stage: &Stage, flags: &[&str], cwd: &Path) -> Self {
        let command = stage.command(&["mcp"]).args(flags).cwd(cwd);
        let server = Self {
            running: command.spawn(),
            sent: 0,
        };
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "pipes", "version": "1"}
        });
        server.begin(&params)
    }

    fn begin(self, params: &Value) -> Self {
        let mut server = self;
        let id = server.request("initialize", params);
        _ = server.answer(id);
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    /// Sends a request and gives its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u32 {
        self.sent += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}));
        self.sent
    }

    pub(crate) fn send(&mut self, message: &Value) {
        assert!(self.running.write_line(&message.to_string()));
    }

    /// Waits for the answer to a request, which is its result or its error.
    pub(crate) fn answer(&self, id: u32) -> Value {
        self.wait_for(|message| message["id"] == id && message["method"].is_null())
    }

    /// Waits for a message of the server.
    pub(crate) fn wait_for(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let found = wait_until(PATIENCE, || {
            whole_lines(&self.running.stdout()).into_iter().find(&is_it)
        });
        found.unwrap_or_else(|| panic!("it did not come\n{}", self.running.stdout()))
    }
}

/// Returns a task whose child starts a process that lives for ever, reports that it is ready, and
/// hangs.
pub(crate) fn endless(stage: &Stage, name: &str) -> Value {
    call(&[(
        name,
        json!([
            {"fork": {"kind": "ownSession", "pidFile": stage.path(&format!("{name}.pid"))}},
            {"touch": stage.path(&format!("{name}.ready"))},
            {"hang": true}
        ]),
    )])
}

/// Waits until an endless task is at work and gives the process its child has started.
pub(crate) fn at_work(stage: &Stage, name: &str) -> u32 {
    wait_for_file(stage.path(&format!("{name}.ready")), PATIENCE);
    let pid = fs::read_to_string(stage.path(&format!("{name}.pid"))).unwrap();
    pid.trim().parse().unwrap()
}

/// Returns the outputs of a call's runs with their names.
pub(crate) fn outputs(answer: &Value) -> Vec<(&str, &str)> {
    let runs = answer["details"]["runs"].as_array().unwrap();
    runs.iter()
        .map(|run| {
            (
                run["name"].as_str().unwrap(),
                run["output"].as_str().unwrap(),
            )
        })
        .collect()
}

pub(crate) fn whole_lines(stdout: &str) -> Vec<Value> {
    let whole = stdout
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    whole
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The interpreter that has the client, in the build directory.
fn python() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_pi-subagents"));
    let directory = binary.ancestors().nth(2).unwrap().join("mcp-client");
    let python = directory.join("bin/python");
    assert!(
        python.exists(),
        "{} is missing. Install the client for the tests:\n  python3 -m venv {1}\n  {1}/bin/python -m pip install mcp==2.3.0",
        python.display(),
        directory.display()
    );
    python
}
