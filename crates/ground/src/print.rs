//! Prints the results of commands: data to stdout, notes for people to stderr, or both to a page.

mod envelope;
mod word_wrap;

use std::borrow::Cow;
use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pi_subagents_view::{Line, Paint, to_ascii};
use pi_subagents_vocabulary::text::clean;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::envelope::{Envelope, EnvelopeHead, EnvelopeKind};
use self::word_wrap::wrapped;
use crate::error::CommandError;
use crate::{locale, terminal};

/// The way in which results are printed.
#[derive(Clone, Copy, Default)]
pub struct Output {
    pub format: Format,
    /// With JSON, also the data that a program needs to show the result as the tools inside pi do.
    pub details: bool,
    /// No words for people, except errors.
    pub quiet: bool,
}

/// The form in which a result is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// The text that people read and that a script takes as the answer.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// JSON lines: each event, then the result.
    JsonStream,
    /// One document with a header for each run, as models read it.
    Markdown,
}

impl Format {
    /// Returns JSON if that was asked for, else text.
    pub fn json_if(is_asked_for: bool) -> Self {
        if is_asked_for { Self::Json } else { Self::Text }
    }
}

/// Prints for one command, in the way its options ask for.
#[derive(Clone, Copy)]
pub struct Printer<'a> {
    options: Output,
    /// Takes everything, where there is no terminal to print to.
    page: Option<&'a Page>,
}

/// Everything that was printed, in order.
#[derive(Debug, Default)]
pub struct Page {
    printed: Mutex<Vec<Printed>>,
}

/// One printed text.
#[derive(Debug)]
pub enum Printed {
    Data(String),
    Note(String),
}

impl Page {
    pub fn into_printed(self) -> Vec<Printed> {
        self.printed
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, printed: Printed) {
        self.printed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(printed);
    }
}

impl<'a> Printer<'a> {
    pub fn new(options: Output) -> Self {
        Self {
            options,
            page: None,
        }
    }

    /// Prints text to a page.
    pub fn to_page(page: &'a Page) -> Self {
        Self {
            options: Output::default(),
            page: Some(page),
        }
    }

    /// Prints text, for a command that takes no options of ours.
    pub fn for_people() -> Self {
        Self::new(Output::default())
    }

    /// Prints JSON, for a command line that could not be read.
    pub fn for_programs() -> Self {
        Self::new(Output {
            format: Format::Json,
            ..Output::default()
        })
    }

    pub fn format(self) -> Format {
        self.options.format
    }

    pub fn is_json(self) -> bool {
        match self.format() {
            Format::Json | Format::JsonStream => true,
            Format::Text | Format::Markdown => false,
        }
    }

    pub fn is_json_stream(self) -> bool {
        self.format() == Format::JsonStream
    }

    /// Returns whether JSON is to carry the details of the tool too.
    pub fn has_details(self) -> bool {
        self.options.details
    }

    pub fn is_quiet(self) -> bool {
        self.options.quiet
    }

    /// Prints text for people, with a newline if it lacks one. No escape sequence of a child or of
    /// a name may come through, not even to a pipe: it may end at a terminal.
    pub fn data(self, text: &str) {
        let text = harmless(text, io::stdout().is_terminal());
        match self.page {
            Some(page) => page.add(Printed::Data(text)),
            None => write_data(&text),
        }
    }

    /// Prints text that was painted: its spans were cleaned when they were made.
    pub fn painted(self, text: &str) {
        match self.page {
            Some(page) => page.add(Printed::Data(clean(text))),
            None => write_data(text),
        }
    }

    /// Prints text for programs, or the answer of a model: a pipe gets it as it is.
    pub fn exact(self, text: &str) {
        if self.page.is_some() || io::stdout().is_terminal() {
            self.data(text);
        } else {
            write_data(text);
        }
    }

    /// Prints lines to a terminal, in colours if it has any. Their text was cleaned when they were
    /// made.
    pub fn lines(self, lines: &[Line], paint: Paint) {
        let painted: Vec<String> = lines.iter().map(|line| paint.line(line)).collect();
        let text = painted.join("\n");
        match self.page {
            Some(page) => page.add(Printed::Data(text)),
            None => write_data(&text),
        }
    }

    /// Returns whether data is printed as text to a terminal.
    pub fn is_screen(self) -> bool {
        !self.is_json() && io::stdout().is_terminal()
    }

    /// Prints painted text in place of the terminal's screen; elsewhere before an empty line.
    /// Everything goes out in one write and the rows below are cleared last, so that nothing
    /// flickers.
    pub fn screen(self, text: &str) {
        if self.is_screen() {
            let lines = text.replace('\n', "\x1b[K\n");
            self.painted(&format!("\x1b[H{lines}\x1b[K\n\x1b[J"));
        } else {
            self.painted(&format!("{text}\n\n"));
        }
    }

