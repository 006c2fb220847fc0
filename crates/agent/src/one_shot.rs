//! `--mode json` and the plain text mode: answer the prompts given, then go.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::agent::Agent;
use crate::clock;
use crate::flags::{Flags, Mode};
use crate::input;
use crate::message::{Block, StopReason, joined_text};
use crate::model_access::ModelAccess;
use crate::notices;
use crate::signals::Signals;
use crate::tools::image_type;

/// The reason why a file that the command line names cannot be part of the prompt.
#[derive(Debug, thiserror::Error)]
enum AttachError {
    #[error("File not found: {}", .0.display())]
    NotFound(PathBuf),
    #[error("Could not read file {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
}

/// Answers every prompt in turn; returns the exit code.
pub(crate) async fn answer(
    agent: &Agent,
    access: &ModelAccess,
    flags: &Flags,
    mode: Mode,
    mut signals: Signals,
) -> u8 {
    let piped = tokio::select! {
        code = signals.next() => return code,
        // On a thread of its own, so that a signal is noticed while the input stays open.
        piped = tokio::task::spawn_blocking(input::piped_text) => piped.ok().flatten(),
    };
    let prompts = match prompts(piped, flags, &agent.setup.cwd) {
        Ok(prompts) => prompts,
        Err(error) => {
            notices::error(&error);
            return 1;
        }
    };
    if mode == Mode::Json {
        announce_session(agent).await;
    }
    if prompts.is_empty() && mode == Mode::Text {
        notices::error(
            &"Nothing to do. Give a prompt as an argument or on stdin, or use --mode rpc.",
        );
        return 1;
    }
    for prompt in prompts {
        let ready = tokio::select! {
            biased;
            code = signals.next() => return code,
            ready = access.ready(agent) => ready,
        };
        if let Err(refusal) = ready {
            notices::error(&refusal);
            return 1;
        }
        tokio::select! {
            biased;
            code = signals.next() => return code,
            () = agent.run(prompt) => {}
        }
    }
    match mode {
        Mode::Text => print_last(agent),
        Mode::Json | Mode::Rpc => 0,
    }
}

async fn announce_session(agent: &Agent) {
    let id = agent.conversation.borrow().session_id().to_owned();
    let cwd = agent.setup.cwd.display().to_string();
    let header = json!({
        "type": "session", "version": 3, "id": id, "timestamp": clock::iso(), "cwd": cwd,
    });
    agent.output.emit(&header).await;
}

/// Prints the last answer. Only here does a failed answer count in the exit code, as in pi.
fn print_last(agent: &Agent) -> u8 {
    let last = agent.last_answer.borrow();
    let Some(answer) = last.as_ref().and_then(|message| message.as_assistant()) else {
        return 0;
    };
    if matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted) {
        let why = answer
            .error_message
            .as_deref()
            .unwrap_or("the request failed");
        notices::error(&why);
        return 1;
    }
    let _ = writeln!(std::io::stdout(), "{}", joined_text(&answer.content));
    0
}

/// Makes one prompt of stdin, files and the first message, and one prompt of each further message.
fn prompts(
    piped: Option<String>,
    flags: &Flags,
    cwd: &Path,
) -> Result<Vec<Vec<Block>>, AttachError> {
    let mut text = piped.unwrap_or_default();
    let mut images = Vec::new();
    for file in &flags.files {
        attach(&cwd.join(file), &mut text, &mut images)?;
    }
    let mut messages = flags.messages.iter();
    text.push_str(messages.next().map_or("", String::as_str));
    let mut prompts = Vec::new();
    if !text.is_empty() || !images.is_empty() {
        let mut first = vec![Block::text(text)];
        first.append(&mut images);
        prompts.push(first);
    }
    prompts.extend(messages.map(|message| vec![Block::text(message)]));
    Ok(prompts)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a file that the user names may be a pipe of a shell"
)]
fn attach(path: &Path, text: &mut String, images: &mut Vec<Block>) -> Result<(), AttachError> {
    let shown = path.display().to_string();
    if !path.exists() {
        return Err(AttachError::NotFound(path.to_owned()));
    }
    let bytes = fs::read(path).map_err(|source| AttachError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    if let Some(mime_type) = image_type(&bytes) {
        text.extend(["<file name=\"", &shown, "\"></file>\n"]);
        images.push(Block::Image {
            data: STANDARD.encode(bytes),
            mime_type: mime_type.to_owned(),
        });
    } else if !bytes.is_empty() {
        let content = String::from_utf8_lossy(&bytes);
        let content = content.strip_prefix('\u{feff}').unwrap_or(&content);
        text.extend(["<file name=\"", &shown, "\">\n", content, "\n</file>\n"]);
    }
    Ok(())
}
