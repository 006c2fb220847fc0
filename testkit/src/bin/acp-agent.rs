//! A scripted agent that speaks the Agent Client Protocol and misbehaves on demand:
//! `acp-agent [--stay] [--no-session]`.
//!
//! A prompt is its script: each line that begins with `> ` is a step.
//!
//! | step | it |
//! |---|---|
//! | `say TEXT` | streams a piece of an answer |
//! | `run COMMAND` | runs a command and tells how it ended |
//! | `run-untold COMMAND` | the same, without telling how it ended |
//! | `write PATH TEXT` | writes a file |
//! | `ask KIND` | asks for permission for a call of this kind, and says the answer |
//! | `servers` | says which MCP servers it was given |
//! | `meta` | says what it was told beside the protocol |
//! | `report JSON` | calls the tool of the MCP server that it was given |
//! | `heartbeat` | begins a command and sends updates without output, for ever |
//! | `loop` | makes the same call again and again |
//! | `hang` | does nothing until it is cancelled |
//! | `huge BYTES` | prints a line of this length |
//! | `unknown` | sends an update and a request that nobody knows |
//! | `notice` | sends a banner, and a text that no model wrote |
//! | `die` | exits with 7 in the middle of a call |
//! | `refuse` | answers the prompt with an error |
//!
//! It ends at the end of stdin, unless `--stay` is given. `--no-session` refuses every session.

#![expect(
    clippy::disallowed_methods,
    reason = "it is a program of tests that starts what its script names"
)]

use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// An agent with one session.
struct Agent {
    messages: Receiver<Value>,
    /// The MCP servers that it was given.
    servers: Value,
    /// What it was told beside the protocol.
    meta: Value,
    calls: u32,
    is_cancelled: bool,
    refuses_sessions: bool,
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let (sender, messages) = mpsc::channel();
    let stays = has("--stay");
    thread::spawn(move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            if let Ok(message) = serde_json::from_str(&line) {
                _ = sender.send(message);
            }
        }
        if stays {
            loop {
                thread::park();
            }
        }
    });
    let mut agent = Agent {
        messages,
        servers: Value::Null,
        meta: Value::Null,
        calls: 0,
        is_cancelled: false,
        refuses_sessions: has("--no-session"),
    };
    while let Ok(message) = agent.messages.recv() {
        agent.take(&message);
    }
}

impl Agent {
    fn take(&mut self, message: &Value) {
        let id = &message["id"];
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => answer(
                id,
                &json!({
                    "protocolVersion": 1,
                    "agentInfo": {"name": "acp-agent", "version": "1"},
                    "agentCapabilities": {"loadSession": true, "mcpCapabilities": {"http": true}, "sessionCapabilities": {"resume": {}}},
                }),
            ),
            "session/new" if self.refuses_sessions => {
                let error = json!({"code": -32000, "message": "Authentication required"});
                send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            "session/new" => {
                self.servers = params["mcpServers"].clone();
                self.meta = params["_meta"].clone();
                answer(
                    id,
                    &json!({
                        "sessionId": "session-1",
                        "configOptions": [{
                            "id": "model", "category": "model", "currentValue": "small",
                            "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
                        }],
                    }),
                );
            }
            "session/resume" => {
                self.servers = params["mcpServers"].clone();
                update(
                    &json!({"sessionUpdate": "agent_message_chunk", "content": text("old words")}),
                );
                answer(id, &json!({}));
            }
            "session/set_config_option" | "session/set_mode" => answer(id, &json!({})),
            "session/prompt" => self.prompt(id, &params["prompt"][0]["text"]),
            _ => {}
        }
    }

