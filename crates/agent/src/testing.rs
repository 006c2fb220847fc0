//! An agent on a script, in a directory of its own, whose events are collected.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::agent::Agent;
use crate::flags::{self, Flags};
use crate::message::Block;
use crate::model_access::ModelAccess;
use crate::output::Output;
use crate::run::{Surroundings, assemble};

/// A directory with a project and an agent directory in it.
pub(crate) struct Sandbox {
    root: TempDir,
    pub(crate) variables: BTreeMap<String, String>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let sandbox = Self {
            root: tempfile::tempdir().unwrap(),
            variables: BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]),
        };
        fs::create_dir(sandbox.path("project")).unwrap();
        fs::create_dir(sandbox.path("agent")).unwrap();
        sandbox
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Writes a script and returns the flags that choose it.
    pub(crate) fn script(&self, script: &Value) -> String {
        let path = self.write("script.json", script.to_string());
        format!("--model scripted/{}", path.display())
    }

    /// An agent whose model plays a script.
    pub(crate) fn playing(&self, script: &Value) -> Bench {
        self.agent(&self.script(script)).unwrap()
    }

    pub(crate) fn flags(line: &str) -> Flags {
        flags::parse(line.split_whitespace().map(str::to_owned).collect()).unwrap()
    }

    /// Puts an agent together as the flags say.
    pub(crate) fn agent(&self, line: &str) -> Result<Bench, String> {
        let surroundings = Surroundings {
            cwd: self.path("project"),
            home: self.path("home"),
            agent_dir: self.path("agent"),
            variables: self.variables.clone(),
        };
        let (output, lines) = Output::channel();
        let (agent, access) = assemble(&Self::flags(line), &surroundings, None, output)?;
        Ok(Bench {
            agent,
            access,
            lines,
        })
    }
}

/// An agent and what it prints.
pub(crate) struct Bench {
    pub(crate) agent: Agent,
    pub(crate) access: ModelAccess,
    pub(crate) lines: mpsc::Receiver<Vec<u8>>,
}

impl Bench {
    /// Answers a prompt and returns the events.
    pub(crate) async fn prompt(&mut self, text: &str) -> Vec<Value> {
        self.access.ready(&self.agent).await.unwrap();
        let Self { agent, lines, .. } = self;
        collect(agent.run(vec![Block::text(text)]), lines, |_| {}).await
    }

    /// Answers a prompt; `watch` sees each event as it comes and may interfere.
    pub(crate) async fn watch(&mut self, text: &str, watch: impl Fn(&Agent, &Value)) -> Vec<Value> {
        self.access.ready(&self.agent).await.unwrap();
        let Self { agent, lines, .. } = self;
        let agent = &*agent;
        collect(agent.run(vec![Block::text(text)]), lines, |event| {
            watch(agent, event);
        })
        .await
    }
}

/// Collects what is printed while `work` goes on.
pub(crate) async fn collect(
    work: impl Future<Output = ()>,
    lines: &mut mpsc::Receiver<Vec<u8>>,
    watch: impl Fn(&Value),
) -> Vec<Value> {
    let mut events = Vec::new();
    let mut take = |line: Vec<u8>| {
        let event = serde_json::from_slice(&line).unwrap();
        watch(&event);
        events.push(event);
    };
    tokio::pin!(work);
    loop {
        tokio::select! {
            () = &mut work => break,
            Some(line) = lines.recv() => take(line),
        }
    }
    while let Ok(line) = lines.try_recv() {
        take(line);
    }
    events
}

/// The events in one line each: type, role, tool and what else tells them apart. A message that
/// ends as it started is one line, and a turn ends with the message that stands above it.
pub(crate) fn outline(events: &[Value]) -> String {
    let shown = events
        .iter()
        .filter(|event| event["type"] != "message_update");
    let mut lines: Vec<String> = Vec::new();
    for line in shown.map(line_of) {
        let started = lines
            .last()
            .and_then(|last| last.strip_prefix("message_start"));
        match line.strip_prefix("message_end") {
            Some(ended) if started == Some(ended) => {
                lines.pop();
                lines.push(format!("message{ended}"));
            }
            Some(_) | None => lines.push(line),
        }
    }
    lines.join("\n")
}

fn line_of(event: &Value) -> String {
    let mut line = event["type"].as_str().unwrap().to_owned();
    let places = [
        "/message/role",
        "/message/stopReason",
        "/message/errorMessage",
        "/message/toolCallId",
        "/message/isError",
        "/toolCallId",
        "/isError",
        "/willRetry",
        "/attempt",
        "/delayMs",
        "/errorMessage",
        "/success",
        "/finalError",
        "/entry/type",
        "/steering",
        "/followUp",
    ];
    for place in places {
        if let Some(value) = event.pointer(place) {
            let name = place.rsplit('/').next().unwrap();
            line.extend([" ", name, "=", &value.to_string()]);
        }
    }
    if event["type"] == "turn_end" {
        return line;
    }
    let texts = ["/message/content/0/text", "/result/content/0/text"];
    for text in texts.iter().filter_map(|place| event.pointer(place)) {
        line.extend([" ", &text.to_string()]);
    }
    line
}

/// Replaces what differs between runs.
pub(crate) fn normalized(text: &str, root: &Path) -> String {
    let root = root.display().to_string();
    text.replace(root.trim_end_matches('/'), "ROOT")
}
