//! The stage that the tests share: a sandbox, our binary, and tasks for a child that misbehaves.

use std::fs;
use std::path::PathBuf;

use pi_subagents_testkit::bin;
use pi_subagents_testkit::sandbox::{CommandOutput, Sandbox, SandboxCommand};
use serde_json::{Value, json};

/// A sandbox with our binary in it.
pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            sandbox: Sandbox::new(),
        }
    }

    /// Our binary with these arguments; pi is the child that misbehaves.
    pub(crate) fn command(&self, arguments: &[&str]) -> SandboxCommand {
        self.sandbox
            .command(&PathBuf::from(env!("CARGO_BIN_EXE_pi-subagents")))
            .env("PI_SUBAGENTS_PI", bin("misbehave"))
            .args(arguments)
    }

    /// `delegate` with this call on stdin, to the child that misbehaves.
    pub(crate) fn delegate(&self, call: &Value) -> SandboxCommand {
        self.delegate_to("pi", call)
    }

    /// The same, and its JSON has the details of the tool too, such as the windows.
    pub(crate) fn delegate_with_details(&self, call: &Value) -> SandboxCommand {
        self.delegate(call).arg("--details")
    }

    /// `delegate` with this call on stdin, to this kind of child.
    pub(crate) fn delegate_to(&self, runner: &str, call: &Value) -> SandboxCommand {
        self.command(&["delegate", "-", "--runner", runner, "--json"])
            .stdin(call.to_string())
    }

    /// Runs tasks given by name and script, and returns the outcome of each.
    pub(crate) fn outcomes(&self, tasks: &[(&str, Value)]) -> Vec<Outcome> {
        outcomes(&self.delegate(&call(tasks)).run())
    }

    /// Writes a profile of the user: its name, further lines of frontmatter, its body.
    pub(crate) fn profile(&self, name: &str, fields: &str, body: &str) {
        self.sandbox.write(
            &format!("home/.pi/agent/agent-profiles/{name}.md"),
            &format!("---\nname: {name}\n{fields}\n---\n{body}\n"),
        );
    }

    /// Adds the `subagents` part to the user's settings.
    pub(crate) fn settings(&self, subagents: &Value) {
        let file = self.sandbox.agent_dir().join("settings.json");
        let content = fs::read_to_string(&file).unwrap_or("{}".to_owned());
        let mut settings: Value = serde_json::from_str(&content).unwrap();
        settings["subagents"] = subagents.clone();
        fs::write(file, settings.to_string()).unwrap();
    }

    /// Everything that a command printed, with the paths of the sandbox replaced.
    pub(crate) fn printed(&self, output: &CommandOutput) -> String {
        let both = format!("{}{}", output.stdout, output.stderr);
        self.sandbox.normalise(&both)
    }

    /// A path in the sandbox for pid files and the like.
    pub(crate) fn path(&self, name: &str) -> String {
        self.sandbox.root().join(name).display().to_string()
    }
}

/// Returns all files in a directory and below it.
pub(crate) fn files_below(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// The JSON of a call whose tasks have these scripts.
pub(crate) fn call(tasks: &[(&str, Value)]) -> Value {
    let tasks: Vec<Value> = tasks
        .iter()
        .map(|(name, script)| json!({"name": name, "prompt": script.to_string()}))
        .collect();
    json!({"tasks": tasks})
}

/// Returns the text of an answer for the caller's model, its sessions named `<1>`, `<2>` and so on.
pub(crate) fn answer_text(stage: &Stage, answer: &Value) -> String {
    let mut text = answer["text"].as_str().unwrap().to_owned();
    for (index, run) in answer["runs"].as_array().unwrap().iter().enumerate() {
        let session = run["sessionId"].as_str().unwrap();
        text = text.replace(session, &format!("<{}>", index + 1));
    }
    text.replace(&stage.sandbox.root().display().to_string(), "$SANDBOX")
}

/// Returns the last message to the model in a request.
pub(crate) fn asked(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap();
    match &messages[messages.len() - 1]["content"] {
        Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap().to_owned(),
    }
}

/// The outcome of a task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) exit_code: i64,
    pub(crate) error: Option<String>,
    pub(crate) output: Option<String>,
}

/// Returns the outcome of each task of a `delegate --json`.
pub(crate) fn outcomes(output: &CommandOutput) -> Vec<Outcome> {
    let answer = output.json();
    let runs = answer["runs"]
        .as_array()
        .unwrap_or_else(|| panic!("no runs in {output}"));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    runs.iter()
        .map(|run| Outcome {
            name: text(&run["name"]).unwrap_or_default(),
            status: text(&run["status"]).unwrap_or_default(),
            exit_code: run["exitCode"].as_i64().unwrap_or(-1),
            error: text(&run["errorMessage"]),
            output: text(&run["output"]),
        })
        .collect()
}

/// A run that completed with this output.
pub(crate) fn completed(name: &str, output: &str) -> Outcome {
    Outcome {
        name: name.to_owned(),
        status: "completed".to_owned(),
        exit_code: 0,
        error: None,
        output: Some(output.to_owned()),
    }
}

/// A run that failed with this exit code and message.
pub(crate) fn failed(name: &str, exit_code: i64, error: &str, output: Option<&str>) -> Outcome {
    Outcome {
        name: name.to_owned(),
        status: "failed".to_owned(),
        exit_code,
        error: Some(error.to_owned()),
        output: output.map(str::to_owned),
    }
}
