//! The yes of a person that the acts of a review need which change a checkout or throw work away.

use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::review::ReviewQueue;
use pi_subagents_vocabulary::Door;
use pi_subagents_vocabulary::text::{clean, count, first_of, one_line};
use serde_json::Value;

use super::act::{Act, desk, own_queue, wanted};
use super::tools::ReviewCall;
use crate::arguments;
use crate::caller::Caller;
use crate::review_question::{gate_sentence, gates_of};
use crate::service::CallService;

/// The most results that a question names.
const MOST_NAMED: usize = 6;

/// The right of a calling model to accept, discard and undo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReviewPermission {
    /// Nobody has allowed it.
    #[default]
    Missing,
    /// A person has said no.
    Denied,
    /// A person has said yes to this call, after they saw these gates.
    Once(Vec<String>),
    /// A person has allowed it for all calls.
    Always,
}

/// The question for a person before an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewQuestion {
    pub words: String,
    /// The gates that the question names, and that may run.
    pub gates: Vec<String>,
}

/// Returns the question that a person must answer with yes before this call; `None` if it changes
/// nothing of theirs.
pub fn review_question(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<Option<ReviewQuestion>, CommandError> {
    let call: ReviewCall = arguments::read(arguments)?;
    let words = match Act::of(&call)? {
        Act::List | Act::Show | Act::SendBack => return Ok(None),
        Act::Undo => {
            "The model wants to take the last accept back. Its files get their earlier content."
                .to_owned()
        }
        Act::Discard => {
            let queue = own_queue(service, caller)?;
            let names = names(&queue, &call, caller)?;
            format!("The model wants to discard what {names} changed. Git keeps it for 30 days.")
        }
        Act::Accept => {
            let queue = own_queue(service, caller)?;
            let gates = gates_of(&wanted(&queue, &call.runs)?, &desk(service, caller))?;
            let run = gate_sentence(&gates);
            let names = names(&queue, &call, caller)?;
            return Ok(Some(ReviewQuestion {
                words: clean(&format!(
                    "The model wants to take {names} into your checkout. {run}"
                )),
                gates,
            }));
        }
    };
    Ok(Some(ReviewQuestion {
        words: clean(&words),
        gates: Vec::new(),
    }))
}

/// Names the results of a call, with their risk.
fn names(queue: &ReviewQueue, call: &ReviewCall, caller: &Caller) -> Result<String, CommandError> {
    let results = wanted(queue, &call.runs)?;
    let named = results.iter().map(|one| {
        let name = one_line(&one.facts.name);
        match caller.door {
            Door::Pi | Door::PiCommand => format!("{name} ({})", one.tier.word()),
            Door::CommandLine | Door::Mcp | Door::Attach | Door::Page => name,
        }
    });
    let all = count(results.len(), "result");
    Ok(format!("{all}: {}", first_of(named, MOST_NAMED, ", ")))
}
