//! The plugin in the real Claude Code and Codex, and the extension in the real Gemini CLI: installed
//! by their own commands from the packed files, with the program from a registry on this machine.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::home::{Home, is_here, output};
use super::loopback::serve;
use super::model::ScriptedModel;
use super::{Checked, Shipment};
use crate::Outcome;
use crate::dist::release::NAME;
use crate::machine::{program, target};
use crate::npm;

/// The newest versions are what people have.
const PACKAGES: [&str; 3] = [
    "@anthropic-ai/claude-code",
    "@openai/codex",
    "@google/gemini-cli",
];

/// The plugin and its marketplace have the same name.
const PLUGIN: &str = "pi-subagents@pi-subagents";

/// Claude Code calls the tool of the plugin when it is asked to; the sub-agent says hello. Claude Code
/// does not wait for its servers before the first turn, so the model does, five seconds at a time.
const SCRIPT: &str = r#"{"rules": [
  {"user": "Delegate it", "turns": [
    {"toolCalls": [{"name": "WaitForMcpServers", "arguments": {}}]},
    {"toolCalls": [{"name": "WaitForMcpServers", "arguments": {}}]},
    {"toolCalls": [{"name": "WaitForMcpServers", "arguments": {}}]},
    {"toolCalls": [{"name": "WaitForMcpServers", "arguments": {}}]},
    {"toolCalls": [{"name": "mcp__plugin_pi-subagents_pi-subagents__delegate_to_subagents", "arguments": {"tasks": [{"name": "a", "prompt": "Say hello."}]}}]},
    {"text": "Called."}
  ]},
  {"turns": [{"text": "Hello."}], "repeat": true}
]}"#;

/// Installs the clients by their names into the build directory.
pub(crate) fn install_clients() -> Outcome<()> {
    let directory = directory()?;
    npm::install(&directory, &PACKAGES)?;
    println!("{}", directory.display());
    Ok(())
}

fn directory() -> Outcome<PathBuf> {
    Ok(target()?.join("clients"))
}

/// Installs the plugin into Claude Code, which starts the server and delegates by it.
pub(super) fn claude_code(shipment: &Shipment) -> Outcome<Checked> {
    let Some(client) = Client::new(shipment, "claude", &shipment.packages.plugin)? else {
        return Ok(not_here("claude"));
    };
    let marketplace = client.files();
    client.run(&["plugin", "validate", "."], "")?;
    client.run(&["plugin", "marketplace", "add", &marketplace], "")?;
    client.run(&["plugin", "install", PLUGIN], "")?;
    let servers = client.run(&["mcp", "list"], "")?;
    if !servers.contains("Connected") {
        return Err(format!("the server is not connected: {servers}").into());
    }
    let tool = "mcp__plugin_pi-subagents_pi-subagents__delegate_to_subagents";
    let words = [
        "-p",
        "Delegate it",
        "--output-format",
        "stream-json",
        "--verbose",
    ];
    let events = client.run(&[&words[..], &["--allowedTools", tool]].concat(), "")?;
    if !events.contains("✓ a: completed") {
        return Err(format!("nothing was delegated:\n{events}").into());
    }
    Ok(Checked::Works(
        "validated, installed, connected, delegated".to_owned(),
    ))
}

/// Installs the same plugin into Codex.
pub(super) fn codex(shipment: &Shipment) -> Outcome<Checked> {
    let Some(client) = Client::new(shipment, "codex", &shipment.packages.plugin)? else {
        return Ok(not_here("codex"));
    };
    client.run(&["plugin", "marketplace", "add", &client.files()], "")?;
    client.run(&["plugin", "add", PLUGIN], "")?;
    let servers = client.run(&["mcp", "list"], "")?;
    require(&servers, "enabled")?;
    Ok(Checked::Works(
        "installed, and its server is enabled".to_owned(),
    ))
}

/// Installs the extension into Gemini CLI.
pub(super) fn gemini(shipment: &Shipment) -> Outcome<Checked> {
    let Some(client) = Client::new(shipment, "gemini", &shipment.packages.gemini)? else {
        return Ok(not_here("gemini"));
    };
    let words = ["extensions", "install", &client.files(), "--consent"];
    // It asks whether the folder is trusted.
    client.run(&words, "y\n")?;
    let listed = client.run(&["extensions", "list"], "")?;
    require(&listed, &shipment.release.version)?;
    Ok(Checked::Works("installed and listed".to_owned()))
}

fn require(text: &str, part: &str) -> Outcome<()> {
    if text.contains(NAME) && text.contains(part) {
        return Ok(());
    }
    Err(format!("it lists {text:?}").into())
}

fn not_here(name: &str) -> Checked {
    let why = format!(
        "it needs {name}, which cargo xtask clients fetches, npm, and the model server of the tests"
    );
    Checked::NotHere(why)
}

/// A client in a fresh home, with an archive of ours unpacked.
struct Client {
    home: Home,
    program: PathBuf,
    model: ScriptedModel,
}

impl Client {
    /// Returns nothing if a part is missing.
    fn new(shipment: &Shipment, name: &str, archive: &str) -> Outcome<Option<Self>> {
        let path = directory()?.join("node_modules/.bin").join(name);
        if !path.exists() || !ScriptedModel::is_here()? || !is_here("npm") {
            return Ok(None);
        }
        let home = Home::new()?;
        serve(shipment, &home)?;
        output(
            program("tar")
                .arg("-xzf")
                .arg(shipment.packages.path(archive))
                .arg("-C")
                .arg(home.installed()),
        )?;
        Ok(Some(Self {
            model: ScriptedModel::start(&home, SCRIPT)?,
            program: path,
            home,
        }))
    }

    fn files(&self) -> String {
        self.home.installed().display().to_string()
    }

    /// Runs a command of the client with this on its stdin, and returns what it printed.
    fn run(&self, words: &[&str], input: &str) -> Outcome<String> {
        let mut command = self.command(words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command.spawn()?;
        if let Some(mut stdin) = process.stdin.take() {
            // A client that has ended does not read it.
            _ = stdin.write_all(input.as_bytes());
        }
        let ended = process.wait_with_output()?;
        let said = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
        if ended.status.success() {
            return Ok(said.into_owned());
        }
        Err(format!("{} ({}):\n{said}", words.join(" "), ended.status).into())
    }

    fn command(&self, words: &[&str]) -> Command {
        // No client may wait for a network that is not part of the check.
        let mut command = self.home.command(Path::new("timeout"));
        command
            .arg("180")
            .arg(&self.program)
            .args(words)
            .current_dir(self.home.installed())
            .env("ANTHROPIC_API_KEY", "a-key")
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command
    }
}
