//! `/subagents`: the runs of this session of pi; one can be shown, steered or stopped.

use std::sync::Arc;

use pi_subagents_delegation::{RunId, Timestamp};
use pi_subagents_engine::{NotRunning, OwnerReply, SteerError, Want};
use pi_subagents_sessions::transcript::Prompts;
use pi_subagents_sessions::{FindError, IndexedRun};
use serde_json::Value;

use super::{item, tell};
use crate::calls::caller::Caller;
use crate::calls::families::delegation::ReadSession;
use crate::calls::service::CallService;
use crate::doors::pi::link::HostLink;
use crate::error::CommandError;
use crate::print::Printed;
use crate::runs::find::find_runs;
use crate::runs::owner_request::request;
use crate::runs::row::RunRow;
use crate::runs::session_runs::{SessionRun, SessionRuns};

const SHOW: &str = "Show what was said";
const STEER: &str = "Say something to it";
const STOP: &str = "Stop it";

/// What the command needs.
pub(crate) struct Subagents {
    pub(crate) service: Arc<CallService>,
    pub(crate) session_runs: Arc<SessionRuns>,
    pub(crate) link: HostLink,
    pub(crate) caller: Caller,
    pub(crate) has_ui: bool,
}

impl Subagents {
    /// Runs the command and shows what came of it.
    pub(crate) async fn run(self, typed: String) {
        let mut printed = Vec::new();
        let outcome = self.try_run(&typed, &mut printed).await;
        let title = format!("/subagents {typed}");
        tell(
            &self.link,
            title.trim_end(),
            &printed,
            outcome.err().as_ref(),
        );
    }

    async fn try_run(&self, typed: &str, printed: &mut Vec<Printed>) -> Result<(), CommandError> {
        let (word, rest) = typed.trim().split_once(' ').unwrap_or((typed.trim(), ""));
        let rest = rest.trim();
        match word {
            "" if self.has_ui => self.choose(printed).await,
            "" | "list" | "ls" => {
                self.list(printed);
                Ok(())
            }
            "show" => self.show(rest, printed).await,
            "stop" => self.stop(rest, printed).await,
            "steer" => {
                let (id, message) = rest.split_once(' ').unwrap_or((rest, ""));
                self.steer(id, message.trim(), printed).await
            }
            other => Err(CommandError::usage(format!("there is no command \"/subagents {other}\""))
                .hint("Use /subagents, /subagents show ID, /subagents stop ID or /subagents steer ID TEXT.")),
        }
    }

    fn list(&self, printed: &mut Vec<Printed>) {
        let runs = self.session_runs.all();
        if runs.is_empty() {
            printed.push(Printed::Note(NOTHING.to_owned()));
            return;
        }
        let now = Timestamp::now();
        let lines: Vec<String> = runs.iter().map(|run| run.row.line(now)).collect();
        printed.push(Printed::Data(lines.join("\n")));
    }

    /// Lets a person pick a run and what to do with it.
    async fn choose(&self, printed: &mut Vec<Printed>) -> Result<(), CommandError> {
        let mut runs = self.session_runs.all();
        runs.reverse();
        let now = Timestamp::now();
        let lines: Vec<String> = runs.iter().map(|run| run.row.line(now)).collect();
        if lines.is_empty() {
            self.list(printed);
            return Ok(());
        }
        let Some(chosen) = self.link.select("Sub-agents of this session", &lines).await else {
            return Ok(());
        };
        let place = lines.iter().position(|line| *line == chosen);
        let Some(run) = place.and_then(|place| runs.get(place)) else {
            return Ok(());
        };
        let id = run.row.run_id.to_string();
        // It may have ended while somebody looked at the list.
        let wish = if self.latest(&id).is_none_or(|run| run.row.is_over()) {
            Some(SHOW.to_owned())
        } else {
            let options = [SHOW, STEER, STOP].map(str::to_owned);
            self.link.select(&run.row.name, &options).await
        };
        match wish.as_deref() {
            Some(SHOW) => self.show(&id, printed).await,
            Some(STOP) => self.stop(&id, printed).await,
            Some(STEER) => match self.link.input("What should it read?", "").await {
                Some(message) => self.steer(&id, message.trim(), printed).await,
                None => Ok(()),
            },
            Some(_) | None => Ok(()),
        }
    }

