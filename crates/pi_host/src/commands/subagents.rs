//! `/subagents`: the runs of this session of pi. A run can be shown, steered or stopped, and the
//! project trusted.

mod merging;
mod page;
mod question_dialog;
mod receipt_and_diff;
mod review_changes;
mod review_dialogs;
mod review_items;
mod run_line;
mod trust;

use pi_subagents_runs::ask_which::find_failure;
use std::collections::HashSet;
use std::sync::Arc;

use pi_subagents_records::{FindError, IndexedRun, Prefers};
use pi_subagents_view::{Line, Role};
use pi_subagents_vocabulary::{Door, RunReport, Status, Timestamp, text};
use serde_json::Value;

use self::run_line::{line, newest_first, run_and_text};
use super::{item, show_page};
use crate::link::HostLink;
use crate::trust::TrustQuestions;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::families::delegation::ReadSession;
use pi_subagents_calls::preview::preview_context;
use pi_subagents_calls::service::CallService;
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::acts::{self, Addressee};
use pi_subagents_runs::find::find_runs;
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::session_runs::{SessionRun, SessionRuns};

const SHOW: &str = "Show what was said";
const RECEIPT: &str = "Show its receipt: tool calls, files, commands, tests";
const DIFF: &str = "Show what it changed";
const MERGE: &str = "Merge what it changed";
const DISCARD: &str = "Discard what it changed";
const ANSWER: &str = "Answer its question";
const STEER: &str = "Say something to it";
const STOP: &str = "Stop it";

/// The parts that the command needs.
pub(crate) struct Subagents {
    pub(crate) service: Arc<CallService>,
    pub(crate) session_runs: Arc<SessionRuns>,
    pub(crate) link: HostLink,
    pub(crate) questions: Arc<TrustQuestions>,
    pub(crate) caller: Caller,
    pub(crate) has_ui: bool,
}

/// The output of the command: a page, or sentences for a moment.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) page: Vec<Line>,
    pub(super) notes: Vec<String>,
}

impl Subagents {
    /// Runs the command and shows its outcome.
    pub(crate) async fn run(self, typed: String) {
        let mut shown = Shown::default();
        let outcome = self.try_run(&typed, &mut shown).await;
        let title = format!("/subagents {typed}");
        show_page(&self.link, title.trim_end(), &shown, outcome.err().as_ref());
    }

    async fn try_run(&self, typed: &str, shown: &mut Shown) -> Result<(), CommandError> {
        let (word, rest) = typed.trim().split_once(' ').unwrap_or((typed.trim(), ""));
        let rest = rest.trim();
        match word {
            "" if self.has_ui => self.choose(shown).await,
            "" | "list" | "ls" => {
                self.list(shown).await;
                Ok(())
            }
            "show" => self.show(&one_word(rest)?, shown).await,
            "receipt" => self.receipt(&one_word(rest)?, shown).await,
            "diff" => self.diff(&one_word(rest)?, shown).await,
            "merge" => self.merge(&words(rest)?, shown).await,
            "discard" => self.discard(&words(rest)?, shown).await,
            "stop" if rest == "all" => self.stop_all(shown).await,
            "stop" => self.stop(&one_word(rest)?, shown).await,
            "answer" => self.answer(rest, shown).await,
            "review" => self.review(shown).await,
            "steer" => {
                let (id, message) = run_and_text(&self.session_runs, rest);
                self.steer(id, message, shown).await
            }
            "trust" => {
                let (link, questions) = (&self.link, &self.questions);
                let said = trust::trust(rest, &self.caller, self.has_ui, link, questions).await?;
                shown.notes.push(said);
                Ok(())
            }
            other => Err(CommandError::usage(format!("there is no command \"/subagents {other}\""))
                .hint("Use /subagents; /subagents show, receipt, diff, merge, discard or stop ID; /subagents stop all; /subagents steer ID TEXT; /subagents answer ID; /subagents review; or /subagents trust.")),
        }
    }

