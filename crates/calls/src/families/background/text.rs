//! The texts about background runs, for models and for people.

use pi_subagents_vocabulary::{Advice, Question, Status, Timestamp, text};

use crate::questions::{how_to_answer, question_lines};
use crate::shared_room::beginning as beginning_of;
use pi_subagents_runs::row::RunRow;
use pi_subagents_vocabulary::Counts;
use pi_subagents_vocabulary::Door;

/// The number of characters of a task that are shown.
const SHORT_TASK: usize = 120;

/// The number of characters of a task in a line that is shown for a moment.
const NOTICED_TASK: usize = 60;

/// The number of characters of a question in such a line.
const NOTICED_QUESTION: usize = 200;

/// The number of characters of an answer that are shown if it was not asked for.
const SHORT_ANSWER: usize = 300;

/// The part of an answer that is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// So many characters, with the way to read on.
    UpTo(usize),
    /// A few words.
    Beginning,
}

/// Writes the answer of `background_agent`, with the next steps of its caller.
pub(super) fn started(row: &RunRow, counts: Counts, door: Door) -> String {
    let wait = match door {
        Door::Mcp => format!(
            "Nobody tells you when it ends. Continue with something else; once you need the result, subagent_runs with action wait and ids [\"{}\"] waits for it and returns it.",
            row.report.run_id
        ),
        Door::Pi | Door::PiCommand | Door::CommandLine | Door::Attach | Door::Page
            if row.pi_session.is_some() => {
            "Do not poll for it: this conversation gets a message when it ends. Continue with something else; background_agent_status with this run id is for when you need the result now, and subagent_runs waits for it, steers or stops it.".to_owned()
        }
        Door::Pi | Door::PiCommand | Door::CommandLine | Door::Attach | Door::Page => {
            "Do not poll for it: continue with something else, and ask background_agent_status with this run id once you need the result.".to_owned()
        }
    };
    format!(
        "Started {} in the background (run: {}, session: {}).\n{}\n{}{wait}",
        row.known_as(),
        row.report.run_id,
        row.report.session_id,
        self::counts(counts),
        labelled("Record", record(row)),
    )
}

/// Writes a line with a label; nothing where nothing is known.
fn labelled(label: &str, text: Option<String>) -> String {
    text.map_or(String::new(), |text| format!("{label}: {text}\n"))
}

fn record(row: &RunRow) -> Option<String> {
    let directory = row.directory()?;
    let place = directory.path().display();
    let problem = row.record_problem.clone();
    Some(problem.unwrap_or_else(|| place.to_string()))
}

pub(super) fn counts(counts: Counts) -> String {
    format!(
        "Background runs: {}, {} in total.",
        counts.background_line(),
        counts.total()
    )
}

/// Writes a run with its task and its result, in the words of the background family.
pub(super) fn background_row(row: &RunRow, shown: Shown, door: Door) -> String {
    row_in(row.report.status.as_background_word(), row, shown, door)
}

/// Writes a run with its task and its result.
pub fn row(row: &RunRow, shown: Shown, door: Door) -> String {
    row_in(row.report.status.as_str(), row, shown, door)
}

