//! The end of a run, in the form of the fleet.

use std::collections::BTreeMap;

use pi_subagents_fleet_queue::GiveUp;
use pi_subagents_fleet_queue::wire::{Ended, Unrecorded};
use pi_subagents_records::RecordProblems;
use pi_subagents_vocabulary::{Ending, Interruption, RunSummary, Usage};
use serde_json::json;

use crate::runs::spoilt;

/// More of the last words of a run is not in its entry.
const LONGEST_WORDS: usize = 100_000;

/// Returns the entry of a run that ended so, with the lengths of its files.
pub(super) fn entry(ending: &Ending, usage: Usage, files: BTreeMap<String, u64>) -> Ended {
    Ended {
        status: ending.status().as_str().to_owned(),
        exit_code: ending.exit_code(),
        ending: json!(ending),
        files,
        usage: json!(usage),
        ..Ended::default()
    }
}

/// Returns what of a run is not in its record, if anything is not.
pub(super) fn unrecorded(problems: RecordProblems, summary: &RunSummary) -> Option<Unrecorded> {
    problems.is_incomplete.then(|| Unrecorded {
        problems: problems.sentences,
        last_words: summary.last_text.as_deref().map(|text| {
            // The entry is one message.
            text.chars().take(LONGEST_WORDS).collect()
        }),
    })
}

/// Returns the entry of a run that was never begun.
pub(super) fn unbegun(ending: &Ending) -> Ended {
    entry(ending, Usage::default(), BTreeMap::new())
}

/// Returns how a run ended that was taken only to be ended.
pub(super) fn given_up(why: &GiveUp) -> Ending {
    match why {
        GiveUp::Lost { losses: 0 | 1 } => Ending::Lost {
            reason: "its worker was lost".to_owned(),
        },
        GiveUp::Lost { .. } => Ending::Lost {
            reason: "its worker was lost, and so was the one after it".to_owned(),
        },
        GiveUp::Stopped { .. } => Ending::Stopped,
        GiveUp::CallerGone => Ending::Interrupted(Interruption::OwnerGone),
        GiveUp::Unreadable { why } => Ending::Lost {
            reason: spoilt(why),
        },
    }
}
