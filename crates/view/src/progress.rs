//! Progress as a log, for people without a terminal: one line per change.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::time::Duration;

use pi_subagents_vocabulary::child_protocol::ChildRecord;
use pi_subagents_vocabulary::{
    Ending, EventSink, Happening, RunEvent, RunId, RunSummary, SessionId, Task, Timestamp,
    ToolResult, text,
};
use unicode_width::UnicodeWidthStr;

use crate::held_call::more_lines;
use crate::item_lines::{Piece, first_of_speech, lines_of};
use crate::paint::fit;
use crate::preview::{CallOutcome, CallPreview, PreviewContext};
use crate::story::{Story, What};
use crate::{Line, Role, Room, Span};

/// A name takes no more columns than this.
const MAX_NAME_COLUMNS: usize = 24;

/// A line about a run takes no more columns than this, behind the name.
const MAX_COLUMNS: usize = 120;

/// More calls than this are hardly under way at once.
const MAX_OPEN_CALLS: usize = 64;

/// Within this time all tasks that have a place have started.
const STARTING: Duration = Duration::from_secs(1);

/// Writes every change as a line behind the name of its task.
///
/// A line that cannot be written is lost; a run never fails because nobody reads its progress.
#[derive(Debug)]
pub struct ProgressLines<W: Write + Send> {
    output: W,
    /// The text that is written next: the lines of all events that came at once.
    page: String,
    context: PreviewContext,
    runs: HashMap<RunId, Known>,
    /// The runs that are accepted and not started yet. They are reported only if that lasts.
    unstarted: Vec<RunId>,
    name_columns: usize,
    /// The last warning, which is printed once if it comes for several runs.
    last_warning: Option<String>,
}

#[derive(Debug)]
struct Known {
    name: String,
    session: SessionId,
    context: PreviewContext,
    story: Story,
    accepted_at: Timestamp,
    started_at: Option<Timestamp>,
    /// The newest calls without a result. A result is reported only if it is an error.
    calls: VecDeque<(String, CallPreview)>,
}

impl<W: Write + Send> ProgressLines<W> {
    /// Makes a log on `output`.
    pub fn new(output: W, context: PreviewContext) -> Self {
        Self {
            output,
            page: String::new(),
            context,
            runs: HashMap::new(),
            unstarted: Vec::new(),
            name_columns: 0,
            last_warning: None,
        }
    }

