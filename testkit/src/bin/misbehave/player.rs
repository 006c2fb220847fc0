//! Playing a script, step by step.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::dump::{self, Descriptors};
use crate::inbox::{Inbox, Input};
use crate::record::Record;
use crate::serve::{self, Heard};
use crate::step::{AskUser, Step};
use crate::turn::{self, Conversation};
use crate::{EXIT_USAGE, bulk, garbage, grandchild, output, shell, signals};

/// The pause between two looks of a step that waits for a file.
const FILE_POLL: Duration = Duration::from_millis(5);

/// The state of the child.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) inbox: Inbox,
    pub(crate) conversation: Conversation,
    pub(crate) ignores_abort: bool,
    pub(crate) ignores_eof: bool,
    arguments: Vec<String>,
    descriptors: Descriptors,
}

/// The continuation after a step or a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next step.
    Next,
    /// The rest of the script is dropped, the process serves on.
    Interrupted,
    /// The process exits with this code.
    Exit(u8),
}

impl Player {
    /// Makes a player that was started with these arguments and descriptors.
    pub(crate) fn new(arguments: Vec<String>, descriptors: Descriptors) -> Self {
        Self {
            inbox: Inbox::new(),
            conversation: Conversation::default(),
            ignores_abort: false,
            ignores_eof: false,
            arguments,
            descriptors,
        }
    }

    /// Plays a script that came as `prompt`.
    pub(crate) fn play(&mut self, prompt: &str, steps: &[Step]) -> Flow {
        for step in steps {
            let flow = self.step(prompt, step).unwrap_or_else(|error| {
                output::stderr(&format!("misbehave: {step:?}: {error}\n"));
                Flow::Exit(EXIT_USAGE)
            });
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn step(&mut self, prompt: &str, step: &Step) -> io::Result<Flow> {
        match step {
            Step::Reply(text) => self.conversation.reply(prompt, text),
            Step::Say(text) => self.conversation.say(text),
            Step::ToolCall(call) => self.conversation.tool_call(call),
            Step::ToolStart(event) => turn::tool_start(event),
            Step::ToolUpdate(event) => turn::tool_update(event),
            Step::ToolEnd(event) => turn::tool_end(event),
            Step::Settle(_) => self.conversation.settle(),
            Step::ModelError(text) => self.conversation.model_error(text),
            // The answer to the prompt was given before the script began.
            Step::RefusePrompt(_) => {}
            Step::Record(raw) => output::line(raw.get().replace(['\n', '\r'], " ")),
            Step::Print(text) | Step::HalfLine(text) => output::raw(text.as_bytes()),
            Step::Stderr(text) => output::stderr(text),
            Step::Bytes(bytes) => output::raw(bytes),
            Step::SplitChar(character) => garbage::split_char(character),
            Step::Null(_) => output::line("null"),
            Step::WrongTypes(_) => garbage::wrong_types(),
            Step::Line(size) => bulk::line(size),
            Step::Flood(size) => bulk::flood(size),
            Step::Messages(messages) => bulk::messages(messages),
            Step::CloseStdout(_) => rustix::stdio::dup2_stdout(File::create("/dev/null")?)?,
            Step::CloseStdin(_) => self.inbox.close()?,
            Step::Hang(_) => return Ok(self.hang()),
            Step::SleepMs(milliseconds) => {
                return Ok(self.sleep(Duration::from_millis(*milliseconds)));
            }
            Step::WaitForFile(path) => return Ok(self.wait_for_file(Path::new(path))),
            Step::Touch(path) => dump::write_whole(path, "")?,
            Step::Shell(command) => shell::run(command)?,
            Step::IgnoreTerm(_) => signals::ignore_polite_ones()?,
            Step::IgnoreEof(ignores) => self.ignores_eof = *ignores,
            Step::IgnoreAbort(ignores) => self.ignores_abort = *ignores,
            Step::Fork(fork) => {
                grandchild::start(fork)?;
                return Ok(self.wait_for_file(Path::new(&fork.pid_file)));
            }
            Step::KeepSession(_) => self.conversation.keep(session_file(&self.arguments)?)?,
            Step::Exit(code) => return Ok(Flow::Exit(*code)),
            Step::Signal(name) => match signals::by_name(name) {
                Some(signal) => signals::die_by(signal),
                None => return Err(io::Error::other("no such signal")),
            },
            Step::AskUser(question) => return Ok(self.ask(question)),
            Step::DumpEnv(path) => dump::write_whole(path, &output::json(&dump::environment()))?,
            Step::DumpArgs(path) => dump::write_whole(path, &output::json(&self.arguments))?,
            Step::DumpFds(path) => dump::write_whole(path, &output::json(&self.descriptors))?,
            Step::DumpCwd(path) => dump::write_whole(path, &dump::working_directory()?)?,
        }
        Ok(Flow::Next)
    }

    fn hang(&mut self) -> Flow {
        loop {
            let input = self.inbox.next();
            if let Heard::Break(flow) = serve::take_input(self, &input) {
                return flow;
            }
        }
    }

    fn sleep(&mut self, duration: Duration) -> Flow {
        let end = Instant::now() + duration;
        self.wait_while(duration, || Instant::now() < end)
    }

    fn wait_for_file(&mut self, path: &Path) -> Flow {
        self.wait_while(FILE_POLL, || !fs::exists(path).unwrap_or(false))
    }

    /// Listens to the owner while `condition` holds, asking it at least every `interval`.
    fn wait_while(&mut self, interval: Duration, condition: impl Fn() -> bool) -> Flow {
        while condition() {
            let Some(input) = self.inbox.next_within(interval) else {
                continue;
            };
            if let Heard::Break(flow) = serve::take_input(self, &input) {
                return flow;
            }
        }
        Flow::Next
    }

    fn ask(&mut self, question: &AskUser) -> Flow {
        output::record(&Record::ExtensionUiRequest {
            id: &question.id,
            method: &question.method,
            title: "Really?",
            message: "The child asks a person.",
        });
        loop {
            let input = self.inbox.next();
            if let Input::Line(line) = &input
                && is_answer(line, &question.id)
            {
                self.conversation.say(&format!("answered: {line}"));
                return Flow::Next;
            }
            if let Heard::Break(flow) = serve::take_input(self, &input) {
                return flow;
            }
        }
    }
}

/// Returns the file that `--session` names.
fn session_file(arguments: &[String]) -> io::Result<&Path> {
    let pair = arguments.windows(2).find(|pair| pair[0] == "--session");
    let file = pair.map(|pair| Path::new(&pair[1]));
    file.ok_or_else(|| io::Error::other("there is no --session"))
}

fn is_answer(line: &str, id: &str) -> bool {
    serde_json::from_str::<Value>(line)
        .is_ok_and(|value| value["type"] == "extension_ui_response" && value["id"] == id)
}