/// Writes a run, with this word for its state.
fn row_in(word: &str, row: &RunRow, shown: Shown, door: Door) -> String {
    let report = &row.report;
    let sentence = row.sentence_in(word, Timestamp::now());
    let headline = format!("{} {sentence}\n", report.status.icon());
    let task = report.task.as_ref();
    let task = task.map(|task| beginning(task, SHORT_TASK));
    let cwd = report.cwd.as_ref().map(|cwd| cwd.display().to_string());
    let model = report.full_model().map(|model| {
        let asked = report.requested_model.as_ref();
        let asked = asked.filter(|asked| **asked != model);
        let asked = asked.map_or(String::new(), |asked| format!(" (asked for: {asked})"));
        format!("{model}{asked}")
    });
    let resume = (row.is_over() && row.report.status != Status::Completed).then(|| go_on(row));
    let mut lines = vec![
        headline,
        labelled("  task", task),
        labelled("  cwd", cwd),
        labelled("  model", model),
        labelled("  record", record(row)),
        labelled("  continue it", resume),
        labelled("  worktree", worktree(row)),
    ];
    let open = report.questions.iter().filter(|asked| asked.is_open());
    let asks = open.flat_map(|asked| question_lines(&report.name, &asked.question, door));
    lines.extend(asks.map(|line| format!("  {line}\n")));
    if row.is_over() && row.artifacts.is_some() {
        lines.push(match (&row.report.output, shown) {
            (Some(output), Shown::UpTo(share)) => {
                let session = row.report.session_id.as_str();
                format!(
                    "\n{}",
                    beginning_of(output.trim_end(), share, session, door)
                )
            }
            (Some(output), Shown::Beginning) => {
                format!("  answer: {}", beginning(output, SHORT_ANSWER))
            }
            (None, _) => "  answer: (no text output)".to_owned(),
        });
    }
    lines.concat().trim_end_matches('\n').to_owned()
}

/// Writes the notice for a pi session about a run that is over: a message, and a line that is shown
/// for a moment. Both name the task, because an agent may have several.
pub fn notice(row: &RunRow) -> (String, String) {
    let now = Timestamp::now();
    let word = row.report.status.as_background_word();
    let task = row.report.task.as_ref();
    let mut lines = vec![format!("Background agent {}", row.sentence_in(word, now))];
    lines.extend(task.map(|task| format!("Task: {}", beginning(task, SHORT_TASK))));
    let used = row.used_words(now);
    lines.extend((!used.is_empty()).then(|| format!("Used: {used}")));
    if row.report.status != Status::Completed {
        lines.push(format!("Continue it: {}", go_on(row)));
    }
    lines.extend(worktree(row));
    let output = row.report.output.as_deref().map(str::trim_end);
    lines.extend(output.map(|output| format!("\n{output}")));
    let about = task.map(|task| beginning(task, NOTICED_TASK));
    let about = about.map_or(String::new(), |task| format!(": {task}"));
    let brief = format!("Background agent {} {word}{about}", row.known_as());
    (lines.join("\n"), brief)
}

/// Writes the notice for a pi session about a question of a run: a message, and a line that is shown
/// for a moment.
pub fn ask_notice(row: &RunRow, question: &Question) -> (String, String) {
    let name = row.known_as();
    let task = row.report.task.as_ref();
    let mut lines = vec![format!(
        "Background agent {name} waits for an answer (question {})",
        question.id
    )];
    lines.extend(task.map(|task| format!("Task: {}", beginning(task, SHORT_TASK))));
    lines.push(format!("\n{}", question.line()));
    lines.extend(question.context.clone());
    lines.push(format!("\n{}", how_to_answer(question, Door::Pi)));
    let asked = beginning(&question.text, NOTICED_QUESTION);
    let how = Advice::Answer(question.id.to_string()).words(Door::PiCommand);
    let brief = format!("Background agent {name} asks: {asked} ({how})");
    (text::clean(&lines.join("\n")), text::clean(&brief))
}

/// Says what waits in the worktree of a run that is over.
fn worktree(row: &RunRow) -> Option<String> {
    let worktree = row.workspace.as_ref().filter(|_| row.is_over())?;
    let words = worktree.words(row.report.run_id.as_str(), Door::Pi);
    Some(format!("{}: {words}", worktree.title()))
}

/// Says how a model goes on with a run. The readers of these texts call tools.
fn go_on(row: &RunRow) -> String {
    let session = &row.report.session_id;
    match &row.report.agent {
        Some(preset) => {
            format!("background_agent or subagent with preset {preset} and sessionId {session}")
        }
        None => format!("delegate_to_subagents with a task that has resume {session}"),
    }
}

fn beginning(words: &str, limit: usize) -> String {
    text::cut_characters(&text::one_line(words), limit)
}