    /// Gives the output back.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn accepted(&mut self, event: &RunEvent, task: &Task) {
        let name = shown_name(task);
        self.name_columns = self.name_columns.max(name.width());
        self.unstarted.push(event.run.clone());
        let known = Known {
            name,
            session: task.session.clone(),
            context: PreviewContext {
                cwd: task.cwd.clone(),
                ..self.context.clone()
            },
            story: Story::default(),
            accepted_at: event.at,
            started_at: None,
            calls: VecDeque::new(),
        };
        self.runs.insert(event.run.clone(), known);
    }

    fn started(&mut self, event: &RunEvent) {
        self.unstarted.retain(|run| *run != event.run);
        if let Some(known) = self.runs.get_mut(&event.run) {
            // A child that is to fix a gate is started again; the run goes on.
            let words = match known.started_at {
                None => format!("started, session {}", known.session),
                Some(_) => "started again".to_owned(),
            };
            known.started_at.get_or_insert(event.at);
            self.write(&event.run, &words);
        }
    }

    /// Prints a line about each run that has no place yet.
    ///
    /// A task that starts at once was never queued. So this is called when a run that did start goes
    /// on, and a run counts as queued only after longer than it takes to start all that have a
    /// place.
    fn print_queued(&mut self, event: &RunEvent) {
        let busy = self.runs.get(&event.run);
        if busy.is_none_or(|known| known.started_at.is_none()) {
            return;
        }
        let waits = |run: &mut RunId| {
            let known = self.runs.get(run);
            known.is_some_and(|known| between(known.accepted_at, event.at) >= STARTING)
        };
        let queued: Vec<RunId> = self.unstarted.extract_if(.., waits).collect();
        for run in queued {
            self.write(&run, "queued until another run ends");
        }
    }

    fn changed(&mut self, event: &RunEvent) {
        let items = match self.runs.get_mut(&event.run) {
            Some(known) => known.story.apply(event),
            None => Story::default().apply(event),
        };
        let mut has_text = false;
        for item in items {
            if let What::Answer(result) = item.what {
                self.answered(event, result);
            }
            let known = self.runs.get(&event.run);
            let context = known.map_or(&self.context, |known| &known.context);
            if let What::Words(text) = &item.what {
                if !has_text && let Some((line, more)) = first_of_speech(text, context) {
                    has_text = true;
                    self.write_words(&event.run, &line, more);
                }
                continue;
            }
            for piece in lines_of(&item.what, context, Room::PROGRESS) {
                match piece {
                    Piece::Words(lines) => {
                        if let Some((first, rest)) = lines.split_first()
                            && !std::mem::replace(&mut has_text, true)
                        {
                            self.write_words(&event.run, &first.line, rest.len());
                        }
                    }
                    Piece::Call { id, preview } => self.called(event, id, preview),
                }
            }
        }
    }

    /// Prints the first line of a text, and the number of further lines.
    fn write_words(&mut self, run: &RunId, first: &Line, more: usize) {
        if more == 0 {
            return self.write_line(run, first);
        }
        let more = more_lines(more).text();
        let room = MAX_COLUMNS - text::columns(&more) - 1;
        let first = fit(first, room).text();
        self.write(run, &format!("{first} {more}"));
    }

    fn called(&mut self, event: &RunEvent, id: String, preview: CallPreview) {
        if let Some(line) = preview.lines(&CallOutcome::Untold, MAX_COLUMNS).first() {
            self.write_line(&event.run, line);
        }
        if let Some(known) = self.runs.get_mut(&event.run) {
            if known.calls.len() == MAX_OPEN_CALLS {
                known.calls.pop_front();
            }
            known.calls.push_back((id, preview));
        }
    }

    /// Prints a call once more if it failed, with its error.
    fn answered(&mut self, event: &RunEvent, result: &ToolResult) {
        let Some(known) = self.runs.get_mut(&event.run) else {
            return;
        };
        let place = known.calls.iter().position(|(id, _)| *id == result.call_id);
        let call = place.and_then(|place| known.calls.remove(place));
        let outcome = CallOutcome::of(result);
        if let (Some((_, preview)), CallOutcome::Failed(_)) = (call, &outcome) {
            for line in preview.lines(&outcome, MAX_COLUMNS) {
                self.write_line(&event.run, &line);
            }
        }
    }

    fn ended(&mut self, event: &RunEvent, ending: &Ending) {
        let took = self
            .runs
            .get(&event.run)
            .and_then(|known| known.started_at)
            .map(|started| format!(" after {}", text::duration(between(started, event.at))))
            .unwrap_or_default();
        let status = ending.status();
        let (icon, word) = (status.icon(), status.as_str());
        let why = ending
            .message()
            .map(|message| format!(": {}", first_sentence(&message)));
        let why = why.unwrap_or_default();
        let line = Line::new(Role::Plain, &format!("{icon} {word}{took}{why}"));
        self.write_line(&event.run, &line);
        self.unstarted.retain(|run| *run != event.run);
        self.runs.remove(&event.run);
    }

    fn write_line(&mut self, run: &RunId, line: &Line) {
        let words = fit(line, MAX_COLUMNS);
        self.write(run, &words.text());
    }

    /// Writes a line on the page.
    fn write(&mut self, run: &RunId, words: &str) {
        let name = match self.runs.get(run) {
            Some(known) => known.name.as_str(),
            None => run.as_str(),
        };
        let margin = self.name_columns.saturating_sub(name.width()) + 2;
        let words = Span::new(Role::Plain, words);
        self.page.push_str(name);
        self.page.extend(std::iter::repeat_n(' ', margin));
        self.page.push_str(words.text().trim_end());
        self.page.push('\n');
    }

    fn turn_page(&mut self) {
        // If the log cannot be written, there is no other way to reach the person.
        let _ = self.output.write_all(self.page.as_bytes());
        let _ = self.output.flush();
        self.page.clear();
    }

    fn add(&mut self, event: &RunEvent) {
        match &event.happening {
            Happening::Accepted(task) => self.accepted(event, task),
            Happening::Started(_) => self.started(event),
            Happening::Ended(ending) => {
                self.print_queued(event);
                self.ended(event, ending);
            }
            Happening::Said {
                record: ChildRecord::Delta | ChildRecord::Repetition,
                ..
            }
            | Happening::Placed(_)
            | Happening::Printed(_)
            | Happening::Complained(_)
            | Happening::Granted(_)
            | Happening::Stopping(_) => {}
            Happening::Warned(warning) if self.last_warning.as_ref() == Some(warning) => {}
            Happening::Warned(warning) => {
                self.last_warning = Some(warning.clone());
                self.print_queued(event);
                self.changed(event);
            }
            Happening::Said { .. }
            | Happening::Steered(_)
            | Happening::Corrected(_)
            | Happening::Reported(_)
            | Happening::FellBack(_)
            | Happening::Rung(_)
            | Happening::Asked(_)
            | Happening::Answered(_)
            | Happening::Gated(_) => {
                self.print_queued(event);
                self.changed(event);
            }
        }
    }
}

impl<W: Write + Send> EventSink for ProgressLines<W> {
    fn on_events(&mut self, events: &[RunEvent], _: &RunSummary) {
        for event in events {
            self.add(event);
        }
        if !self.page.is_empty() {
            self.turn_page();
        }
    }
}

/// Returns the first sentence of an error. The summary below the log has all of it.
fn first_sentence(error: &str) -> &str {
    let line = error.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}

/// Returns the time between two instants; zero if the clock was set back.
fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::try_from(later.duration_since(earlier)).unwrap_or_default()
}

fn shown_name(task: &Task) -> String {
    let name = text::clean(&task.name).replace('\n', " ");
    text::cut_columns(&name, MAX_NAME_COLUMNS)
}
