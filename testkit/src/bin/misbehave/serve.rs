//! Answering the owner's commands.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::inbox::{Command, Input};
use crate::player::{Flow, Player};
use crate::script::{self, Prompt};
use crate::step::Step;
use crate::{EXIT_USAGE, output};

/// Plays the script of the start, then serves until stdin ends.
pub(crate) fn serve(mut player: Player, at_start: Option<&str>) -> ExitCode {
    if let Some(text) = at_start
        && let Flow::Exit(code) = begin(&mut player, text)
    {
        return ExitCode::from(code);
    }
    if let Err(error) = player.inbox.open() {
        output::stderr(&format!("misbehave: {error}\n"));
        return ExitCode::FAILURE;
    }
    loop {
        let flow = match player.inbox.next() {
            Input::Line(line) => idle(&mut player, &line),
            Input::Eof => end_of_input(&player),
        };
        if let Flow::Exit(code) = flow {
            return ExitCode::from(code);
        }
    }
}

/// The consequence of an input for the step that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It waits on.
    WaitOn,
    /// It stops waiting.
    Break(Flow),
}

/// Hears an input while a script waits.
pub(crate) fn take_input(player: &mut Player, input: &Input) -> Heard {
    let line = match input {
        Input::Line(line) => line,
        Input::Eof => {
            return match end_of_input(player) {
                Flow::Next => Heard::WaitOn,
                flow => Heard::Break(flow),
            };
        }
    };
    let Some(command) = parse(line) else {
        return Heard::WaitOn;
    };
    match command.kind.as_str() {
        "prompt" => refuse(
            &command,
            "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.",
        ),
        "abort" if player.ignores_abort => {}
        "abort" => {
            abort(player, &command);
            return Heard::Break(Flow::Interrupted);
        }
        _ => ordinary(player, &command),
    }
    Heard::WaitOn
}

fn begin(player: &mut Player, text: &str) -> Flow {
    match script::find(text) {
        Prompt::Script(steps) => player.play(text, &steps),
        Prompt::Text => broken("MISBEHAVE_AT_START is no script"),
        Prompt::Broken(error) => broken(&error.to_string()),
    }
}

fn idle(player: &mut Player, line: &str) -> Flow {
    let Some(command) = parse(line) else {
        return Flow::Next;
    };
    match command.kind.as_str() {
        "prompt" => return prompt(player, &command),
        "abort" if player.ignores_abort => {}
        "abort" => abort(player, &command),
        _ => ordinary(player, &command),
    }
    Flow::Next
}

fn prompt(player: &mut Player, command: &Command) -> Flow {
    let steps = match script::find(&command.message) {
        Prompt::Script(steps) => steps,
        Prompt::Text => match script::take_next() {
            Ok(Some(steps)) => steps,
            Ok(None) => vec![Step::Reply(format!("echo: {}", command.message))],
            Err(error) => return broken(&format!("MISBEHAVE_NEXT: {error}")),
        },
        Prompt::Broken(error) => return broken(&error.to_string()),
    };
    if let Some(Step::RefusePrompt(text)) = steps.first() {
        refuse(command, text);
    } else {
        player.conversation.begin();
        accept(command);
    }
    player.play(&command.message, &steps)
}

fn abort(player: &mut Player, command: &Command) {
    player.conversation.abort();
    accept(command);
}

/// Commands that are answered the same whether a script plays or not.
fn ordinary(player: &mut Player, command: &Command) {
    match command.kind.as_str() {
        "steer" | "follow_up" => {
            accept(command);
            player
                .conversation
                .say(&format!("steered: {}", command.message));
        }
        "get_state" => respond(command, true, Some(&State::of(player)), None),
        // Nobody waits for this answer any more.
        "extension_ui_response" => {}
        other => refuse(command, &format!("Unknown command: {other}")),
    }
}

fn end_of_input(player: &Player) -> Flow {
    if player.ignores_eof {
        Flow::Next
    } else {
        Flow::Exit(0)
    }
}

fn broken(text: &str) -> Flow {
    output::stderr(&format!("misbehave: not a script: {text}\n"));
    Flow::Exit(EXIT_USAGE)
}

fn parse(line: &str) -> Option<Command> {
    match serde_json::from_str(line) {
        Ok(command) => Some(command),
        Err(error) => {
            output::record(&Response {
                id: None,
                kind: "response",
                command: "parse",
                success: false,
                data: None,
                error: Some(&format!("Failed to parse command: {error}")),
            });
            None
        }
    }
}

fn accept(command: &Command) {
    respond(command, true, None, None);
}

fn refuse(command: &Command, error: &str) {
    respond(command, false, None, Some(error));
}

fn respond(command: &Command, success: bool, data: Option<&State>, error: Option<&str>) {
    output::record(&Response {
        id: command.id.as_deref(),
        kind: "response",
        command: &command.kind,
        success,
        data,
        error,
    });
}

/// The answer to a command.
#[derive(Serialize)]
struct Response<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: &'static str,
    command: &'a str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a State>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// The answer to `get_state`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    model: Model,
    thinking_level: &'static str,
    is_streaming: bool,
    is_compacting: bool,
    steering_mode: &'static str,
    follow_up_mode: &'static str,
    session_id: &'static str,
    auto_compaction_enabled: bool,
    message_count: usize,
    pending_message_count: usize,
}

/// The model of the state.
#[derive(Serialize)]
struct Model {
    id: &'static str,
    provider: &'static str,
}

impl State {
    fn of(player: &Player) -> Self {
        Self {
            model: Model {
                id: "fake-model",
                provider: "fake",
            },
            thinking_level: "off",
            is_streaming: player.conversation.is_running(),
            is_compacting: false,
            steering_mode: "one-at-a-time",
            follow_up_mode: "one-at-a-time",
            session_id: "00000000-0000-7000-8000-000000000000",
            auto_compaction_enabled: true,
            message_count: player.conversation.message_count(),
            pending_message_count: 0,
        }
    }
}
