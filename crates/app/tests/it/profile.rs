//! `profile`: definitions from the command line.

use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::stage::Stage;

mod explain;
mod file_content;
mod life;
mod refusals;
mod wizard;

const KEY: &str = "sk-test-1234567890";

/// Returns the output of a command, which must succeed.
fn printed(stage: &Stage, arguments: &[&str]) -> String {
    let output = stage.command(arguments).env("KEY", KEY).run();
    stage.sandbox.normalise(&output.expect_success().stdout)
}

/// Returns the JSON output of a command, which must succeed.
fn answered(stage: &Stage, arguments: &[&str]) -> Value {
    let output = stage.command(arguments).env("KEY", KEY).arg("--json").run();
    let output = output.expect_success();
    assert_eq!(output.stderr, "");
    serde_json::from_str(&stage.sandbox.normalise(&output.stdout)).unwrap()
}

/// The exit code and the error of a command that must fail, in text and in JSON.
fn refused(stage: &Stage, arguments: &[&str]) -> String {
    let output = stage.command(arguments).run();
    assert_eq!(output.stdout, "", "{output}");
    let json = stage.command(arguments).arg("--json").run();
    assert_eq!(json.code, output.code);
    assert!(json.json()["error"]["message"].is_string(), "{json}");
    let code = output.code.unwrap();
    format!("[{code}] {}", stage.sandbox.normalise(&output.stderr))
}

fn global(stage: &Stage, name: &str) -> PathBuf {
    stage.sandbox.agent_dir().join("agent-profiles").join(name)
}

fn write_global(stage: &Stage, name: &str, text: &str) -> PathBuf {
    let path = format!("home/.pi/agent/agent-profiles/{name}");
    stage.sandbox.write(&path, text)
}
