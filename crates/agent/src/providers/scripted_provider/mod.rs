//! The scripted model: plays a small script instead of asking anyone.
//!
//! It runs the tour and the tests, without network or key. The format is described in
//! `docs/design/scripted-model.md`.

mod placeholders;
mod script;
#[cfg(test)]
mod tour_tests;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use pi_subagents_files::read_own_text;

use super::{Chunk, ChunkStream, Finish, Provider, ProviderError, Request};
use crate::message::{Message, joined_text};
use crate::usage::Usage;
use placeholders::Scene;
use script::{Failure, Script, Turn};

const TOUR: &str = include_str!("tour.json");
/// The tour at a pace that a person can follow: each turn begins later, and its words come one
/// after the other.
const SLOW_TOUR: Pace = Pace {
    delay_factor: 4,
    between_pieces: Duration::from_millis(60),
};
/// A script is not read beyond this.
const LARGEST_SCRIPT: u64 = 64 << 20;
/// Texts come in pieces of about this size, as from a real model.
const PIECE_BYTES: usize = 24;

/// A script that could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScriptError {
    #[error("Cannot read script {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("Script {name} is not valid: {source}")]
    Invalid {
        name: String,
        source: serde_json::Error,
    },
    #[error("Script {name} is not valid: {source}")]
    Pattern {
        name: String,
        source: Box<grep_regex::Error>,
    },
}

/// Plays one script.
#[derive(Debug)]
pub(crate) struct ScriptedProvider {
    script: Script,
    pace: Pace,
    progress: RefCell<Progress>,
}

/// The speed at which a script is played.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// The delays of the script are multiplied by this.
    delay_factor: u32,
    between_pieces: Duration,
}

impl Pace {
    /// The delays are those of the script, and there is no pause between pieces.
    const AS_WRITTEN: Self = Self {
        delay_factor: 1,
        between_pieces: Duration::ZERO,
    };
}

/// The progress through the rule for the current prompt.
#[derive(Debug, Default)]
struct Progress {
    /// The prompt, by the number of user messages up to it.
    prompt: usize,
    next_turn: usize,
    calls: usize,
}

impl ScriptedProvider {
    /// Loads the built-in `tour` or `slow-tour`, or the file that `id` names.
    pub(crate) fn load(id: &str, cwd: &Path) -> Result<Self, ScriptError> {
        let (script, pace) = match id {
            "tour" => (Script::parse(id, TOUR)?, Pace::AS_WRITTEN),
            "slow-tour" => (Script::parse(id, TOUR)?, SLOW_TOUR),
            file => (
                Script::parse(id, &read(&cwd.join(file))?)?,
                Pace::AS_WRITTEN,
            ),
        };
        Ok(Self {
            script,
            pace,
            progress: RefCell::default(),
        })
    }

    /// Returns the turn for this call, and the number of the call since the prompt.
    fn next_turn(&self, scene: &Scene<'_>) -> (Turn, usize) {
        let mut progress = self.progress.borrow_mut();
        if progress.prompt != scene.prompts {
            *progress = Progress {
                prompt: scene.prompts,
                ..Progress::default()
            };
        }
        progress.calls += 1;
        let rule = self.script.rule_for(scene.prompt);
        let turns = rule.map_or(&[][..], |rule| &rule.turns);
        let rest = turns.iter().enumerate().skip(progress.next_turn);
        let chosen = rest.into_iter().find(|(_, turn)| turn.applies(scene));
        let turn = if let Some((number, turn)) = chosen {
            progress.next_turn = number + 1;
            turn.clone()
        } else {
            progress.next_turn = turns.len();
            Turn::repeat_of(turns)
        };
        (turn, progress.calls)
    }
}