    async fn list(&self, shown: &mut Shown) {
        let runs = newest_first(&self.session_runs);
        if runs.is_empty() {
            shown.notes.push(NOTHING.to_owned());
            return;
        }
        let (now, waits) = (Timestamp::now(), self.waiting().await);
        let lines = runs.iter().map(|run| line(run, now, &waits));
        shown.page = lines.map(|line| Line::new(Role::Plain, &line)).collect();
    }

    /// Lets a person pick a run and an action.
    async fn choose(&self, shown: &mut Shown) -> Result<(), CommandError> {
        let runs = newest_first(&self.session_runs);
        let (now, waits) = (Timestamp::now(), self.waiting().await);
        let lines: Vec<String> = runs.iter().map(|run| line(run, now, &waits)).collect();
        if lines.is_empty() {
            self.list(shown).await;
            return Ok(());
        }
        let Some(chosen) = self.link.select("Sub-agents of this session", &lines).await else {
            return Ok(());
        };
        let place = lines.iter().position(|line| *line == chosen);
        let Some(run) = place.and_then(|place| runs.get(place)) else {
            return Ok(());
        };
        self.act_on(&run.row, shown).await
    }

    /// Lets a person choose an action for a run. After reading its changes or its receipt, the
    /// person chooses again.
    async fn act_on(&self, row: &RunRow, shown: &mut Shown) -> Result<(), CommandError> {
        let id = row.report.run_id.to_string();
        for _ in 0..MOST_ROUNDS {
            let options = self.options(&id).await;
            let wish = self.link.select(&row.report.name, &options).await;
            match wish.as_deref() {
                Some(RECEIPT) => self.read_receipt(&id).await?,
                Some(DIFF) => self.read_diff(&id).await?,
                Some(SHOW) => return self.show(&id, shown).await,
                Some(MERGE) => return self.ask_to_merge(&id, shown).await,
                Some(DISCARD) => return self.discard(&[id], shown).await,
                Some(ANSWER) => return self.answer(&id, shown).await,
                Some(STOP) => return self.stop(&id, shown).await,
                Some(STEER) => {
                    return match self.link.input("What should it read?", "").await {
                        Some(message) => self.steer(&id, message.trim(), shown).await,
                        None => Ok(()),
                    };
                }
                Some(_) | None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Returns what can be done with a run now; it may have ended while somebody looked at the list.
    async fn options(&self, id: &str) -> Vec<String> {
        let latest = self.latest(id);
        let is_over = latest.as_ref().is_none_or(|run| run.row.is_over());
        let asks = latest.is_some_and(|run| run.row.report.status == Status::Waiting);
        let mut options: Vec<&str> = asks.then_some(ANSWER).into_iter().collect();
        options.extend([SHOW, RECEIPT]);
        if is_over {
            options.extend(match self.worktree(id).await {
                Some(true) => vec![DIFF, MERGE, DISCARD],
                Some(false) => vec![DIFF],
                None => Vec::new(),
            });
        } else {
            options.extend([STEER, STOP]);
        }
        options.into_iter().map(str::to_owned).collect()
    }

    /// Shows all messages of a session, or of the run that is meant.
    async fn show(&self, word: &str, shown: &mut Shown) -> Result<(), CommandError> {
        let id = word.to_owned();
        let columns = self
            .caller
            .columns
            .unwrap_or(DEFAULT_COLUMNS)
            .saturating_sub(2);
        let asked = id.clone();
        let read = move |service: &CallService, caller: &Caller| {
            let how = |run: &str| format!("/subagents show {run}");
            let session = ReadSession::find(&service.owner.index, caller, &asked, how)?;
            let context = preview_context(caller, &service.configuration(caller).settings);
            let runs: Vec<_> = session.runs().map(|(_, said)| said).collect();
            Ok(page::page(&runs, &context, columns))
        };
        let lines = self.service.beside(&self.caller, read).await?;
        if let Some(run) = self.latest(&id) {
            let heading = line(&run, Timestamp::now(), &self.waiting().await);
            shown.page.push(Line::new(Role::Muted, &heading));
            shown.page.push(Line::default());
        }
        shown.page.extend(lines);
        Ok(())
    }

    /// Returns the run of an id with its present state, or the latest run of a session.
    fn latest(&self, id: &str) -> Option<SessionRun> {
        self.session_runs
            .find(id, Prefers::Newest)
            .ok()?
            .into_runs()
            .pop()
    }

    async fn stop(&self, id: &str, shown: &mut Shown) -> Result<(), CommandError> {
        let run = self.addressee(id).await?;
        let stopped = acts::stop(&self.service.owner.reach(&self.caller.places), &run).await?;
        shown.notes.extend(stopped.lines());
        Ok(())
    }

    /// Stops all running runs of the session.
    async fn stop_all(&self, shown: &mut Shown) -> Result<(), CommandError> {
        let mut runs = self.session_runs.all();
        runs.retain(|run| !run.row.is_over());
        if runs.is_empty() {
            return Err(CommandError::failed(
                "no sub-agent of this session is running",
            ));
        }
        for run in runs {
            // One that ends meanwhile needs nothing any more.
            if let Err(error) = self.stop(run.row.report.run_id.as_str(), shown).await {
                shown.notes.push(error.lines(Door::PiCommand));
            }
        }
        Ok(())
    }

    async fn steer(&self, id: &str, message: &str, shown: &mut Shown) -> Result<(), CommandError> {
        let to = self.addressee(id).await?;
        if message.is_empty() {
            return Err(CommandError::usage("the text must not be empty")
                .hint("Use /subagents steer ID TEXT."));
        }
        let reach = self.service.owner.reach(&self.caller.places);
        let steered = acts::steer(&reach, &to, message.to_owned()).await?;
        shown.notes.push(steered.sentence());
        Ok(())
    }

    /// Returns the run of an id that is under way, with its line in the index. The owner of a
    /// background run is another process.
    async fn addressee(&self, id: &str) -> Result<Addressee, CommandError> {
        let RunReport { run_id, name, .. } = self.running(id).await?.report;
        let run = run_id.clone();
        let find = move |service: &CallService, caller: &Caller| {
            // A run of this process can be asked although it could not be entered.
            let found = find_runs(&service.owner.index, &caller.places, run.as_str());
            Ok(found
                .unwrap_or_default()
                .into_iter()
                .find(IndexedRun::is_open))
        };
        let record = self.service.beside(&self.caller, find).await?;
        Ok(Addressee {
            run: run_id,
            name,
            record,
        })
    }

    /// Returns the running run of an id. If a name fits several, a person is asked which
    /// of them is meant.
    async fn running(&self, word: &str) -> Result<RunRow, CommandError> {
        let found = self.session_runs.find(word, Prefers::Running);
        let found = found.map_err(not_found)?;
        let mut runs = found.into_runs();
        let newest = runs.last().map(|run| run.row.report.clone());
        runs.retain(|run| !run.row.is_over());
        let others = self.session_runs.all().into_iter();
        let is_other = |run: &SessionRun| {
            let is_found = runs
                .iter()
                .any(|one| one.row.report.run_id == run.row.report.run_id);
            run.row.report.name == word && !run.row.is_over() && !is_found
        };
        let others: Vec<SessionRun> = others.filter(is_other).collect();
        runs.extend(others);
        match runs.len() {
            0 => Err(not_running(word, newest.as_ref())),
            1 => Ok(runs.remove(0).row),
            _ => self.which(word, runs).await,
        }
    }

    /// Asks a person which of several runs is meant; without one, refuses.
    async fn which(&self, word: &str, mut runs: Vec<SessionRun>) -> Result<RunRow, CommandError> {
        let (now, waits) = (Timestamp::now(), HashSet::new());
        let lines: Vec<String> = runs.iter().map(|run| line(run, now, &waits)).collect();
        if self.has_ui {
            let title = format!("{} sub-agents are called {word}. Which one?", runs.len());
            let chosen = self.link.select(&title, &lines).await;
            let place = lines.iter().position(|line| Some(line) == chosen.as_ref());
            return match place {
                Some(place) => Ok(runs.swap_remove(place).row),
                None => Err(CommandError::failed("none was chosen")),
            };
        }
        let error = CommandError::usage(format!(
            "{} running sub-agents are called {word}:\n{}",
            runs.len(),
            lines.join("\n")
        ));
        Err(error.hint("Name one by its id, or use /subagents stop all."))
    }

    /// Returns the words and ids that begin with the typed text.
    pub(crate) fn complete(session_runs: &SessionRuns, typed: &str) -> Vec<Value> {
        let runs = session_runs.all();
        match typed.split_once(' ') {
            None => [
                ("list", "all sub-agents of this session"),
                ("show", "what one said"),
                ("receipt", "what one was seen doing"),
                ("diff", "what one changed in its worktree"),
                ("merge", "bring what some changed into this checkout"),
                ("discard", "remove what one changed"),
                ("stop", "end one, or all"),
                ("review", "decide about everything that waits for you"),
                ("steer", "say something to one"),
                ("answer", "answer a question of one"),
                ("trust", "decide whether what this project contains is used"),
            ]
            .iter()
            .filter(|(word, _)| word.starts_with(typed))
            .map(|(word, what_for)| item(word, word, what_for))
            .collect(),
            Some((word, begun)) if TAKE_RUN.contains(&word) => runs
                .into_iter()
                .rev()
                .map(|run| run.row)
                .filter(|row| row.is_over() != ["stop", "steer"].contains(&word) || word == "show")
                .filter(|row| begins_with(row, begun.trim_start()))
                .map(|row| {
                    let value = format!("{word} {}", row.report.session_id);
                    item(&value, &row.report.name, row.report.session_id.as_str())
                })
                .collect(),
            Some(("trust", begun)) => ["yes", "no", "ask"]
                .into_iter()
                .filter(|answer| answer.starts_with(begun.trim_start()))
                .map(|answer| item(&format!("trust {answer}"), answer, ""))
                .collect(),
            Some(_) => Vec::new(),
        }
    }
}

fn begins_with(row: &RunRow, begun: &str) -> bool {
    row.report.session_id.as_str().starts_with(begun) || row.report.name.starts_with(begun)
}

/// The words that are followed by a run.
const TAKE_RUN: [&str; 7] = [
    "show", "receipt", "diff", "merge", "discard", "stop", "steer",
];

/// The most choices that somebody makes before the command is over.
const MOST_ROUNDS: usize = 100;

/// Splits what was typed as a shell does, so that a name in quotes is one word.
fn words(typed: &str) -> Result<Vec<String>, CommandError> {
    shlex::split(typed).ok_or_else(|| {
        CommandError::usage(format!("a quote in /subagents … {typed} is not closed"))
            .hint("Put words that belong together between two quotes, as in a shell.")
    })
}

/// Returns the one run that was typed; a name may hold spaces, with quotes or without.
fn one_word(typed: &str) -> Result<String, CommandError> {
    let word = words(typed)?.join(" ");
    if word.is_empty() {
        let hint = "Name a run: an id or its beginning, a name, or last.";
        return Err(CommandError::usage("no run was named").hint(hint));
    }
    Ok(word)
}

/// The width of a page if the width of the screen is unknown.
const DEFAULT_COLUMNS: usize = 100;

const HOW_TO_LIST: &str = "/subagents list shows the sub-agents of this session.";
const NOTHING: &str = "No sub-agent has run in this session yet.";

/// Says that there is no such run in this session, or which runs a word may mean.
fn not_found(error: FindError) -> CommandError {
    match error {
        absent if absent.is_absence() => {
            CommandError::not_found(absent.to_string()).hint(HOW_TO_LIST)
        }
        other => find_failure(other),
    }
}

/// Says that the run that a word stands for is over.
fn not_running(word: &str, newest: Option<&RunReport>) -> CommandError {
    CommandError::failed(match newest {
        Some(run) => {
            let name = text::one_line(&run.name);
            format!("{name} is not running (run {})", run.run_id)
        }
        None => format!("{word} is not running"),
    })
}
