//! One turn of one embedded agent over HTTP and over HTTPS, with the certificates of a real system.

use std::fs;
use std::process::Command;

use super::figures::{Times, heading, over, row};
use super::scripted_server::{Encryption, ScriptedServer};
use super::stage::{Stage, succeed};
use crate::Outcome;

const ROUNDS: usize = 20;

/// The certificates of Debian and its children. Without the file, the agent reads one root and not
/// some hundred and forty, and the row says so.
const SYSTEM_ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

pub(super) fn measure() -> Outcome<()> {
    heading("One turn of one embedded agent over HTTP and over HTTPS");
    let stage = Stage::new()?;
    let server = ScriptedServer::start(&stage, Encryption::With)?;
    stage.write("home/.pi/agent/models.json", &server.models_file())?;
    let mut roots = fs::read_to_string(SYSTEM_ROOTS).unwrap_or_default();
    let known = roots.matches("BEGIN CERTIFICATE").count();
    roots.push_str(&fs::read_to_string(&server.root)?);
    let bundle = stage.write("roots.pem", &roots)?;
    let agent = |provider: &str| -> Outcome<Command> {
        let mut command = stage.command(&["embedded", "--mode", "json", "--no-session", "-p"])?;
        command.args(["--model", &format!("{provider}/fake-model"), "hi"]);
        command.env("SSL_CERT_FILE", &bundle);
        Ok(command)
    };
    let (mut plain, mut encrypted) = (Times::none(), Times::none());
    for _ in 0..ROUNDS {
        plain.add(|| succeed(agent("fake")?))?;
        encrypted.add(|| succeed(agent("encrypted")?))?;
    }
    row("http", &plain.text(), "");
    let name = format!("https, {known} roots of the system");
    row(&name, &encrypted.text(), "");
    row("https against http", &over(encrypted.beside(&plain)), "");
    Ok(())
}
