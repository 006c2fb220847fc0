//! The stage for the tests of fleets: a server, and a user whose settings name it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_testkit::sandbox::{RunningCommand, Sandbox};
use pi_subagents_testkit::wait_until;
use serde_json::{Value, json};

use crate::stage::Stage;

/// The time that a worker may take to be there.
const PATIENCE: Duration = Duration::from_mins(1);

/// A user with a fleet.
pub(crate) struct FleetStage {
    pub(crate) stage: Stage,
    pub(crate) server: NatsServer,
}

/// Makes a user whose project is a repository with a commit.
pub(crate) fn git_project() -> Stage {
    let sandbox = Sandbox::with_git();
    sandbox.write("project/readme.md", "A lamp.\n");
    for arguments in [&["add", "."][..], &["commit", "--quiet", "--message=lamp"]] {
        let git = sandbox.command(Path::new("git")).args(arguments);
        git.cwd(sandbox.project()).run().expect_success();
    }
    Stage { sandbox }
}

/// Runs git in a directory of a user, who may fetch from files, and returns its output.
pub(crate) fn git(stage: &Stage, directory: &Path, arguments: &[&str]) -> String {
    let git = stage.sandbox.command(Path::new("git"));
    let git = git
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments);
    git.cwd(directory).run().expect_success().stdout
}

/// Makes a repository with one commit, for a submodule.
pub(crate) fn library(stage: &Stage) -> PathBuf {
    let inner = stage.sandbox.root().join("inner");
    fs::create_dir(&inner).unwrap();
    git(stage, &inner, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(inner.join("lib.txt"), "library\n").unwrap();
    git(stage, &inner, &["add", "."]);
    git(stage, &inner, &["commit", "--quiet", "-m", "library"]);
    inner
}

/// Makes a machine whose project is a clone of another user's.
pub(crate) fn clone_of(caller: &Stage) -> Stage {
    let stage = Stage::new();
    let from = caller.sandbox.project();
    let clone = stage.sandbox.command(Path::new("git"));
    let arguments = ["clone", "--quiet", from.to_str().unwrap(), "."];
    clone.args(arguments).run().expect_success();
    stage
}

/// Returns the script of a child whose model goes on writing, until somebody listens and then until
/// somebody has seen it: it ends when the file is there.
pub(crate) fn words_until(end: &str) -> Value {
    const TIMES: usize = 400;
    let piece = |event: Value| json!({"record": {"type": "message_update", "usage": {}, "assistantMessageEvent": event}});
    let mut script = vec![piece(json!({"type": "text_start", "contentIndex": 0}))];
    for _ in 0..TIMES {
        script.push(json!({"sleepMs": 50}));
        let delta = json!({"type": "text_delta", "contentIndex": 0, "delta": "word "});
        script.push(piece(delta));
    }
    script.push(json!({"waitForFile": end}));
    script.push(json!({"reply": "All words are said."}));
    Value::from(script)
}

impl FleetStage {
    /// Starts a server and names it in the settings of a user. The fleet is not set up.
    pub(crate) fn new() -> Self {
        Self::of(Stage::new())
    }

    /// Does the same for a user whose project is a repository with a commit, and sets the fleet up.
    pub(crate) fn with_git() -> Self {
        let fleet = Self::of(git_project());
        fleet
            .stage
            .command(&["fleet", "init"])
            .run()
            .expect_success();
        fleet
    }

    fn of(stage: Stage) -> Self {
        let server = NatsServer::start();
        let fleet = json!({"servers": [server.url()], "patience": PATIENCE.as_secs()});
        stage.settings(&json!({"fleet": fleet}));
        Self { stage, server }
    }

    /// Does the same, and sets the fleet up.
    pub(crate) fn set_up() -> Self {
        let fleet = Self::new();
        fleet
            .stage
            .command(&["fleet", "init"])
            .run()
            .expect_success();
        fleet
    }

    /// Starts a worker with a directory of its own; it ends with the guard.
    pub(crate) fn worker(&self, name: &str) -> RunningCommand {
        let root = self.stage.path(&format!("worker-{name}"));
        let worker = self
            .stage
            .command(&[
                "fleet", "work", "--name", name, "--root", &root, "--slots", "8",
            ])
            .spawn();
        let is_there = || {
            let listed = self
                .stage
                .command(&["fleet", "workers", "--json"])
                .run()
                .json();
            listed["workers"].to_string().contains(name).then_some(())
        };
        assert!(wait_until(PATIENCE, is_there).is_some(), "no worker {name}");
        worker
    }

    /// Returns the output of a command, without the parts that differ from test to test.
    pub(crate) fn printed(&self, arguments: &[&str]) -> String {
        let output = self.stage.command(arguments).run();
        let port = self.server.port().to_string();
        let text = self.stage.printed(&output).replace(&port, "<port>");
        format!("{text}exit {}\n", output.code.unwrap_or(-1))
    }
}