    async fn show(&self, id: &str, printed: &mut Vec<Printed>) -> Result<(), CommandError> {
        let asked = id.to_owned();
        let read = move |service: &CallService, caller: &Caller| {
            ReadSession::find(&service.owner.store, caller, &asked, |run| {
                format!("/subagents show {run}")
            })
        };
        let session = self.service.beside(&self.caller, read).await?;
        let heading = self.latest(id).map(|run| run.row.line(Timestamp::now()));
        printed.extend(heading.map(Printed::Note));
        printed.push(Printed::Data(session.whole(0, Prompts::Marked).text));
        Ok(())
    }

    /// Returns the run of an id as it stands now, or the latest run of a session.
    fn latest(&self, id: &str) -> Option<SessionRun> {
        self.session_runs.find(id).ok()?.into_runs().pop()
    }

    async fn stop(&self, id: &str, printed: &mut Vec<Printed>) -> Result<(), CommandError> {
        let RunRow { run_id, name, .. } = self.running(id)?;
        if let Err(NotRunning(run_id)) = self.service.owner.stop_one(run_id).await {
            self.ask_owner(run_id, Want::Stop).await?;
        }
        printed.push(Printed::Note(format!("{name} was stopped.")));
        Ok(())
    }

    async fn steer(
        &self,
        id: &str,
        message: &str,
        printed: &mut Vec<Printed>,
    ) -> Result<(), CommandError> {
        let RunRow { run_id, name, .. } = self.running(id)?;
        if message.is_empty() {
            return Err(CommandError::usage("the text must not be empty")
                .hint("Use /subagents steer ID TEXT."));
        }
        let message = message.to_owned();
        match self.service.owner.steer(run_id, message.clone()).await {
            Ok(()) => {}
            Err(SteerError::NotRunning(NotRunning(run_id))) => {
                self.ask_owner(run_id, Want::Steer { message }).await?;
            }
            Err(error @ (SteerError::NotStarted(_) | SteerError::Ending(_))) => {
                return Err(CommandError::failed(error.to_string()));
            }
        }
        let heard = format!("{name} reads it before its next turn.");
        printed.push(Printed::Note(heard));
        Ok(())
    }

    /// Asks the owner of a background run, which is another process.
    async fn ask_owner(&self, run: RunId, want: Want) -> Result<(), CommandError> {
        let find = move |service: &CallService, caller: &Caller| {
            let found = find_runs(&service.owner.store, &caller.places, run.as_str())?;
            let open = found.into_iter().find(IndexedRun::is_open);
            open.ok_or_else(|| not_running(run.as_str()))
        };
        let run = self.service.beside(&self.caller, find).await?;
        match request(&run, want).await? {
            OwnerReply::Done => Ok(()),
            OwnerReply::Refused { message } => Err(CommandError::failed(message)),
        }
    }

    /// Returns the run of an id that is under way.
    fn running(&self, id: &str) -> Result<RunRow, CommandError> {
        let found = self.session_runs.find(id).map_err(|error| match error {
            FindError::NotFound { .. } => {
                CommandError::not_found(error.to_string()).hint(HOW_TO_LIST)
            }
            other => other.into(),
        })?;
        let mut runs = found.into_runs();
        runs.retain(|run| !run.row.is_over());
        let latest = runs.pop().map(|run| run.row);
        latest.ok_or_else(|| not_running(id))
    }

    /// Returns the words and ids that begin with what was typed so far.
    pub(crate) fn complete(session_runs: &SessionRuns, typed: &str) -> Vec<Value> {
        let runs = session_runs.all();
        match typed.split_once(' ') {
            None => [
                ("list", "all sub-agents of this session"),
                ("show", "what one said"),
                ("stop", "end one"),
                ("steer", "say something to one"),
            ]
            .iter()
            .filter(|(word, _)| word.starts_with(typed))
            .map(|(word, what_for)| item(word, word, what_for))
            .collect(),
            Some((word @ ("show" | "stop" | "steer"), begun)) => runs
                .into_iter()
                .rev()
                .map(|run| run.row)
                .filter(|row| word == "show" || !row.is_over())
                .filter(|row| row.session_id.as_str().starts_with(begun.trim_start()))
                .map(|row| {
                    let value = format!("{word} {}", row.session_id);
                    item(&value, &row.name, row.session_id.as_str())
                })
                .collect(),
            Some(_) => Vec::new(),
        }
    }
}

const HOW_TO_LIST: &str = "/subagents list shows the sub-agents of this session.";
const NOTHING: &str = "No sub-agent has run in this session yet.";

fn not_running(id: &str) -> CommandError {
    CommandError::failed(format!("{id} is not running"))
}
