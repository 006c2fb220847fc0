//! The steps of a script: one JSON object with one key each.

use serde::Deserialize;
use serde_json::value::RawValue;

/// One step of a script, written as `{"name": argument}`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Step {
    /// A whole well-behaved turn that ends with this text and settles.
    Reply(String),
    /// An assistant `message_end` with this text and nothing else.
    Say(String),
    /// An assistant message that calls a tool, the execution and the result.
    ToolCall(ToolCall),
    /// A single `tool_execution_start`.
    ToolStart(ToolEvent),
    /// A single `tool_execution_update`.
    ToolUpdate(ToolEvent),
    /// A single `tool_execution_end`.
    ToolEnd(ToolEvent),
    /// `agent_settled`, after an `agent_end` if there was a message since the last one.
    Settle(Yes),
    /// An assistant `message_end` with `stopReason: "error"` and this text, then `agent_end`.
    ModelError(String),
    /// As the first step: the prompt is answered with `success: false` and this text.
    RefusePrompt(String),
    /// Prints this JSON object as one line, its keys in the order of the script.
    Record(Box<RawValue>),
    /// Prints the text as it is, without a newline.
    Print(String),
    /// Writes the text to stderr as it is.
    Stderr(String),
    /// Writes these bytes to stdout.
    Bytes(Vec<u8>),
    /// One assistant record whose bytes are written in two writes, cut inside this character.
    SplitChar(String),
    /// The text without a newline, flushed.
    HalfLine(String),
    /// The line `null`.
    Null(Yes),
    /// Records of known types with wrong types in every field.
    WrongTypes(Yes),
    /// One line of this size, written in chunks and ended by LF.
    Line(Bulk),
    /// Many lines of `lineBytes` each, until the size is reached.
    Flood(Bulk),
    /// `count` assistant `message_end` records with a text of `bytes` each.
    Messages(Messages),
    /// Closes stdout and lives on.
    CloseStdout(Yes),
    /// Closes stdin and lives on.
    CloseStdin(Yes),
    /// Waits for ever; `abort` and the end of stdin interrupt it.
    Hang(Yes),
    /// Waits this number of milliseconds.
    SleepMs(u64),
    /// Waits until this file exists.
    WaitForFile(String),
    /// Creates this file.
    Touch(String),
    /// Runs this command in a shell, where the child works, and waits for its end.
    Shell(String),
    /// Ignores SIGTERM, SIGINT and SIGHUP from now on.
    IgnoreTerm(Yes),
    /// Lives on when stdin ends.
    IgnoreEof(bool),
    /// Neither obeys nor answers `abort`.
    IgnoreAbort(bool),
    /// Starts a grandchild that lives for ever and waits until its pid is in the file.
    Fork(Fork),
    /// Writes every message from now on into the file that `--session` names, as pi does.
    KeepSession(Yes),
    /// Exits with this code.
    Exit(u8),
    /// Dies by this signal, given as `KILL` or `SIGKILL`.
    Signal(String),
    /// Sends an `extension_ui_request`, waits for its answer and prints `answered: <the answer>`.
    AskUser(AskUser),
    /// Writes the environment to this file, as a JSON object.
    DumpEnv(String),
    /// Writes the arguments after the program's name to this file, as a JSON array.
    DumpArgs(String),
    /// Writes the inherited descriptors to this file, as a JSON object of number and target.
    DumpFds(String),
    /// Writes the working directory to this file.
    DumpCwd(String),
}

/// The argument `true` of a step that needs no other.
#[derive(Debug, Deserialize)]
#[serde(try_from = "bool")]
pub(crate) struct Yes;

impl TryFrom<bool> for Yes {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        value.then_some(Self).ok_or("this step takes `true` only")
    }
}

/// A tool call with its result.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    #[serde(default = "empty_object")]
    pub(crate) arguments: Box<RawValue>,
    #[serde(default)]
    pub(crate) result: String,
    #[serde(default)]
    pub(crate) is_error: bool,
    /// `details` of the result, as `subagent_finalize` gives them.
    #[serde(default)]
    pub(crate) details: Option<Box<RawValue>>,
    /// True if the result ends the turn.
    #[serde(default)]
    pub(crate) terminate: bool,
}

/// One event of a tool's execution.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ToolEvent {
    #[serde(default = "default_call_id")]
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default = "empty_object")]
    pub(crate) arguments: Box<RawValue>,
    #[serde(default)]
    pub(crate) result: String,
    #[serde(default)]
    pub(crate) is_error: bool,
}

/// The amount and the kind of the output.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Bulk {
    #[serde(default)]
    megabytes: usize,
    /// For small amounts; added to the megabytes.
    #[serde(default)]
    bytes: usize,
    #[serde(rename = "type")]
    pub(crate) kind: LineKind,
    #[serde(default = "default_line_bytes")]
    pub(crate) line_bytes: usize,
}

impl Bulk {
    pub(crate) fn size(&self) -> usize {
        self.megabytes * 1_000_000 + self.bytes
    }
}

/// The record a long line or a flood is made of.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LineKind {
    MessageStart,
    MessageUpdate,
    MessageEnd,
    TurnEnd,
    AgentEnd,
    ToolExecutionUpdate,
    ToolExecutionEnd,
    /// No record at all.
    Text,
}

/// The number and the length of messages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Messages {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
}

/// A grandchild to start.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Fork {
    pub(crate) kind: ForkKind,
    pub(crate) pid_file: String,
    /// True if the grandchild keeps stdout and stderr open, as a shell's background job does.
    #[serde(default)]
    pub(crate) inherit_output: bool,
}

/// The way in which a grandchild escapes a careless stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ForkKind {
    /// A plain child in the group of its parent.
    SameGroup,
    /// A child in a session, and so in a group, of its own.
    OwnSession,
    /// Its parent has exited, so it hangs on the nearest reaper.
    DoubleFork,
    /// Double-forked and in a session of its own.
    Daemon,
    /// In the group of its parent, deaf to SIGTERM, SIGINT and SIGHUP.
    IgnoresTerm,
    /// In a session of its own, without any environment.
    Forgetful,
    /// Goes on as a new process two hundred times, so that its number changes.
    Relay,
    /// Goes on as a new process all the time, thousands of times, and ends then.
    Race,
    /// Twenty plain processes.
    Crowd,
}

/// A dialog of an extension.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskUser {
    pub(crate) id: String,
    pub(crate) method: String,
}

fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

fn default_call_id() -> String {
    "call_1".to_owned()
}

fn default_line_bytes() -> usize {
    300
}
