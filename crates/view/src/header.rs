//! The first line of a window: icon, name, worker, definition and model, tools, calls and cost,
//! things to do, clock.

use std::time::Duration;

use pi_subagents_vocabulary::{Cost, Status, Timestamp, text};

use crate::figures::{clock as clock_words, cost_of, tokens_of, usage_words};
use crate::paint::fit;
use crate::{Line, Role, Window};

/// A name takes no more columns than this; the rest of the header should be seen too.
const MAX_NAME_COLUMNS: usize = 48;

/// Draws the header of a window, cut to `columns`.
///
/// If the header does not fit, the tools go first, then the model, the calls, the tokens, the definition
/// and the cost; the clock stays as long as it can.
pub fn header(window: &Window, now: Timestamp, columns: usize) -> Line {
    header_with_files(window, 0, now, columns)
}

/// Draws the header of a run whose task has this number of files.
pub fn header_with_files(window: &Window, files: usize, now: Timestamp, columns: usize) -> Line {
    let mut segments = segments(window, files, now);
    let mut line = joined(window, &segments);
    for rank in Rank::FIRST_TO_GO {
        if line.width() <= columns {
            return line;
        }
        segments.retain(|segment| segment.rank > rank);
        line = joined(window, &segments);
    }
    fit(&line, columns)
}

/// Draws all of a window that is folded: its header and, in short, why its run failed.
pub(crate) fn folded(window: &Window, now: Timestamp, columns: usize) -> Line {
    let Some(message) = window.error() else {
        return header(window, now, columns);
    };
    let message = format!("  {}", text::one_line(&text::clean(&message)));
    let message = text::cut_columns(&message, columns / 2);
    let room = columns - text::columns(&message);
    fit(
        &header(window, now, room).with(Role::Failed, &message),
        columns,
    )
}

struct Segment {
    rank: Rank,
    role: Role,
    lead: &'static str,
    text: String,
}

/// The order in which segments are left out when there is no room for all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Tools,
    Model,
    Calls,
    Tokens,
    Definition,
    Cost,
    Kept,
}

impl Rank {
    const FIRST_TO_GO: [Self; 6] = [
        Self::Tools,
        Self::Model,
        Self::Calls,
        Self::Tokens,
        Self::Definition,
        Self::Cost,
    ];
}

/// The sign between two parts of a header.
pub(crate) const SEPARATOR: &str = " • ";