    /// Prints the result of a command as one JSON object: for a stream on one line.
    pub fn json<T: Serialize + JsonSchema>(self, result: &T) {
        self.envelope(&Envelope::new(EnvelopeKind::Result, result));
    }

    /// Prints the result of a command in one line, for a command that prints one after another.
    pub fn json_line<T: Serialize + JsonSchema>(self, result: &T) {
        let line = serde_json::to_string(&Envelope::new(EnvelopeKind::Result, result));
        self.written(line);
    }

    /// Prints something in its envelope. A program that reads along gets it as it is made, so that a
    /// long conversation is never in memory as a whole.
    pub fn envelope<T: Serialize>(self, envelope: &Envelope<T>) {
        if self.page.is_none() && !io::stdout().is_terminal() {
            return write_json(envelope, self.is_json_stream());
        }
        self.written(if self.is_json_stream() {
            serde_json::to_string(envelope)
        } else {
            serde_json::to_string_pretty(envelope)
        });
    }

    fn written(self, text: serde_json::Result<String>) {
        match text {
            Ok(text) => self.exact(&text),
            Err(error) => self.note(&format!("the answer could not be written as JSON: {error}")),
        }
    }

    /// Prints a sentence for people, unless they asked for quiet.
    pub fn note(self, text: &str) {
        if self.page.is_some() || !self.is_quiet() {
            self.complain(text);
        }
    }

    /// Prints an error, even if quiet was asked for.
    pub fn complain(self, text: &str) {
        match self.page {
            Some(page) => page.add(Printed::Note(harmless(text, io::stderr().is_terminal()))),
            None => write_note(text),
        }
    }

    /// Prints an error where its reader looks for it.
    pub fn fail(self, error: &CommandError) -> ExitCode {
        if self.is_json() {
            self.envelope(&Envelope::new(EnvelopeKind::Error, error.to_json()));
        } else {
            write_note(&error.to_text());
        }
        ExitCode::from(error.exit_code())
    }
}

/// Writes to stdout. A reader that left is no error of ours.
fn write_data(text: &str) {
    let mut stdout = io::stdout().lock();
    let text = shown(text, stdout.is_terminal());
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(newline.as_bytes()))
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => lost(&error),
        Ok(()) | Err(_) => {}
    }
}

/// Writes JSON to stdout while it is made.
fn write_json<T: Serialize>(value: &T, is_one_line: bool) {
    let mut stdout = BufWriter::new(io::stdout().lock());
    let written = if is_one_line {
        serde_json::to_writer(&mut stdout, value)
    } else {
        serde_json::to_writer_pretty(&mut stdout, value)
    };
    let written = written
        .map_err(io::Error::from)
        .and_then(|()| stdout.write_all(b"\n"))
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => lost(&error),
        Ok(()) | Err(_) => {}
    }
}

/// Writes sentences for people to stderr. A terminal gets them broken between words.
fn write_note(text: &str) {
    let is_terminal = io::stderr().is_terminal();
    let mut text = harmless(text, is_terminal);
    if is_terminal {
        text = wrapped(&text, terminal::size(io::stderr()).0);
    }
    // Nothing can be done about a terminal that is gone.
    _ = writeln!(io::stderr(), "{}", shown(&text, is_terminal));
}

/// True if some data could not be printed.
static HAS_LOST_DATA: AtomicBool = AtomicBool::new(false);

fn lost(error: &io::Error) {
    if !HAS_LOST_DATA.swap(true, Ordering::Relaxed) {
        // If nobody reads errors either, nothing can be done.
        _ = writeln!(io::stderr(), "error: could not write to stdout: {error}");
    }
}

/// Returns the exit code of a command. A command that could not print its result has failed,
/// however its runs ended.
pub fn checked(code: ExitCode) -> ExitCode {
    if code == ExitCode::SUCCESS && HAS_LOST_DATA.load(Ordering::Relaxed) {
        return ExitCode::FAILURE;
    }
    code
}

/// Returns a text as a terminal can show it. Anything else gets it as it is.
fn shown(text: &str, is_terminal: bool) -> Cow<'_, str> {
    if is_terminal && locale::is_ascii_here() {
        Cow::Owned(to_ascii(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// Removes escape sequences and control characters; only a terminal needs spaces for tabs.
fn harmless(text: &str, is_terminal: bool) -> String {
    if is_terminal {
        return clean(text);
    }
    let parts: Vec<String> = text.split('\t').map(clean).collect();
    parts.join("\t")
}
