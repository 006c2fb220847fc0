//! Starting owners of each kind, and being their client.

use std::cell::Cell;

use pi_subagents_testkit::Signal;
use pi_subagents_testkit::llm::{Rule, Turn};
use pi_subagents_testkit::process::{exists, kill};
use pi_subagents_testkit::sandbox::RunningCommand;
use serde_json::{Value, json};

use crate::children::{TIMEOUT, definition, prompt};
use crate::record::{RunFiles, runs};
use crate::round::{OwnerKind, Round};
use crate::stage::{Stage, call};
use crate::terminal::Terminal;

/// The process that has started an owner, and holds the other end of its pipes or its terminal.
pub(crate) struct Client<'a> {
    stage: &'a Stage,
    kind: OwnerKind,
    line: Line,
    watcher: Option<Terminal>,
    /// The owner of a background run, once it was seen: the record that names it may be removed.
    seen_owner: Cell<Option<u32>>,
}

/// The connection of the client.
enum Line {
    Pipes(RunningCommand),
    Terminal(Terminal),
}

impl<'a> Client<'a> {
    /// Starts the owner of a round and asks it for its runs.
    pub(crate) fn start(round: &Round, stage: &'a Stage) -> Self {
        let call = call(round, stage.sandbox.root());
        let line = match round.owner {
            OwnerKind::Delegate => {
                let command = stage.owner(&["delegate", "-", "--json"]);
                Line::Pipes(command.stdin(call.to_string()).spawn())
            }
            OwnerKind::Terminal => {
                let file = stage.sandbox.write("call.json", &call.to_string());
                let file = file.display().to_string();
                Line::Terminal(Terminal::start(&stage.in_terminal(&["delegate", &file])))
            }
            OwnerKind::Host => Line::Pipes(host(stage, &call)),
            OwnerKind::Mcp => Line::Pipes(mcp(stage, &call)),
            OwnerKind::Detached | OwnerKind::Watched => Line::Pipes(spawn(round, stage)),
            OwnerKind::Pi => Line::Pipes(pi(stage, &call)),
        };
        let watcher = (round.owner == OwnerKind::Watched)
            .then(|| Terminal::start(&stage.in_terminal(&["attach"])));
        Self {
            stage,
            kind: round.owner,
            line,
            watcher,
            seen_owner: Cell::new(None),
        }
    }

    /// Returns the process that was started; for a background run it is not the owner.
    pub(crate) fn pid(&self) -> u32 {
        match &self.line {
            Line::Pipes(running) => running.pid(),
            Line::Terminal(terminal) => terminal.pid(),
        }
    }

    /// Returns the process that owns the runs, once it is known.
    pub(crate) fn owner(&self) -> Option<u32> {
        match self.kind {
            OwnerKind::Delegate | OwnerKind::Terminal | OwnerKind::Host | OwnerKind::Mcp => {
                Some(self.pid())
            }
            OwnerKind::Detached | OwnerKind::Watched | OwnerKind::Pi => {
                let found = runs(&self.stage.sandbox);
                let found = found.first().and_then(RunFiles::owner);
                self.seen_owner.set(found.or(self.seen_owner.get()));
                self.seen_owner.get()
            }
        }
    }

    /// Returns the `attach` that looks on.
    pub(crate) fn watcher(&self) -> Option<u32> {
        self.watcher.as_ref().map(Terminal::pid)
    }

    /// Returns whether the process that was started has left, and the owner too.
    pub(crate) fn is_over(&mut self) -> bool {
        let is_running = match &mut self.line {
            Line::Pipes(running) => running.is_running(),
            Line::Terminal(terminal) => terminal.is_running(),
        };
        !is_running && !self.owner().is_some_and(exists)
    }

    /// Closes this end of the connection, or does the nearest thing to it.
    pub(crate) fn hang_up(&mut self) {
        match (&mut self.line, self.kind) {
            (Line::Terminal(terminal), _) => terminal.hang_up(),
            // The command has read all of its input already; a caller that vanishes sends it this
            // signal.
            (Line::Pipes(running), OwnerKind::Delegate) => running.kill(Signal::HUP),
            (Line::Pipes(running), OwnerKind::Detached | OwnerKind::Watched) => {
                running.kill(Signal::KILL);
            }
            (Line::Pipes(running), _) => running.close_stdin(),
        }
    }

