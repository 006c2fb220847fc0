//! Carries out the actions of `review_subagents`.

use std::sync::Arc;

use pi_subagents_ground::error::CommandError;
use pi_subagents_records::{Finder, IndexedRun};
use pi_subagents_runs::ask_which::{ask_which, find_failure};
use pi_subagents_runs::review::{ReviewQueue, WaitingResult};
use pi_subagents_runs::row::RunRow;
use pi_subagents_runs::upkeep::tend;
use pi_subagents_vocabulary::review::{RiskTier, SentBack};
use pi_subagents_vocabulary::text::one_line;
use pi_subagents_vocabulary::{Door, RunId};
use serde_json::{Value, json};

use super::consent::ReviewPermission;
use super::text;
use super::tools::{REVIEW, ReviewCall};
use crate::arguments;
use crate::caller::Caller;
use crate::families::runs::of_caller;
use crate::review_desk::{Return, ReviewDesk, WantedAccept, WentBack, send_back};
use crate::service::{CallService, ToolAnswer};
use crate::start_from_screen::ScreenStarter;

/// An action of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    List,
    Show,
    Accept,
    SendBack,
    Discard,
    Undo,
}

impl Act {
    /// Returns the action of a call.
    pub(super) fn of(call: &ReviewCall) -> Result<Self, CommandError> {
        Ok(match call.action.as_deref().map(str::trim) {
            None | Some("list") => Self::List,
            Some("show") => Self::Show,
            Some("accept") => Self::Accept,
            Some("send_back") => Self::SendBack,
            Some("discard") => Self::Discard,
            Some("undo") => Self::Undo,
            Some(other) => {
                return Err(CommandError::usage(format!(
                    "action is list, show, accept, send_back, discard or undo, not \"{}\"",
                    one_line(other)
                )));
            }
        })
    }
}

/// Shows what waits for a review, or acts on it.
pub(crate) async fn review_subagents(
    service: &Arc<CallService>,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let call: ReviewCall = arguments::read(arguments)?;
    let act = Act::of(&call)?;
    if act == Act::SendBack {
        return return_with_note(service, caller, call).await;
    }
    let work = move |service: &CallService, caller: &Caller| match act {
        Act::List | Act::SendBack => {
            let queue = own_queue(service, caller)?;
            let details = json!({ "review": queue.printed() });
            Ok(ToolAnswer::new(text::of_queue(&queue), details))
        }
        Act::Show => show(service, caller, &call),
        Act::Accept => accept(service, caller, &call),
        Act::Discard => discard(service, caller, &call),
        Act::Undo => {
            permitted(caller)?;
            let said = desk(service, caller).undo()?;
            Ok(ToolAnswer::new(said, json!({"undone": true})))
        }
    };
    service.beside(caller, work).await
}

/// Gathers what waits for a review among the runs of a caller.
pub(super) fn own_queue(
    service: &CallService,
    caller: &Caller,
) -> Result<ReviewQueue, CommandError> {
    let index = &service.owner.index;
    tend(index, &caller.places);
    let mut queue = ReviewQueue::gather(&caller.places, index)?;
    queue.keep_only(&of_caller(service, caller)?);
    Ok(queue)
}

/// Returns the desk with the queue of a caller's project.
pub(super) fn desk<'a>(service: &'a CallService, caller: &'a Caller) -> ReviewDesk<'a> {
    ReviewDesk {
        places: &caller.places,
        index: &service.owner.index,
    }
}

/// Returns the results that words mean; without words, all that can be taken without a decision and
/// that nobody wants to look at later.
pub(super) fn wanted<'a>(
    queue: &'a ReviewQueue,
    words: &[String],
) -> Result<Vec<&'a WaitingResult>, CommandError> {
    if words.is_empty() {
        let fits = |one: &&WaitingResult| one.tier <= RiskTier::Careful && !one.note.is_later;
        let fitting: Vec<&WaitingResult> = queue.results.iter().filter(fits).collect();
        if fitting.is_empty() {
            return Err(CommandError::no_answer(
                "no result waits that can be taken without a decision",
            ));
        }
        return Ok(fitting);
    }
    let known: Vec<IndexedRun> = queue
        .results
        .iter()
        .map(|one| one.result.run.clone())
        .collect();
    let mut meant: Vec<RunId> = Vec::new();
    for word in words {
        let found = Finder::GIVEN.find(&known, word);
        let found = found.map_err(|error| {
            if error.is_absence() {
                let word = one_line(word);
                return CommandError::not_found(format!("no result of \"{word}\" waits"))
                    .hint(format!("{REVIEW} lists what waits."));
            }
            ask_which(&error, |run| format!("{REVIEW} with runs [\"{run}\"]"))
        })?;
        meant.extend(found.into_runs().into_iter().map(|run| run.run));
    }
    let is_meant = |one: &&WaitingResult| meant.contains(&one.facts.run);
    Ok(queue.results.iter().filter(is_meant).collect())
}

