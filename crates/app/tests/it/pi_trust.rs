//! The files that a pi child may load after a yes to our question, and those that need a yes to
//! pi's own.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use pi_subagents_testkit::llm::{LlmServer, Script, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::real_pi::{RealPi, delegate, for_each_pi};
use crate::stage::{Stage, completed, outcomes};

for_each_pi! {
    our_yes_lets_no_extension_and_no_server_of_the_project_run,
}

/// A repository with a definition, an extension and an MCP server, the last two of which leave a
/// trace when they run.
struct Repository {
    stage: Stage,
    extension_ran: String,
    server_ran: String,
}

impl Repository {
    fn new() -> Self {
        let stage = Stage::new();
        let (extension_ran, server_ran) = (stage.path("extension-ran"), stage.path("server-ran"));
        let write = |path: &str, text: &str| stage.sandbox.write(path, text);
        write(
            "project/.pi/agent-profiles/local.md",
            "---\nname: local\n---\nYou are local.\n",
        );
        write(
            "project/.pi/extensions/x.ts",
            &format!(
                "import {{ writeFileSync }} from \"node:fs\";\nexport default function () {{ writeFileSync({extension_ran:?}, \"\"); }}\n"
            ),
        );
        let server = write("server", &format!("#!/bin/sh\n: > {server_ran}\n"));
        fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
        let servers = json!({"mcpServers": {"x": {"command": server, "exposure": "direct"}}});
        write("project/.pi/mcp.json", &servers.to_string());
        Self {
            stage,
            extension_ran,
            server_ran,
        }
    }

    /// Delegates to the definition, and returns whether extension and server have run.
    fn delegate(&self, pi: RealPi) -> (bool, bool) {
        let task = json!({"tasks": [{"name": "a", "prompt": "hello", "profile": "local"}]});
        let output = delegate(pi, &self.stage, "pi", &task).run();
        assert_eq!(outcomes(&output), [completed("a", "ok")]);
        (
            Path::new(&self.extension_ran).exists(),
            Path::new(&self.server_ran).exists(),
        )
    }
}

fn our_yes_lets_no_extension_and_no_server_of_the_project_run(pi: RealPi) {
    let repository = Repository::new();
    let stage = &repository.stage;
    let server = LlmServer::start(Script::new().otherwise([Turn::text("ok")]));
    stage.sandbox.models_json(&server.base_url());
    _ = stage.command(&["trust", "--yes"]).run().expect_success();
    assert_eq!(repository.delegate(pi), (false, false));
    let system = server.requests()[0].body["messages"][0].to_string();
    assert!(system.contains("You are local."), "{system}");
    let shown = stage.command(&["trust", "--show"]).run().expect_success();
    assert!(
        shown.stdout.contains("  for pi      .pi/extensions, .pi/mcp.json (a sub-agent loads them only if you tell pi itself to trust this project)\n"),
        "{}",
        shown.stdout
    );

    // The answer to pi's own question lets them run.
    let project = fs::canonicalize(stage.sandbox.project()).unwrap();
    let decisions: Value = json!({project.to_str().unwrap(): true});
    let trust = "home/.pi/agent/trust.json";
    stage.sandbox.write(trust, &decisions.to_string());
    let has_servers = pi == RealPi::Newer;
    assert_eq!(repository.delegate(pi), (true, has_servers));
}
