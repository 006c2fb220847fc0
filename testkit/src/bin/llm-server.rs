//! The scripted LLM for use by hand: `llm-server SCRIPT.json [ROOT.pem]`.
//!
//! Prints its base URL as the first line of stdout and serves until stdin closes or it is killed.
//! With a second argument it serves HTTPS too, prints that URL as the second line, and writes the
//! certificate that vouches for it into the file that is named.
//! The script is a [`pi_subagents_testkit::llm::Script`] as JSON:
//!
//! ```json
//! {"rules": [
//!   {"user": "list the files", "turns": [
//!     {"toolCalls": [{"name": "bash", "arguments": {"command": "ls"}}]},
//!     {"text": "There they are.", "chunkChars": 4, "betweenMs": 50}
//!   ]},
//!   {"user": "fail", "turns": [{"fault": {"status": {"code": 429, "retryAfter": 1}}}]},
//!   {"turns": [{"text": "Hello."}], "repeat": true}
//! ]}
//! ```
//!
//! Put the URL into `~/.pi/agent/models.json` and choose `fake/fake-model`:
//!
//! ```json
//! {"providers": {"fake": {
//!   "baseUrl": "http://127.0.0.1:PORT/v1", "api": "openai-completions", "apiKey": "test-key",
//!   "models": [{"id": "fake-model"}]
//! }}}
//! ```
//!
//! `api` may also be `openai-responses`, `anthropic-messages` or `google-generative-ai`. Gates
//! are released by typing their names, one on a line.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they read"
)]

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Write};

use pi_subagents_testkit::llm::{LlmServer, Script, TlsFront};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let path = arguments
        .next()
        .ok_or("usage: llm-server SCRIPT.json [ROOT.pem]")?;
    let script: Script = serde_json::from_str(&fs::read_to_string(path)?)?;
    let server = LlmServer::start(script);
    writeln!(io::stdout(), "{}", server.base_url())?;
    let front = arguments.next().map(|root| {
        let front = TlsFront::before(server.address());
        fs::write(root, front.root()).map(|()| front)
    });
    let front = front.transpose()?;
    if let Some(front) = &front {
        writeln!(io::stdout(), "{}", front.base_url())?;
    }
    for line in io::stdin().lines() {
        server.release(line?.trim());
    }
    Ok(())
}
