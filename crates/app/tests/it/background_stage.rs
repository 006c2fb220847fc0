//! The stage for the tests of background runs: a preset, a way to start runs, and their rows.

use std::fs;
use std::time::Duration;

use pi_subagents_testkit::sandbox::SandboxCommand;
use pi_subagents_testkit::wait_until;
use serde_json::{Value, json};

use crate::stage::Stage;

pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A sandbox with the preset `worker`, whose child plays the script in its task. Runs that are not
/// over when it is dropped are stopped.
pub(crate) struct BackgroundStage {
    pub(crate) stage: Stage,
}

impl BackgroundStage {
    pub(crate) fn new() -> Self {
        let stage = Stage::new();
        stage.sandbox.write(
            "home/.pi/agent/subagents/worker.md",
            "---\nname: worker\ndescription: Works.\nmodel: test/model\nrunner: pi\n---\nYou work.\n",
        );
        Self { stage }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> SandboxCommand {
        self.stage.command(arguments)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.stage.path(name)
    }

    /// Adds the preset `talker`, the embedded agent on the scripted model, which thinks for this
    /// time.
    pub(crate) fn talker(&self, delay_ms: u64) {
        let sandbox = &self.stage.sandbox;
        let script = json!({"rules": [
            {"turns": [{"delayMs": delay_ms, "text": "You said: {{prompt}}"}]},
        ]});
        let script = sandbox.write("script.json", &script.to_string());
        let preset = format!(
            "---\nname: talker\ndescription: Talks.\nmodel: scripted/{}\nrunner: embedded\n---\nYou talk.\n",
            script.display()
        );
        sandbox.write("home/.pi/agent/subagents/talker.md", &preset);
    }

    /// Writes the `subagents` part of the user's settings.
    pub(crate) fn settings(&self, subagents: &Value) {
        let settings = json!({"subagents": subagents}).to_string();
        self.stage
            .sandbox
            .write("home/.pi/agent/settings.json", &settings);
    }

    /// Starts a task with this script in the background, and returns the row of its run.
    pub(crate) fn spawn(&self, script: &Value) -> Value {
        let script = script.to_string();
        let output = self.command(&["spawn", "worker", &script, "--json"]).run();
        output.expect_success().json()["runs"][0].clone()
    }

    /// Returns the row of a run, as `status` prints it.
    pub(crate) fn row(&self, run: &str) -> Value {
        let output = self.command(&["status", run, "--json"]).run();
        output.expect_success().json()["runs"][0].clone()
    }

    /// Waits until a run is over, and returns its row in `status`.
    pub(crate) fn ended(&self, run: &str) -> Value {
        _ = self.command(&["wait", run]).run();
        self.row(run)
    }

    /// Returns a text without the parts that differ from run to run.
    pub(crate) fn normalise(&self, text: &str) -> String {
        self.stage.sandbox.normalise(text)
    }

    /// Returns a value without the parts that differ from run to run.
    pub(crate) fn normal(&self, value: &Value) -> String {
        self.normalise(&format!("{value:#}"))
    }

    /// The process that owns a run.
    pub(crate) fn owner(&self, run: &str) -> u32 {
        let pid = self.row(run)["ownerPid"].as_u64().unwrap();
        u32::try_from(pid).unwrap()
    }
}

impl Drop for BackgroundStage {
    fn drop(&mut self) {
        _ = self.command(&["stop", "--all"]).run();
    }
}

/// Returns the id of a run: from its row, or from the JSON of `spawn`.
pub(crate) fn run_id(spawned: &Value) -> String {
    let row = spawned.get("runs").map_or(spawned, |runs| &runs[0]);
    row["runId"].as_str().unwrap().to_owned()
}

/// Waits until no process of a run is left.
#[track_caller]
pub(crate) fn expect_nothing_left(run: &str) {
    let gone = wait_until(PATIENCE, || processes_of(run).is_empty().then_some(()));
    assert!(gone.is_some(), "left of {run}: {:?}", processes_of(run));
}

/// The processes that carry the mark of a run.
fn processes_of(run: &str) -> Vec<u32> {
    let mark = format!("PI_SUBAGENTS_RUN={run}");
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
        })
        .collect()
}
