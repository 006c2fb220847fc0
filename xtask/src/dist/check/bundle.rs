//! The bundle for desktop clients of MCP: unpacked, and asked for its tools over stdin and stdout.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use super::home::{Home, output};
use super::proof::prove;
use super::{Checked, Shipment};
use crate::Outcome;
use crate::machine::program;

/// The first messages of a client.
const MESSAGES: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

/// Reads the manifest and prints the program that it names and its arguments.
const READ_MANIFEST: &str = "import json, sys; server = json.load(open(sys.argv[1]))['server']; \
     print(server['entry_point'], *server['mcp_config']['args'])";

/// Unpacks the bundle and talks to its server.
pub(super) fn bundle(shipment: &Shipment) -> Outcome<Checked> {
    let home = Home::new()?;
    let installed = home.installed();
    let package = shipment.packages.path(&shipment.packages.bundle);
    output(
        program("python3")
            .args(["-m", "zipfile", "-e"])
            .args([&package, &installed]),
    )?;
    let manifest = installed.join("manifest.json");
    let named = output(program("python3").args(["-c", READ_MANIFEST]).arg(manifest))?;
    let (entry, arguments) = named.trim().split_once(' ').ok_or("it names no program")?;
    let server = installed.join(entry);
    // Python does not restore modes; a test of the archive reads them.
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755))?;
    let mut process = home
        .command(&server)
        .args(arguments.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = process.stdin.take().ok_or("the server has no stdin")?;
    stdin.write_all(MESSAGES.as_bytes())?;
    drop(stdin);
    let answers = process.wait_with_output()?;
    let answers = String::from_utf8_lossy(&answers.stdout);
    if !answers.contains("delegate_to_subagents") {
        return Err(format!("the server answered {answers:?}").into());
    }
    prove(shipment, &home, &server)
}