fn read(path: &Path) -> Result<String, ScriptError> {
    read_own_text(path, LARGEST_SCRIPT).map_err(|source| ScriptError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

impl Provider for ScriptedProvider {
    fn stream<'a>(&'a self, request: Request<'a>) -> ChunkStream<'a> {
        let scene = Scene::new(request.messages);
        let (turn, call) = self.next_turn(&scene);
        let delay = Duration::from_millis(turn.delay_ms) * self.pace.delay_factor;
        let between_pieces = self.pace.between_pieces;
        let items = match &turn.failure {
            Some(failure) => vec![Err(error_of(failure))],
            None => chunks(&turn, call, &scene, request.system, request.messages),
        };
        let pause = stream::once(async move {
            sleep(delay).await;
            stream::iter(items).then(move |item| async move {
                sleep(between_pieces).await;
                item
            })
        });
        Box::pin(pause.flatten())
    }
}

async fn sleep(time: Duration) {
    // Even a sleep of no time would wait for the next tick of the timer.
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

type Item = Result<Chunk, ProviderError>;

fn error_of(failure: &Failure) -> ProviderError {
    let wait = failure.retry_after.map(Duration::from_secs_f64);
    match failure.status {
        Some(status) => {
            ProviderError::status(status, format!("{status}: {}", failure.message), wait)
        }
        None => ProviderError::permanent(failure.message.clone()),
    }
}

fn chunks(
    turn: &Turn,
    call: usize,
    scene: &Scene<'_>,
    system: &str,
    messages: &[Rc<Message>],
) -> Vec<Item> {
    let mut said = Vec::new();
    let thinking = scene.fill(&turn.thinking);
    said.extend(pieces(&thinking).map(|piece| Chunk::Thinking(piece.to_owned())));
    let text = scene.fill(&turn.text);
    said.extend(pieces(&text).map(|piece| Chunk::Text(piece.to_owned())));
    for (number, wanted) in turn.tool_calls.iter().enumerate() {
        let id = format!("call_{}_{call}_{}", scene.prompts, number + 1);
        said.push(Chunk::CallStart {
            id: id.clone(),
            name: wanted.name.clone(),
            signature: None,
        });
        let delta = scene.fill_value(&wanted.arguments).to_string();
        said.push(Chunk::CallArguments { id, delta });
    }
    let output = said.iter().map(spoken_bytes).sum();
    let input = system.len()
        + messages
            .iter()
            .map(|message| message_bytes(message))
            .sum::<usize>();
    said.push(Chunk::Finished(Finish {
        usage: usage(input, output),
        response_id: Some(format!("scripted-{}-{call}", scene.prompts)),
        ..Finish::default()
    }));
    said.into_iter().map(Ok).collect()
}

/// Estimates the tokens of a text. Four bytes count as one token, so that the numbers look real.
fn usage(input_bytes: usize, output_bytes: usize) -> Usage {
    let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
    let (input, output) = (tokens(input_bytes), tokens(output_bytes));
    Usage {
        input,
        output,
        total_tokens: input + output,
        ..Usage::default()
    }
}

fn spoken_bytes(chunk: &Chunk) -> usize {
    match chunk {
        Chunk::Thinking(text) | Chunk::Text(text) => text.len(),
        Chunk::CallStart { name, .. } => name.len(),
        Chunk::CallArguments { delta, .. } => delta.len(),
        Chunk::ThinkingSignature(_)
        | Chunk::TextSignature(_)
        | Chunk::Redacted(_)
        | Chunk::CallCorrected { .. }
        | Chunk::Windows(_)
        | Chunk::Finished(_) => 0,
    }
}

fn message_bytes(message: &Message) -> usize {
    match message {
        Message::User(user) => joined_text(&user.content).len(),
        Message::ToolResult(result) => joined_text(&result.content).len(),
        Message::Assistant(assistant) => {
            let calls = assistant.tool_calls();
            let calls: usize = calls.map(|call| call.arguments.to_string().len()).sum();
            joined_text(&assistant.content).len() + calls
        }
        Message::CompactionSummary(compaction) => compaction.summary.len(),
        Message::System(_) | Message::Other(_) => 0,
    }
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .map(|(at, _)| at)
            .find(|at| *at >= PIECE_BYTES);
        let (piece, remaining) = rest.split_at(end.unwrap_or(rest.len()));
        rest = remaining;
        Some(piece)
    })
}
