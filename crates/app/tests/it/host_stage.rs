//! The shim's side of the wire: the messages to pi and from pi.

use std::time::Duration;

use pi_subagents_testkit::sandbox::{CommandOutput, RunningCommand};
use pi_subagents_testkit::wait_until;
use serde_json::{Value, json};

use crate::stage::{Stage, call};

pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A running host, and all its messages.
pub(crate) struct Shim {
    pub(crate) host: RunningCommand,
    caller: Value,
    last_id: u64,
    /// The number of the host's messages that `next` has looked at.
    seen: usize,
}

impl Shim {
    /// Starts a host and a session of pi that is called `s1` and holds nothing.
    pub(crate) fn start(stage: &Stage) -> Self {
        let mut shim = Self::start_unasked(stage);
        shim.session_start("startup", "s1", &[]);
        shim
    }

    /// Starts a host without sending anything.
    pub(crate) fn start_unasked(stage: &Stage) -> Self {
        Self {
            host: stage.command(&["host"]).spawn(),
            caller: json!({
                "cwd": stage.sandbox.project(), "mode": "rpc", "hasUI": true, "columns": 100,
                "trusted": true, "hasTrustQuestion": false,
                "models": [], "activeTools": [], "skills": [],
            }),
            last_id: 0,
            seen: 0,
        }
    }

    /// Changes the facts about the caller from now on.
    pub(crate) fn caller(&mut self, fields: Value) {
        let Value::Object(fields) = fields else {
            panic!("{fields} is no object");
        };
        self.caller.as_object_mut().unwrap().extend(fields);
    }

    pub(crate) fn line(&mut self, line: &str) {
        assert!(self.host.write_line(line), "the host reads no more");
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Sends a request and gives its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let request = json!({
            "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params,
        });
        self.line(&request.to_string());
        self.last_id
    }

    /// Returns all messages of the host so far.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let stdout = self.host.stdout();
        let whole = stdout.rfind('\n').map_or("", |end| &stdout[..end]);
        let lines = whole.lines().filter(|line| !line.is_empty());
        lines
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    /// All notifications of a method so far, by their parameters.
    pub(crate) fn notifications(&self, method: &str) -> Vec<Value> {
        let heard = self.messages().into_iter();
        heard
            .filter(|message| message["method"] == method)
            .map(|message| message["params"].clone())
            .collect()
    }

    /// The whole response to a request.
    pub(crate) fn response(&self, id: u64) -> Value {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        wait_until(PATIENCE, || self.messages().into_iter().find(is_it))
            .unwrap_or_else(|| panic!("no response to {id} in {:#?}", self.messages()))
    }

    /// The result of a request.
    pub(crate) fn result(&self, id: u64) -> Value {
        let response = self.response(id);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// The next message of this method that was not looked at yet.
    pub(crate) fn next(&mut self, method: &str) -> Value {
        let found = wait_until(PATIENCE, || {
            let heard = self.messages();
            let mut fresh = heard.into_iter().enumerate().skip(self.seen);
            fresh.find(|(_, message)| message["method"] == method)
        });
        let (place, message) =
            found.unwrap_or_else(|| panic!("no {method} in {:#?}", self.messages()));
        self.seen = place + 1;
        message
    }

    /// Waits for a dialog, answers it, and returns its question.
    pub(crate) fn answer(&mut self, method: &str, result: &Value) -> Value {
        let dialog = self.next(method);
        let answer = json!({"jsonrpc": "2.0", "id": dialog["id"], "result": result});
        self.line(&answer.to_string());
        dialog["params"].clone()
    }

    pub(crate) fn session_start(&mut self, reason: &str, session: &str, entries: &[Value]) {
        let cwd = self.caller["cwd"].clone();
        let params =
            json!({"reason": reason, "cwd": cwd, "sessionId": session, "entries": entries});
        let id = self.request("session/start", &params);
        assert_eq!(
            self.result(id),
            json!({"protocol": 1, "version": env!("CARGO_PKG_VERSION")})
        );
    }

    pub(crate) fn session_shutdown(&mut self) {
        let id = self.request("session/shutdown", &json!({"reason": "new"}));
        assert_eq!(self.result(id), json!({}));
    }

    /// Begins a call of a tool.
    pub(crate) fn execute(&mut self, call_id: &str, tool: &str, arguments: &Value) -> u64 {
        let params = json!({
            "callId": call_id, "tool": tool, "arguments": arguments, "caller": self.caller,
        });
        self.request("tool/execute", &params)
    }

    /// Begins a delegation of tasks given by name and script.
    pub(crate) fn delegate(&mut self, call_id: &str, tasks: &[(&str, Value)]) -> u64 {
        self.execute(call_id, "delegate_to_subagents", &call(tasks))
    }

    /// Runs one task to its end, and gives its session.
    pub(crate) fn delegated(&mut self, name: &str, script: Value) -> String {
        let id = self.delegate(&format!("call of {name}"), &[(name, script)]);
        let result = self.result(id);
        result["details"]["sessionIds"][0]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Returns the answer of a tool about a session: its text, or its error.
    pub(crate) fn read(&mut self, tool: &str, session: &str) -> Result<String, String> {
        let call_id = format!("call {}", self.last_id);
        let id = self.execute(&call_id, tool, &json!({"sessionId": session}));
        let response = self.response(id);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match text(&response["result"]["content"][0]["text"]) {
            Some(answer) => Ok(answer),
            None => Err(text(&response["error"]["message"]).unwrap()),
        }
    }

    pub(crate) fn output(&mut self, session: &str) -> Result<String, String> {
        self.read("get_subagent_output", session)
    }

    /// Begins a command.
    pub(crate) fn command(&mut self, command: &str, arguments: &str) -> u64 {
        let params = json!({"command": command, "arguments": arguments, "caller": self.caller});
        self.request("command/run", &params)
    }

    /// Returns the offers after a beginning.
    pub(crate) fn completions(&mut self, command: &str, prefix: &str) -> Vec<String> {
        let params = json!({"command": command, "prefix": prefix, "caller": self.caller});
        let id = self.request("command/complete", &params);
        let items = self.result(id)["items"].clone();
        let items = items.as_array().unwrap().iter();
        items
            .map(|item| item["value"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The lines of the last `ui/show`, after its title.
    pub(crate) fn shown(&self) -> String {
        let shown = self.notifications("ui/show");
        let page = shown.last().unwrap();
        let lines = page["lines"].as_array().unwrap().iter().map(|line| {
            let spans = line.as_array().unwrap().iter();
            spans
                .map(|span| span["text"].as_str().unwrap())
                .collect::<String>()
        });
        let title = page["title"].as_str().unwrap().to_owned();
        [title]
            .into_iter()
            .chain(lines)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Hangs up, and returns the output of the host.
    pub(crate) fn hang_up(mut self) -> CommandOutput {
        self.host.close_stdin();
        self.host.wait()
    }
}
