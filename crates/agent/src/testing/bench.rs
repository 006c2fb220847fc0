//! An agent whose events are collected while it works.

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::agent::Agent;
use crate::message::Block;
use crate::model_access::ModelAccess;

/// An agent and its output.
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

    /// Returns the roles of the messages in the conversation, from the first to the last.
    pub(crate) fn roles(&self) -> Vec<Value> {
        let messages = self.agent.conversation.borrow().messages();
        messages
            .iter()
            .map(|message| json!(**message)["role"].clone())
            .collect()
    }
}

/// Collects the output while `work` goes on.
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
