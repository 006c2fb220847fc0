//! `logs`: the record of a run as people read it, and as it grows.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;
use pi_subagents_records::{IndexedRun, RecordTail, RecordedRun};
use pi_subagents_view::story::Story;
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{RunEvent, RunSummary, Timestamp, text};

use crate::commands::read_runs;
use crate::log_entry::{EntryKind, LogEntry};
use crate::log_lines::log_lines;
use crate::places::find_places;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_ground::print::Printer;
use pi_subagents_ground::runtime::block_on;
use pi_subagents_ground::sheet::Sheet;
use pi_subagents_runs::follow::Follower;
use pi_subagents_runs::missing_record::LostRecord;

/// About how many bytes are read at once.
const PIECE: usize = 256 << 10;

#[derive(Args)]
pub(crate) struct LogsArgs {
    /// Run or session: an id or its beginning, last, last~2, or the name of a task or agent
    id: String,
    /// Keep printing until the run has ended
    #[arg(long, short)]
    follow: bool,
    /// Begin with the last N lines instead of the first one
    #[arg(long, short = 'n', value_name = "N")]
    tail: Option<usize>,
}

pub(crate) fn run(args: &LogsArgs, printer: Printer) -> Result<ExitCode, CommandError> {
    let places = find_places()?;
    let runs = read_runs::meant(&args.id, "logs", &places, printer)?;
    let mut page = Page::new(Sheet::of_stdout(&places), args.tail);
    let mut lost = Vec::new();
    block_on(async {
        match print_all(&places, &runs, args.follow, &mut page, &mut lost).await {
            // A reader that left is no error of ours.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CommandError::failed("could not write to stdout").because(&error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    })?;
    read_runs::print_lost(lost, &runs, printer)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the runs of a conversation one after another. Only those under way are followed.
async fn print_all(
    places: &Places,
    runs: &[IndexedRun],
    is_followed: bool,
    page: &mut Page,
    lost: &mut Vec<LostRecord>,
) -> io::Result<()> {
    for (place, run) in runs.iter().enumerate() {
        if runs.len() > 1 {
            page.heading(run, place, runs.len())?;
        }
        match print_run(places, run, is_followed && run.is_open(), page).await {
            Ok(()) => {}
            Err(Untold::NoRecord(record)) => lost.push(record),
            Err(Untold::Reader(error)) => return Err(error),
        }
    }
    page.begin()
}

/// The reason why a run is not printed to its end.
enum Untold {
    /// Its record cannot be read.
    NoRecord(LostRecord),
    /// Nobody reads the output.
    Reader(io::Error),
}

impl From<io::Error> for Untold {
    fn from(error: io::Error) -> Self {
        Self::Reader(error)
    }
}

/// Prints the recorded events of a run, and further ones until it is over if it is followed.
async fn print_run(
    places: &Places,
    run: &IndexedRun,
    is_followed: bool,
    page: &mut Page,
) -> Result<(), Untold> {
    let follower = Follower::start(places);
    let mut record = follower.record_of(run);
    let mut tail = RecordTail::new(&run.directory);
    let mut reading = Reading::default();
    loop {
        // This is asked before the last look, so that events from before the end are still printed.
        let is_going = is_followed && record.is_going();
        let next = |tail: &mut RecordTail| {
            let events = tail.next(PIECE);
            events.map_err(|error| Untold::NoRecord(LostRecord::new(run, error)))
        };
        loop {
            let events = next(&mut tail)?;
            if events.is_empty() {
                break;
            }
            page.add(&events, &mut reading)?;
        }
        if !is_going {
            if let Some(why) = record.unseen() {
                page.warn(why)?;
            }
            return Ok(page.add_end(run, &reading.summary)?);
        }
        page.begin()?;
        record.changed().await;
    }
}

/// A run as far as it was read.
struct Reading {
    story: Story,
    summary: RunSummary,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            story: Story::default(),
            summary: RunSummary::without_text(),
        }
    }
}

/// The printed lines. As long as only the last lines are wanted and nothing was printed, they are
/// held.
struct Page {
    sheet: Sheet,
    now: Timestamp,
    held: Option<Held>,
}

/// The last lines so far.
struct Held {
    lines: VecDeque<String>,
    most: usize,
}

impl Page {
    fn new(sheet: Sheet, tail: Option<usize>) -> Self {
        let held = tail.map(|most| Held {
            lines: VecDeque::new(),
            most,
        });
        Self {
            sheet,
            now: Timestamp::now(),
            held,
        }
    }

    fn heading(&mut self, run: &IndexedRun, place: usize, all: usize) -> io::Result<()> {
        let name = text::one_line(&text::clean(&run.name));
        let words = format!("=== Run {}/{all}: {name} ({}) ===", place + 1, run.run);
        self.put(&[Line::new(Role::Title, &words)])
    }

    fn add(&mut self, events: &[RunEvent], reading: &mut Reading) -> io::Result<()> {
        for event in events {
            reading.summary.apply(event);
            for item in reading.story.apply(event) {
                let entry = LogEntry::of(&item.what, &reading.summary);
                // Thoughts are in the session; a log shows deeds.
                let entry = entry.filter(|entry| entry.kind != EntryKind::Thought);
                if let Some(entry) = entry {
                    self.put_entry(&entry, item.at)?;
                }
            }
        }
        Ok(())
    }

    /// Adds something that is in no record.
    fn warn(&mut self, words: &str) -> io::Result<()> {
        self.put_entry(&LogEntry::warning(words), Timestamp::now())
    }

    /// Adds the end of a run whose events lack it, as after a full disk.
    fn add_end(&mut self, run: &IndexedRun, summary: &RunSummary) -> io::Result<()> {
        if summary.ending.is_some() {
            return Ok(());
        }
        let Some(end) = RecordedRun::read(&run.directory)
            .ok()
            .and_then(|run| run.end)
        else {
            return Ok(());
        };
        let words = [Some(end.status.as_str().to_owned()), end.error_message];
        let words: Vec<String> = words.into_iter().flatten().collect();
        let at = end.ended_at.unwrap_or(self.now);
        self.put_entry(&LogEntry::warning(&words.join(": ")), at)
    }

    fn put_entry(&mut self, entry: &LogEntry, at: Timestamp) -> io::Result<()> {
        let lines = log_lines(entry, at, self.now, &self.sheet);
        self.put(&lines)
    }

    fn put(&mut self, lines: &[Line]) -> io::Result<()> {
        for line in lines {
            let line = self.sheet.text(std::slice::from_ref(line));
            match &mut self.held {
                None => writeln!(io::stdout(), "{line}")?,
                Some(held) => {
                    held.lines.push_back(line);
                    while held.lines.len() > held.most {
                        held.lines.pop_front();
                    }
                }
            }
        }
        Ok(())
    }

    /// Prints the last lines so far, and from now on everything.
    fn begin(&mut self) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        for line in self.held.take().into_iter().flat_map(|held| held.lines) {
            writeln!(stdout, "{line}")?;
        }
        stdout.flush()
    }
}
