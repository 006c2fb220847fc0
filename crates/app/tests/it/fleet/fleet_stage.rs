//! The stage for the tests of fleets: a server, and a user whose settings name it.

use std::path::Path;
use std::time::Duration;

use pi_subagents_testkit::fleet::NatsServer;
use pi_subagents_testkit::sandbox::{RunningCommand, Sandbox};
use pi_subagents_testkit::wait_until;
use serde_json::json;

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
            .command(&["worker", "--name", name, "--root", &root, "--slots", "8"])
            .spawn();
        let is_there = || {
            let listed = self.stage.command(&["workers", "--json"]).run().json();
            listed["workers"].to_string().contains(name).then_some(())
        };
        assert!(wait_until(PATIENCE, is_there).is_some(), "no worker {name}");
        worker
    }

    /// Returns the output of a command, without the parts that differ from test to test.
    pub(crate) fn said(&self, arguments: &[&str]) -> String {
        let output = self.stage.command(arguments).run();
        let port = self.server.port().to_string();
        let text = self.stage.said(&output).replace(&port, "<port>");
        format!("{text}exit {}\n", output.code.unwrap_or(-1))
    }
}
