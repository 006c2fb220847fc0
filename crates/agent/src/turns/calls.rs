//! Runs the tool calls of one message, all at once.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use pi_subagents_vocabulary::FINALIZE_TOOL;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::debug;

use crate::abort::Aborted;
use crate::event::Event;
use crate::message::{AssistantMessage, Message, ToolCall, ToolResultMessage};
use crate::output::Output;
use crate::servers::Servers;
use crate::tool_stop::ToolStop;
use crate::tools::{self, Tool, ToolError, ToolOutput, ToolSurroundings, Update, Updates};

/// Updates that may wait to be printed; more are dropped, for each replaces the last.
const WAITING_UPDATES: usize = 16;

/// A call that has come to its end.
pub(crate) struct Done {
    call: ToolCall,
    pub(crate) output: ToolOutput,
    is_error: bool,
}

impl Done {
    fn new(call: &ToolCall, result: Result<ToolOutput, ToolError>) -> Self {
        let is_error = result.is_err();
        Self {
            call: call.clone(),
            output: result.unwrap_or_else(|error| ToolOutput::failure(error.to_string())),
            is_error,
        }
    }

    /// Returns the result as the model sees it.
    pub(crate) fn into_message(self) -> Message {
        Message::ToolResult(ToolResultMessage {
            tool_call_id: self.call.id,
            tool_name: self.call.name,
            content: self.output.content,
            details: self.output.details,
            is_error: self.is_error,
            timestamp: crate::clock::milliseconds(),
        })
    }
}

/// The tools of a turn.
#[derive(Clone, Copy)]
pub(crate) struct OfferedTools<'a> {
    pub(crate) tools: &'a [&'static Tool],
    pub(crate) servers: &'a Servers,
    /// The moment from which all but the report are refused.
    pub(crate) stop: &'a ToolStop,
}

/// Runs all calls of `answer` side by side; the results come in the order of the calls.
pub(crate) async fn run_all(
    answer: &AssistantMessage,
    offered: OfferedTools<'_>,
    surroundings: &ToolSurroundings,
    aborted: &Aborted,
    output: &Output,
) -> Vec<Done> {
    let calls: Vec<&ToolCall> = answer.tool_calls().collect();
    for call in &calls {
        announce_start(call, output).await;
    }
    let (sender, mut updates) = mpsc::channel(WAITING_UPDATES);
    let mut running: FuturesUnordered<_> = calls
        .iter()
        .enumerate()
        .map(|(number, call)| {
            let updates = Updates::new(number, sender.clone());
            async move {
                let result = run_one(call, offered, surroundings, aborted, &updates).await;
                (number, result)
            }
        })
        .collect();
    let mut done: Vec<Option<Done>> = calls.iter().map(|_| None).collect();
    loop {
        tokio::select! {
            // Reports that a call made before its end are printed before its end.
            biased;
            Some(update) = updates.recv() => announce_update(&calls, &update, output).await,
            next = running.next() => match next {
                Some((number, result)) => {
                    while let Ok(update) = updates.try_recv() {
                        announce_update(&calls, &update, output).await;
                    }
                    let finished = Done::new(calls[number], result);
                    announce_end(&finished, output).await;
                    done[number] = Some(finished);
                }
                None => break,
            },
        }
    }
    done.into_iter().flatten().collect()
}

async fn run_one(
    call: &ToolCall,
    offered: OfferedTools<'_>,
    surroundings: &ToolSurroundings,
    aborted: &Aborted,
    updates: &Updates,
) -> Result<ToolOutput, ToolError> {
    if call.name != FINALIZE_TOOL
        && let Some(reason) = offered.stop.reason()
    {
        return Err(ToolError::new(reason));
    }
    let Some(tool) = offered.tools.iter().find(|tool| tool.id == call.name) else {
        let called = offered.servers.call(call, surroundings, aborted).await;
        let missing = || ToolError::new(format!("Tool {} not found", call.name));
        return called.unwrap_or_else(|| Err(missing()));
    };
    debug!(tool = tool.id, "tool started");
    let begun = Instant::now();
    let done = tools::execute(tool, call, surroundings, aborted, updates).await;
    let (seconds, is_error) = (begun.elapsed().as_secs_f64(), done.is_err());
    debug!(tool = tool.id, seconds, is_error, "tool ended");
    done
}

/// Fails all calls of an answer that was cut off, because their arguments may be incomplete.
pub(crate) async fn refuse_all(answer: &AssistantMessage, output: &Output) -> Vec<Done> {
    let mut done = Vec::new();
    for call in answer.tool_calls() {
        announce_start(call, output).await;
        let refusal = format!(
            "Tool call \"{}\" was not executed: the response hit the output token limit, so its arguments may be truncated. Re-issue the tool call with complete arguments.",
            call.name
        );
        let finished = Done::new(call, Err(ToolError::new(refusal)));
        announce_end(&finished, output).await;
        done.push(finished);
    }
    done
}

async fn announce_start(call: &ToolCall, output: &Output) {
    output
        .emit(&Event::ToolExecutionStart {
            tool_call_id: &call.id,
            tool_name: &call.name,
            args: &call.arguments,
        })
        .await;
}

async fn announce_update(calls: &[&ToolCall], update: &Update, output: &Output) {
    let call = calls[update.call];
    output
        .emit(&Event::ToolExecutionUpdate {
            tool_call_id: &call.id,
            tool_name: &call.name,
            args: &call.arguments,
            partial_result: &update.output,
        })
        .await;
}

async fn announce_end(done: &Done, output: &Output) {
    output
        .emit(&Event::ToolExecutionEnd {
            tool_call_id: &done.call.id,
            tool_name: &done.call.name,
            result: &done.output,
            is_error: done.is_error,
        })
        .await;
}
