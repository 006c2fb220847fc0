//! What the tests of fleets share: a server, and a user whose settings name it.

use pi_subagents_testkit::fleet::NatsServer;
use serde_json::json;

use crate::stage::Stage;

/// A user with a fleet.
pub(crate) struct FleetStage {
    pub(crate) stage: Stage,
    pub(crate) server: NatsServer,
}

impl FleetStage {
    /// Starts a server and names it in the settings of a user. The fleet is not set up.
    pub(crate) fn new() -> Self {
        let server = NatsServer::start();
        let stage = Stage::new();
        stage.settings(&json!({"fleet": {"servers": [server.url()]}}));
        Self { stage, server }
    }

    /// Returns what a command printed, without what differs from test to test.
    pub(crate) fn said(&self, arguments: &[&str]) -> String {
        let output = self.stage.command(arguments).run();
        let port = self.server.port().to_string();
        let text = self.stage.said(&output).replace(&port, "<port>");
        format!("{text}exit {}\n", output.code.unwrap_or(-1))
    }
}
