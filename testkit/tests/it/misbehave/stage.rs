//! Starting `misbehave` with a script.

use pi_subagents_testkit::bin;
use pi_subagents_testkit::sandbox::{CommandOutput, RunningCommand, Sandbox, SandboxCommand};
use serde_json::{Value, json};

/// Returns `misbehave` in the place of pi.
pub(super) fn misbehave(sandbox: &Sandbox) -> SandboxCommand {
    sandbox
        .command(&bin("misbehave"))
        .args(["--mode", "rpc", "--no-session"])
}

/// Returns the line that prompts with a script.
pub(super) fn prompt(script: &Value) -> String {
    command("prompt", &script.to_string())
}

/// Returns the line of a command with a message.
pub(super) fn command(kind: &str, message: &str) -> String {
    json!({"id": kind, "type": kind, "message": message}).to_string()
}

/// Plays a script to its end and closes stdin at once.
#[track_caller]
pub(super) fn play(script: &Value) -> CommandOutput {
    misbehave(&Sandbox::new())
        .stdin(prompt(script) + "\n")
        .run()
}

/// Starts a script and leaves stdin open.
pub(super) fn start(sandbox: &Sandbox, script: &Value) -> RunningCommand {
    let mut running = misbehave(sandbox).spawn();
    assert!(running.write_line(&prompt(script)));
    running
}

/// Returns one short line per record: the type, then what tells records of a type apart.
pub(super) fn outline(stdout: &str) -> Vec<String> {
    stdout
        .lines()
        .map(|line| match serde_json::from_str::<Value>(line) {
            Ok(record) => brief(&record),
            Err(_) => format!("no JSON: {line}"),
        })
        .collect()
}

fn brief(record: &Value) -> String {
    let message = &record["message"];
    let words = [
        &record["type"],
        &record["command"],
        &record["success"],
        &record["error"],
        &record["toolName"],
        &record["assistantMessageEvent"]["type"],
        &message["role"],
        &message["content"][0]["name"],
        &message["content"][0]["text"],
        &message["stopReason"],
        &message["errorMessage"],
    ];
    let words: Vec<String> = words
        .into_iter()
        .filter(|word| !word.is_null())
        .map(|word| {
            word.as_str()
                .map_or_else(|| word.to_string(), str::to_owned)
        })
        .collect();
    words.join(" ")
}
