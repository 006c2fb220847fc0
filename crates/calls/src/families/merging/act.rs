//! Carries out `merge_subagents`.

use serde_json::{Value, json};

use super::mergeable_runs::changes;
use super::text;
use super::tools::MergeCall;
use crate::arguments;
use crate::caller::Caller;
use crate::families::review_tool::ReviewPermission;
use crate::service::{CallService, ToolAnswer};
use pi_subagents_ground::error::CommandError;
use pi_subagents_runs::acts;
use pi_subagents_runs::merging::{HeldBackFiles, MergedAs};
use pi_subagents_vocabulary::Door;

/// Returns whether a model may merge. For a client of MCP its person says so when the server starts,
/// as for a review. Inside pi the model edits the checkout by itself, and merging is no more.
fn permission(caller: &Caller) -> Result<(), CommandError> {
    match (caller.door, &caller.review) {
        (Door::Mcp, ReviewPermission::Missing | ReviewPermission::Denied) => {
            let why = "only the user can merge: the server was not started with --allow-merge";
            let how = "They can type: pi-subagents review";
            Err(CommandError::failed(why).hint(how))
        }
        (Door::Mcp, ReviewPermission::Always | ReviewPermission::Once(_))
        | (Door::Pi | Door::PiCommand | Door::CommandLine | Door::Attach | Door::Page, _) => Ok(()),
    }
}

/// Merges results into the checkout of the caller, or says what would fit.
pub(crate) fn merge_subagents(
    service: &CallService,
    arguments: &Value,
    caller: &Caller,
) -> Result<ToolAnswer, CommandError> {
    let call: MergeCall = arguments::read(arguments)?;
    if call.check && call.commit {
        let words = "check and commit cannot be asked for together: check changes nothing";
        return Err(CommandError::usage(words));
    }
    let to_merge = changes(service, caller, &call.runs)?;
    let permission = permission(caller);
    if call.check {
        return acts::check(to_merge, |fit| {
            let merger = match permission {
                Ok(()) => text::Merger::Model,
                Err(_) => text::Merger::User,
            };
            let text = text::of_check(fit, merger);
            ToolAnswer::new(text, json!({ "check": fit.printed() }))
        });
    }
    permission?;
    let merged_as = if call.commit {
        MergedAs::Commits
    } else {
        MergedAs::Changes
    };
    let results = to_merge.asked.iter().flatten();
    let patches: Vec<text::Patch> = results.map(text::Patch::of).collect();
    let checkout = to_merge.checkout.top().to_owned();
    let report = acts::merge(to_merge, merged_as, HeldBackFiles::Refused)?;
    let text = text::of_merge(&report, merged_as, &patches, &checkout);
    Ok(ToolAnswer {
        is_refused: report.merged_count() == 0,
        ..ToolAnswer::new(text, json!({ "merge": report.printed() }))
    })
}