fn segments(window: &Window, files: usize, now: Timestamp) -> Vec<Segment> {
    let segment = |rank, role, text| Segment {
        rank,
        role,
        lead: SEPARATOR,
        text,
    };
    let facts = window.facts();
    let definition = window.definition().map(str::to_owned);
    let tools = window.tools().map(|tools| text::count(tools, "tool"));
    let used = |words: String, rank| {
        let is_known = !words.is_empty();
        is_known.then(|| segment(rank, Role::Muted, words))
    };
    let files = (files > 0).then(|| text::count(files, "file"));
    let worker = facts.worker.as_deref().map(text::clean);
    let worker = worker.map(|name| Segment {
        lead: " ",
        ..segment(Rank::Cost, Role::Muted, format!("@{name}"))
    });
    [
        worker,
        definition.map(|text| segment(Rank::Definition, Role::Accent, text)),
        model(window),
        sandbox(window).map(|text| segment(Rank::Cost, Role::Accent, text)),
        tools.map(|text| segment(Rank::Tools, Role::Muted, text)),
        files.map(|text| segment(Rank::Tools, Role::Muted, text)),
        used(
            usage_words(Some(facts.tool_calls), 0, Cost::Unknown, None),
            Rank::Calls,
        ),
        used(tokens_of(&facts.usage, facts.granted), Rank::Tokens),
        used(cost_of(&facts.usage, facts.granted), Rank::Cost),
        todos(window).map(|text| segment(Rank::Kept, Role::Accent, text)),
        gate(window).map(|text| segment(Rank::Kept, Role::Accent, text)),
        state(window).map(|text| segment(Rank::Kept, Role::Warning, text)),
        last_sign(window, now),
        clock(window, now).map(|text| segment(Rank::Kept, Role::Muted, text)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn joined(window: &Window, segments: &[Segment]) -> Line {
    let status = window.status();
    let name = text::cut_columns(&text::clean(window.name()), MAX_NAME_COLUMNS);
    let line = Line::new(role(status), status.icon())
        .with(Role::Plain, " ")
        .with(Role::Title, &name);
    segments.iter().fold(line, |line, segment| {
        line.with(Role::Muted, segment.lead)
            .with(segment.role, &segment.text)
    })
}

fn role(status: Status) -> Role {
    match status {
        Status::Queued | Status::Running | Status::Waiting | Status::Parked => Role::Warning,
        Status::Completed => Role::Success,
        Status::Failed | Status::Stopped => Role::Failed,
    }
}

/// The number of columns for the command of a gate.
const GATE_COLUMNS: usize = 30;

/// Draws the gate that is being run.
fn gate(window: &Window) -> Option<String> {
    let facts = window.facts();
    let (command, _) = facts.gate.as_ref().filter(|_| facts.ending.is_none())?;
    let command = text::one_line(&text::clean(command));
    Some(format!(
        "gate: {}",
        text::cut_columns(&command, GATE_COLUMNS)
    ))
}

/// Draws the model: in brackets behind the definition that chose it, or alone.
fn model(window: &Window) -> Option<Segment> {
    let model = match (window.provider(), window.model()) {
        (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
        (provider, model) => provider.or(model).map(str::to_owned),
    };
    let thinking = window.thinking().map(|level| level.as_str().to_owned());
    let words: Vec<String> = [model, thinking].into_iter().flatten().collect();
    if words.is_empty() {
        return None;
    }
    let words = words.join(" ");
    let (lead, text) = match window.definition() {
        Some(_) => (" ", format!("({words})")),
        None => (SEPARATOR, words),
    };
    Some(Segment {
        rank: Rank::Model,
        role: Role::Muted,
        lead,
        text,
    })
}

/// Draws the level of the sandbox, and the network unless it is the usual one.
fn sandbox(window: &Window) -> Option<String> {
    let sandbox = &window.facts().task.as_ref()?.sandbox;
    (!sandbox.is_off()).then(|| text::clean(&sandbox.shown()))
}

/// Draws the progress of a list of todos. A list that is done needs no room any more.
fn todos(window: &Window) -> Option<String> {
    let todos = window.todos()?;
    (todos.completed < todos.total).then(|| format!("[{}/{}]", todos.completed, todos.total))
}

fn state(window: &Window) -> Option<String> {
    match window.status() {
        Status::Queued if window.facts().shortage.is_some() => window.facts().shortage.clone(),
        // A worker has it, and makes its workspace.
        Status::Queued | Status::Running if window.facts().is_paused => Some("paused".to_owned()),
        Status::Queued if window.facts().worker.is_some() => Some("starting".to_owned()),
        Status::Queued => Some("queued".to_owned()),
        Status::Running | Status::Waiting if window.is_stopping() => Some("stopping".to_owned()),
        Status::Waiting if window.facts().is_paused => Some("at its limit".to_owned()),
        Status::Waiting => Some("asks".to_owned()),
        Status::Parked => Some("parked".to_owned()),
        Status::Running | Status::Completed | Status::Failed | Status::Stopped => None,
    }
}

/// The silence from which on the age of the last sign is shown.
const AGE_SHOWN: Duration = Duration::from_mins(1);

/// The silence that is odd, unless a tool works.
const ODD_SILENCE: Duration = Duration::from_mins(5);

/// Draws how long ago a run that works has last shown a sign.
fn last_sign(window: &Window, now: Timestamp) -> Option<Segment> {
    let facts = window.facts();
    let is_working = window.status() == Status::Running && facts.gate.is_none() && !facts.is_paused;
    let seen = facts.last_sign.filter(|_| is_working)?;
    let age = Duration::try_from(now.duration_since(seen)).unwrap_or_default();
    if age < AGE_SHOWN {
        return None;
    }
    let is_odd = age >= ODD_SILENCE && !window.is_calling();
    let (role, text) = if is_odd {
        (Role::Warning, format!("silent for {}", clock_words(age)))
    } else {
        (Role::Muted, format!("{} ago", clock_words(age)))
    };
    Some(Segment {
        rank: Rank::Kept,
        role,
        lead: SEPARATOR,
        text,
    })
}

/// Draws the time of the run, or of the gate that is being run: that does not count for the run.
fn clock(window: &Window, now: Timestamp) -> Option<String> {
    let facts = window.facts();
    if let (Some((_, began)), None) = (&facts.gate, &facts.ending) {
        let elapsed = Duration::try_from(now.duration_since(*began)).unwrap_or_default();
        return Some(clock_words(elapsed));
    }
    let elapsed = window.elapsed(now)?;
    Some(match window.timeout() {
        Some(timeout) => format!("{}s/{}s", elapsed.as_secs(), timeout.as_secs_f64()),
        None => clock_words(elapsed),
    })
}
