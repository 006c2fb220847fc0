//! An embedded agent until the first bytes of its first request.

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::processes::{page_faults, resident_memory};
use super::stage::Stage;
use crate::Outcome;

/// The longest time until the first bytes.
const PATIENCE: Duration = Duration::from_secs(5);

/// The way to the server. With https the first bytes are those of its handshake.
#[derive(Clone, Copy)]
pub(super) enum Scheme {
    Http,
    Https,
}

/// The facts about an agent that has just sent the first bytes.
pub(super) struct FirstRequest {
    pub(super) after: Duration,
    /// Its memory in kilobytes, with the pages of the program file.
    pub(super) resident: u64,
    pub(super) faults: u64,
}

/// Starts the agent, which is this hidden command, and ends it when it has asked.
pub(super) fn measure(stage: &Stage, agent: &str, scheme: Scheme) -> Outcome<FirstRequest> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let word = match scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    let models = format!(
        r#"{{"providers": {{"fake": {{"baseUrl": "{word}://{address}/v1", "api": "openai-completions", "apiKey": "key", "models": [{{"id": "model"}}]}}}}}}"#
    );
    fs::write(stage.agent_dir().join("models.json"), models)?;
    let (tell, told) = mpsc::channel();
    let server = thread::spawn(move || {
        let mut bytes = [0; 1];
        if let Ok((mut connection, _)) = listener.accept()
            && connection.read_exact(&mut bytes).is_ok()
        {
            // Nobody listens any more if the agent was too late.
            _ = tell.send((Instant::now(), connection));
        }
    });
    let mut command = stage.command(&[agent, "--mode", "json", "--no-session", "-p"])?;
    command
        .args(["--model", "fake/model", "hi"])
        .stderr(Stdio::null());
    let begun = Instant::now();
    let mut agent = command.spawn()?;
    let first = told.recv_timeout(PATIENCE);
    let (resident, faults) = (resident_memory(agent.id()), page_faults(agent.id()));
    agent.kill()?;
    agent.wait()?;
    if first.is_err() {
        // The server waits for a connection.
        drop(TcpStream::connect(address));
    }
    _ = server.join();
    let (heard_at, _) = first.map_err(|_| "the agent asked nothing")?;
    Ok(FirstRequest {
        after: heard_at.duration_since(begun),
        resident,
        faults,
    })
}
