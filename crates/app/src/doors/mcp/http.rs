//! The door over HTTP: where it listens, and the token that its clients send.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use pi_subagents_files::{create_directories, open_own, read_bounded, write_whole_once};
use pi_subagents_mcp::{HttpServer, Token};

use crate::error::CommandError;
use crate::places::Places;
use crate::print::Printer;
use crate::random;

/// How long the file of the token may be.
const LONGEST_TOKEN: u64 = 1024;

/// Listens, and prints for a person the address and the token that clients need.
pub(super) async fn open(
    address: SocketAddr,
    places: &Places,
) -> Result<(HttpServer, Token), CommandError> {
    let file = places.agent_dir.join("subagents-mcp-token");
    let token = token_in(&file)?;
    let server = HttpServer::listen(address).await.map_err(|error| {
        CommandError::failed("could not listen on this address")
            .because(&error)
            .hint("Give --http an address of this machine with a free port, such as 127.0.0.1:8765, or 127.0.0.1:0 for any port.")
    })?;
    Printer::for_people().note(&format!(
        "Listening on {}\nClients send the token in {} with every request:  Authorization: Bearer TOKEN\nStop it with Ctrl-C.",
        server.url(),
        file.display()
    ));
    Ok((server, token))
}

/// Reads the token of this user, which is made when it is first needed.
fn token_in(file: &Path) -> Result<Token, CommandError> {
    let failed = |error: &io::Error| {
        CommandError::failed(format!("the token in {} cannot be used", file.display()))
            .because(error)
            .hint("Remove the file; the next start creates a new one.")
    };
    if let Some(directory) = file.parent() {
        create_directories(directory).map_err(|error| failed(&error))?;
    }
    let made = random::new_secret()?;
    // Another process may have made it first.
    write_whole_once(file, format!("{made}\n").as_bytes()).map_err(|error| failed(&error))?;
    let secret = read_private(file).map_err(|error| failed(&error))?;
    if secret.len() < made.len() {
        return Err(failed(&io::Error::other("it is too short")));
    }
    Ok(Token::new(secret))
}

/// Reads a token that nobody else can read.
fn read_private(file: &Path) -> io::Result<String> {
    let opened = open_own(file)?;
    if opened.metadata()?.permissions().mode() & 0o077 != 0 {
        return Err(io::Error::other("others can read it"));
    }
    let content = read_bounded(&opened, LONGEST_TOKEN)?;
    Ok(String::from_utf8_lossy(&content).trim().to_owned())
}