/// Returns the one result that a call means.
fn one<'a>(
    queue: &'a ReviewQueue,
    call: &ReviewCall,
    action: &str,
) -> Result<&'a WaitingResult, CommandError> {
    if call.runs.is_empty() {
        return Err(CommandError::usage(format!(
            "runs is missing: name the result for {action}"
        )));
    }
    match wanted(queue, &call.runs)?.as_slice() {
        [one] => Ok(one),
        several => Err(CommandError::usage(format!(
            "{action} takes one result; these runs stand for {}",
            several.len()
        ))),
    }
}

/// Returns the gates that may run, if a person has allowed the act; `None` if all may.
fn permitted(caller: &Caller) -> Result<Option<Vec<String>>, CommandError> {
    match &caller.review {
        ReviewPermission::Always => Ok(None),
        ReviewPermission::Once(gates) => Ok(Some(gates.clone())),
        ReviewPermission::Denied => Err(CommandError::failed(
            "the user said no, so nothing was changed",
        )),
        ReviewPermission::Missing => {
            let (why, how) = match caller.door {
                Door::Mcp => (
                    "only the user can do this: the server was not started with --allow-merge",
                    "They can type: pi-subagents review",
                ),
                Door::Pi | Door::PiCommand | Door::CommandLine | Door::Attach | Door::Page => (
                    "only the user can do this, and nobody is here to say yes",
                    "They can type /subagents review, or pi-subagents review in a shell.",
                ),
            };
            Err(CommandError::failed(why).hint(how))
        }
    }
}

fn show(
    service: &CallService,
    caller: &Caller,
    call: &ReviewCall,
) -> Result<ToolAnswer, CommandError> {
    let mut queue = own_queue(service, caller)?;
    let run = one(&queue, call, "show")?.result.run.clone();
    let text = text::of_result(one(&queue, call, "show")?);
    queue.keep_only(&[run]);
    Ok(ToolAnswer::new(text, json!({ "review": queue.printed() })))
}

fn accept(
    service: &CallService,
    caller: &Caller,
    call: &ReviewCall,
) -> Result<ToolAnswer, CommandError> {
    let confirmed = permitted(caller)?;
    let queue = own_queue(service, caller)?;
    let only = wanted(&queue, &call.runs)?.into_iter();
    let only = only.map(|one| one.facts.run.clone()).collect();
    let wanted = WantedAccept::default().only(only).confirmed(confirmed);
    let report = desk(service, caller).accept(wanted, &mut |_| {})?;
    let warnings = report.warnings.iter().map(|warning| format!("! {warning}"));
    let lines: Vec<String> = report
        .lines()
        .into_iter()
        .chain(report.notes())
        .chain(warnings)
        .collect();
    Ok(ToolAnswer {
        is_refused: report.taken() == 0,
        ..ToolAnswer::new(lines.join("\n"), json!({ "accept": report.printed() }))
    })
}

fn discard(
    service: &CallService,
    caller: &Caller,
    call: &ReviewCall,
) -> Result<ToolAnswer, CommandError> {
    permitted(caller)?;
    let queue = own_queue(service, caller)?;
    let run = one(&queue, call, "discard")?.result.run.clone();
    let details = json!({"runId": run.run.as_str(), "discarded": true});
    Ok(ToolAnswer::new(
        desk(service, caller).discard(run)?,
        details,
    ))
}

/// Sends a result back with a note. Its session continues in the background.
async fn return_with_note(
    service: &Arc<CallService>,
    caller: &Caller,
    call: ReviewCall,
) -> Result<ToolAnswer, CommandError> {
    let Some(note) = call.note.clone() else {
        return Err(CommandError::usage(
            "note is missing: it is the next prompt of the sub-agent",
        ));
    };
    let find = move |service: &CallService, caller: &Caller| {
        let queue = own_queue(service, caller)?;
        Ok(one(&queue, &call, "send_back")?.result.run.clone())
    };
    let run = service.beside(caller, find).await?;
    let sent = SentBack {
        name: run.name.clone(),
        note,
        ..SentBack::default()
    };
    let back = Return {
        run,
        sent,
        on: None,
    };
    let went = send_back_from(service, caller, back).await?;
    let how = match &service.background {
        Some(_) => "This conversation gets a message when it ends.".to_owned(),
        None => format!(
            "subagent_runs with action wait and ids [\"{}\"] waits for it.",
            went.run
        ),
    };
    let text = format!("{} (run {}). {how}", went.sentence, went.run);
    let details = json!({"runId": went.run.as_str(), "sentBack": true});
    Ok(ToolAnswer::new(text, details))
}

/// Sends a result back for a caller, whose session follows the run that goes on with it.
pub async fn send_back_from(
    service: &Arc<CallService>,
    caller: &Caller,
    back: Return,
) -> Result<WentBack, CommandError> {
    let starter = ScreenStarter::of(caller.clone(), service.owner.known_children.clone());
    let went = send_back(&starter, back).await?;
    let begun = went.run.clone();
    let look = move |service: &CallService, _: &Caller| {
        let runs = service.owner.index.runs().map_err(find_failure)?;
        let run = runs.iter().find(|run| run.run == begun);
        Ok(run.map(RunRow::read))
    };
    let row = service.beside(caller, look).await?;
    if let Some((row, registry)) = row.zip(service.background.as_ref()) {
        registry.launched(&row);
    }
    Ok(went)
}
