//! Models that are asked over HTTPS: the certificates that count, and the connections that are made.

use pi_subagents_testkit::llm::{Script, TlsFront, Turn};
use pi_subagents_testkit::sandbox::CommandOutput;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::agent_stage::{AgentStage, FORMATS};

struct EncryptedStage {
    stage: AgentStage,
    front: TlsFront,
}

impl EncryptedStage {
    fn new() -> Self {
        let turns = [
            Turn::tool_call("bash", json!({"command": "echo one"})),
            Turn::tool_call("bash", json!({"command": "echo two"})),
            Turn::text("Done."),
        ];
        let stage = AgentStage::new(FORMATS[0], Script::new().then(turns));
        let front = TlsFront::before(stage.server.address());
        let models = json!({"providers": {"fake": {
            "baseUrl": front.base_url(), "api": FORMATS[0], "apiKey": "test-key",
            "models": [{"id": "fake-model"}],
        }}});
        let file = "home/.pi/agent/models.json";
        stage.sandbox.write(file, &models.to_string());
        let settings = json!({"retry": {"enabled": false}});
        stage.settings(&settings);
        Self { stage, front }
    }

    /// Lets the agent answer with these certificates.
    fn answer(&self, certificates: &str) -> CommandOutput {
        let bundle = self.stage.sandbox.write("roots.pem", certificates);
        let flags = ["--mode", "text", "-p", "--no-session", "Go"];
        let command = self.stage.command(&flags);
        command.env("SSL_CERT_FILE", bundle).run()
    }
}

#[test]
fn one_connection_serves_a_whole_run() {
    let encrypted = EncryptedStage::new();
    let junk = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    let output = encrypted.answer(&format!("{junk}{}", encrypted.front.root()));
    assert_eq!(output.expect_success().stdout, "Done.\n");
    assert_eq!(encrypted.stage.server.requests().len(), 3);
    assert_eq!(encrypted.front.connections(), 1);
}

#[test]
fn a_server_for_which_nobody_vouches_is_not_asked() {
    let encrypted = EncryptedStage::new();
    let another = TlsFront::before(encrypted.stage.server.address());
    let output = encrypted.answer(another.root());
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("certificate"), "{}", output.stderr);
    assert_eq!(encrypted.stage.server.requests().len(), 0);
}