    /// Takes the `attach` away.
    pub(crate) fn close_watcher(&mut self) {
        if let Some(watcher) = &mut self.watcher {
            watcher.hang_up();
            // A stopped process does not notice the hang-up until it is continued.
            kill(watcher.pid(), Signal::CONT);
        }
    }

    /// Returns whether the `attach` has left.
    pub(crate) fn watcher_is_over(&mut self) -> bool {
        self.watcher
            .as_mut()
            .is_none_or(|watcher| !watcher.is_running())
    }

    /// Returns everything that was printed so far, on each stream.
    pub(crate) fn printed(&self) -> Vec<String> {
        let mut printed = match &self.line {
            Line::Pipes(running) => vec![running.stdout(), running.stderr()],
            Line::Terminal(terminal) => vec![terminal.drawn()],
        };
        printed.extend(self.watcher.as_ref().map(Terminal::drawn));
        printed
    }
}

fn host(stage: &Stage, call: &Value) -> RunningCommand {
    let cwd = stage.sandbox.project();
    let caller = json!({
        "cwd": cwd, "mode": "rpc", "hasUI": true, "columns": 100, "trusted": true,
        "hasTrustQuestion": false, "models": [], "activeTools": [], "skills": [],
    });
    let session = json!({"reason": "startup", "cwd": cwd, "sessionId": "s1", "entries": []});
    let execute = json!({
        "callId": "c1", "tool": "delegate_to_subagents", "arguments": call, "caller": caller,
    });
    let mut host = stage.owner(&["host"]).spawn();
    for (id, method, params) in [(1, "session/start", session), (2, "tool/execute", execute)] {
        write(
            &mut host,
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
        );
    }
    host
}

/// Returns the server of a client that has come back, which lists its runs.
pub(crate) fn returned_client(stage: &Stage) -> RunningCommand {
    let list = json!({"name": "subagent_runs", "arguments": {"includeCompleted": true}});
    mcp_with(stage, &list)
}

fn mcp(stage: &Stage, call: &Value) -> RunningCommand {
    let delegate = json!({"name": "delegate_to_subagents", "arguments": call});
    mcp_with(stage, &delegate)
}

fn mcp_with(stage: &Stage, tool: &Value) -> RunningCommand {
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "faults", "version": "1"},
    });
    let mut server = stage.owner(&["mcp", "--answer-within", "0"]).spawn();
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": tool}),
    ] {
        write(&mut server, &message);
    }
    server
}

fn spawn(round: &Round, stage: &Stage) -> RunningCommand {
    let plan = &round.children[0];
    let task = prompt(round, 0, stage.sandbox.root());
    let timeout = TIMEOUT.to_string();
    let name = definition(plan.kind);
    let isolation = if round.is_isolated {
        "worktree"
    } else {
        "none"
    };
    let arguments = ["spawn", name, &task, "--timeout", &timeout, "--json"];
    let command = stage.owner(&arguments).args(["--isolation", isolation]);
    command.stdin("").spawn()
}

fn pi(stage: &Stage, call: &Value) -> RunningCommand {
    const WORDS: &str = "Call your helpers now, please.";
    let server = stage.server.as_ref().expect("the model of pi");
    server.add(Rule {
        user: Some(WORDS.to_owned()),
        turns: vec![
            Turn::tool_call("delegate_to_subagents", call.clone()),
            Turn::text("Called."),
        ],
        ..Rule::default()
    });
    let mut pi = stage.parent_pi(&["--mode", "rpc"]).spawn();
    write(&mut pi, &json!({"type": "prompt", "message": WORDS}));
    pi
}

/// Writes a message. An owner that has left already does not read it.
fn write(running: &mut RunningCommand, message: &Value) {
    _ = running.write_line(&message.to_string());
}
