//! The door over HTTP: where it listens, and the token that its clients send.

use std::net::SocketAddr;

use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::token_file::token_in;

use super::{AllowedOrigins, HttpServer};
use pi_subagents_loopback::Token;

/// Listens, and prints for a person the address and the token that clients need.
pub(crate) async fn open(
    address: SocketAddr,
    origins: AllowedOrigins,
    places: &Places,
) -> Result<(HttpServer, Token), CommandError> {
    let file = places.agent_dir.join("subagents-mcp-token");
    let token = Token::new(token_in(&file)?);
    let server = HttpServer::listen(address, origins).await.map_err(|error| {
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
