//! Advice for the model of an MCP client: the tool to call, or what its person can do in a shell.

use super::{Advice, in_a_shell};

pub(super) fn words(advice: &Advice) -> String {
    match advice {
        Advice::Resume(id) => format!("delegate_to_subagents with resume \"{id}\""),
        Advice::Wait(id) => format!("subagent_runs with action wait and ids [\"{id}\"]"),
        Advice::Steer(id) => {
            format!("subagent_runs with action steer, ids [\"{id}\"] and a message")
        }
        Advice::Answer(question) => format!(
            "subagent_runs {{\"action\": \"answer\", \"ids\": [\"{question}\"], \"message\": \"…\"}}"
        ),
        Advice::Stop(run) => format!("subagent_runs with action stop and ids [\"{run}\"]"),
        Advice::Status(_) => "subagent_runs with includeCompleted".to_owned(),
        Advice::Session(session) => {
            format!("subagent_runs with action session and ids [\"{session}\"]")
        }
        Advice::Output(session) => {
            format!("subagent_runs with action output and ids [\"{session}\"]")
        }
        Advice::Merge(run) => format!("merge_subagents with runs [\"{run}\"]"),
        Advice::MergeIn { run, directory } => {
            let directory = directory.display();
            format!("merge_subagents with runs [\"{run}\"], called from {directory},")
        }
        Advice::ListRuns => {
            "subagent_runs with includeCompleted lists the runs you have started".to_owned()
        }
        Advice::GetAgent => "list_subagent_profiles shows what there is.".to_owned(),
        // A model is not to decide it.
        Advice::Trust => {
            "Only the user can allow that, with pi-subagents trust in a shell.".to_owned()
        }
        Advice::MakeRoom => "subagent_runs lists them; wait until one has finished (action wait), or stop one (action stop).".to_owned(),
        Advice::Diff(_)
        | Advice::DiffStat(_)
        | Advice::MergeCopies(_)
        | Advice::Review
        | Advice::AcceptWithGate
        | Advice::AcceptWithoutGate
        | Advice::UndoKeepingEdits
        | Advice::Clean
        | Advice::EditAgent(_)
        | Advice::Doctor
        | Advice::Models
        | Advice::Tour
        | Advice::DiscardByForce(_)
        | Advice::Attach
        | Advice::OpenPage
        | Advice::ListBudgets
        | Advice::RaiseBudget(_)
        | Advice::Fleet(_) => in_a_shell(advice),
    }
}
