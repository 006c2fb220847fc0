//! A host with the messages of the shim, without the pi around.

use pi_subagents_testkit::sandbox::RunningCommand;
use pi_subagents_testkit::{bin, wait_until};
use serde_json::{Value, json};

use crate::background_stage::{BackgroundStage, PATIENCE};

/// A host, and the pi that it belongs to.
pub(crate) struct Pi<'a> {
    stage: &'a BackgroundStage,
    pub(crate) host: RunningCommand,
    last_id: u64,
}

impl<'a> Pi<'a> {
    /// A pi that has opened a session with these entries, and is idle.
    pub(crate) fn open(
        stage: &'a BackgroundStage,
        session: &str,
        reason: &str,
        entries: &[Value],
    ) -> Self {
        let mut pi = Self {
            stage,
            host: stage.command(&["host"]).spawn(),
            last_id: 0,
        };
        pi.begin(session, reason, entries);
        pi
    }

    pub(crate) fn begin(&mut self, session: &str, reason: &str, entries: &[Value]) {
        let cwd = self.stage.stage.sandbox.project();
        let started = self.request(
            "session/start",
            &json!({"reason": reason, "cwd": cwd, "sessionId": session, "entries": entries}),
        );
        assert_eq!(started["result"]["protocol"], 1);
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Asks without waiting for the answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        assert!(self.host.write_line(&request.to_string()));
        id
    }

    pub(crate) fn answer(&self, id: u64) -> Value {
        self.wait_for(|line| (line["id"] == id && line["method"].is_null()).then(|| line.clone()))
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin_call(tool, arguments);
        self.answer(id)
    }

    /// Calls a tool without waiting for the answer.
    pub(crate) fn begin_call(&mut self, tool: &str, arguments: &Value) -> u64 {
        let params = json!({
            "callId": format!("call-{}", self.last_id),
            "tool": tool,
            "arguments": arguments,
            "caller": self.caller(),
        });
        self.ask("tool/execute", &params)
    }

    /// Types a command and waits until it is over.
    pub(crate) fn command(&mut self, command: &str, arguments: &str) {
        let params = json!({"command": command, "arguments": arguments, "caller": self.caller()});
        let answer = self.request("command/run", &params);
        assert_eq!(answer["result"], json!({}));
    }

    fn caller(&self) -> Value {
        json!({
            "cwd": self.stage.stage.sandbox.project(),
            "mode": "tui",
            "hasUI": true,
            "models": ["test/model"],
            "activeTools": ["read", "bash"],
            "pi": {"execPath": bin("misbehave"), "version": "0.87.1"},
        })
    }

    /// `background_agent` with this script; gives its details.
    pub(crate) fn launch(&mut self, script: &Value) -> Value {
        let arguments = json!({"preset": "worker", "task": script.to_string()});
        let answer = self.call("background_agent", &arguments);
        answer["result"]["details"].clone()
    }

    pub(crate) fn set_idle(&mut self, idle: bool) {
        let told = json!({"jsonrpc": "2.0", "method": "idle", "params": {"idle": idle}});
        assert!(self.host.write_line(&told.to_string()));
    }

    /// Returns all lines of the host.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let stdout = self.host.stdout();
        let whole = stdout.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The parameters of all notifications of this method.
    pub(crate) fn notifications(&self, method: &str) -> Vec<Value> {
        let lines = self.lines().into_iter();
        let told = lines.filter(|line| line["method"] == method);
        told.map(|line| line["params"].clone()).collect()
    }

    #[track_caller]
    pub(crate) fn wait_for<T>(&self, mut probe: impl FnMut(&Value) -> Option<T>) -> T {
        let found = wait_until(PATIENCE, || self.lines().iter().find_map(&mut probe));
        found.unwrap_or_else(|| panic!("the host said only: {:#?}", self.lines()))
    }

    /// Waits until the footer has this text.
    #[track_caller]
    pub(crate) fn wait_for_footer(&self, text: &str) {
        self.wait_for(|line| {
            let is_status = line["method"] == "ui/status";
            (is_status && line["params"]["text"] == text).then_some(())
        });
    }

    /// The entries as pi would give them back.
    pub(crate) fn entries(&self) -> Vec<Value> {
        self.notifications("entry/append")
    }

    /// Leaves as pi does when its user quits.
    pub(crate) fn quit(mut self) {
        self.take_messages();
        self.host.close_stdin();
        _ = self.host.wait();
    }

    /// Waits for a message, takes it, and waits for the line that follows.
    #[track_caller]
    pub(crate) fn take_notice(&mut self) {
        self.wait_for_message();
        self.take_messages();
        self.wait_for(|line| (line["method"] == "ui/notify").then_some(()));
    }

    /// Waits until the host has sent a message.
    #[track_caller]
    pub(crate) fn wait_for_message(&self) {
        self.wait_for(|line| (line["method"] == "message/send").then_some(()));
    }

    /// Notes that the messages so far have been shown.
    pub(crate) fn take_messages(&mut self) {
        for line in self.lines() {
            if line["method"] == "message/send" {
                let taken = json!({"jsonrpc": "2.0", "id": line["id"], "result": {}});
                assert!(self.host.write_line(&taken.to_string()));
            }
        }
    }
}