    fn prompt(&mut self, id: &Value, prompt: &Value) {
        self.is_cancelled = false;
        let prompt = prompt.as_str().unwrap_or_default();
        let steps = prompt.lines().filter_map(|line| line.strip_prefix("> "));
        for step in steps {
            let (word, rest) = step.split_once(' ').unwrap_or((step, ""));
            if word == "refuse" {
                let error = json!({"code": -32603, "message": "Internal error", "data": {"details": "out of quota"}});
                return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            self.step(word, rest);
            self.note_cancel();
            if self.is_cancelled {
                break;
            }
        }
        let reason = if self.is_cancelled {
            "cancelled"
        } else {
            "end_turn"
        };
        let usage = json!({"inputTokens": 100, "outputTokens": 10, "totalTokens": 110});
        answer(id, &json!({"stopReason": reason, "usage": usage}));
    }

    fn step(&mut self, word: &str, rest: &str) {
        match word {
            "say" => say(rest),
            "run" => self.run(rest, Telling::Exit),
            "run-untold" => self.run(rest, Telling::Nothing),
            "write" => self.write(rest),
            "ask" => self.ask(rest),
            "meta" => say(&self.meta.to_string()),
            "servers" => say(&self.servers.to_string()),
            "report" => self.report(rest),
            "heartbeat" => self.heartbeat(),
            "loop" => self.repeat(),
            "hang" => self.wait(),
            "huge" => huge(rest.parse().unwrap_or(0)),
            "unknown" => {
                update(&json!({"sessionUpdate": "novelty", "content": 7}));
                send(
                    &json!({"jsonrpc": "2.0", "id": "mine", "method": "fs/teleport", "params": {}}),
                );
            }
            "notice" => println(b"Welcome to the agent!\n"),
            "die" => {
                self.begin(&json!({"kind": "execute", "rawInput": {"command": "make"}}));
                process::exit(7);
            }
            other => say(&format!("unknown step {other}")),
        }
    }

    fn begin(&mut self, call: &Value) -> String {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let mut begun = json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": "a call", "status": "in_progress",
        });
        if let (Some(begun), Some(call)) = (begun.as_object_mut(), call.as_object()) {
            begun.extend(call.clone());
        }
        update(&begun);
        id
    }

    fn run(&mut self, command: &str, telling: Telling) {
        let id = self.begin(&json!({"kind": "execute", "rawInput": {"command": command}}));
        let output = Command::new("/bin/sh").args(["-c", command]).output();
        let (code, printed) = match output {
            Ok(output) => {
                let printed = String::from_utf8_lossy(&output.stdout).into_owned();
                (output.status.code(), printed)
            }
            Err(error) => (Some(127), error.to_string()),
        };
        let mut ended = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
            "content": [{"type": "content", "content": text(&printed)}],
        });
        if telling == Telling::Exit {
            ended["rawOutput"] = json!({"exit_code": code});
        }
        update(&ended);
    }

    fn write(&mut self, rest: &str) {
        let (path, words) = rest.split_once(' ').unwrap_or((rest, ""));
        let id = self.begin(&json!({"kind": "edit", "locations": [{"path": path}]}));
        let written = fs::write(path, format!("{words}\n"));
        let status = if written.is_ok() {
            "completed"
        } else {
            "failed"
        };
        update(&json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
            "content": [{"type": "diff", "path": path, "oldText": null, "newText": words}],
        }));
    }

    fn ask(&mut self, kind: &str) {
        send(
            &json!({"jsonrpc": "2.0", "id": "ask", "method": "session/request_permission", "params": {
                "sessionId": "session-1",
                "toolCall": {"toolCallId": "asked", "kind": kind, "title": "a call", "rawInput": {"command": "make"}},
                "options": [
                    {"kind": "allow_always", "optionId": "always", "name": "Always"},
                    {"kind": "allow_once", "optionId": "once", "name": "Once"},
                    {"kind": "reject_once", "optionId": "no", "name": "No"},
                ],
            }}),
        );
        while let Ok(message) = self.messages.recv() {
            if message["id"] == "ask" {
                return say(&format!(
                    "asked: {}. ",
                    message["result"]["outcome"]["optionId"]
                ));
            }
        }
    }

    fn report(&mut self, report: &str) {
        let arguments = serde_json::from_str::<Value>(report).unwrap_or_default();
        let tool = json!({"_meta": {"claudeCode": {"toolName": "mcp__pi-subagents__subagent_finalize"}}, "rawInput": arguments});
        let id = self.begin(&tool);
        let answer = call_server(&self.servers[0], &arguments).unwrap_or_default();
        let status = if answer["result"]["isError"] == true {
            "failed"
        } else {
            "completed"
        };
        update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status}));
    }

    fn heartbeat(&mut self) {
        let id = self.begin(&json!({"kind": "execute", "rawInput": {"command": "sleep 1000"}}));
        while !self.is_cancelled {
            update(
                &json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "_meta": {"shellProgress": 1}}),
            );
            thread::sleep(Duration::from_millis(50));
            self.note_cancel();
        }
    }

    fn repeat(&mut self) {
        while !self.is_cancelled && self.calls < 100 {
            self.run("true", Telling::Exit);
            self.note_cancel();
        }
    }

    fn wait(&mut self) {
        while !self.is_cancelled {
            match self.messages.recv() {
                Ok(message) => self.is_cancelled |= message["method"] == "session/cancel",
                Err(_) => process::exit(0),
            }
        }
    }

    fn note_cancel(&mut self) {
        while let Ok(message) = self.messages.try_recv() {
            self.is_cancelled |= message["method"] == "session/cancel";
        }
    }
}

/// Whether the end of a command is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    Exit,
    Nothing,
}

/// Starts the server and calls its tool.
fn call_server(server: &Value, arguments: &Value) -> Option<Value> {
    let words = server["args"].as_array()?.iter().filter_map(Value::as_str);
    let mut process = Command::new(server["command"].as_str()?)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = process.stdin.take()?;
    for (id, method, params) in [
        (1, "initialize", json!({"protocolVersion": "2025-06-18"})),
        (
            2,
            "tools/call",
            json!({"name": "subagent_finalize", "arguments": arguments}),
        ),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(stdin, "{request}").ok()?;
    }
    let lines = BufReader::new(process.stdout.take()?).lines();
    let answer = lines.map_while(Result::ok).nth(1)?;
    drop(stdin);
    _ = process.wait();
    serde_json::from_str(&answer).ok()
}

fn say(words: &str) {
    update(&json!({"sessionUpdate": "agent_message_chunk", "content": text(words)}));
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn huge(bytes: usize) {
    let mut line = vec![b'x'; bytes];
    line.push(b'\n');
    println(&line);
}

fn update(update: &Value) {
    let params = json!({"sessionId": "session-1", "update": update});
    send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
}

fn answer(id: &Value, result: &Value) {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn send(message: &Value) {
    println(format!("{message}\n").as_bytes());
}

fn println(line: &[u8]) {
    let mut stdout = io::stdout().lock();
    // A reader that is gone needs nothing.
    _ = stdout.write_all(line).and_then(|()| stdout.flush());
}
