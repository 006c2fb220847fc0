//! Advice for the model in pi: the tool to call, or the command that its person can type.

use super::{Advice, in_a_shell, mcp, pi_command};

pub(super) fn words(advice: &Advice) -> String {
    match advice {
        Advice::Resume(_)
        | Advice::Wait(_)
        | Advice::Steer(_)
        | Advice::Stop(_)
        | Advice::Merge(_)
        | Advice::MergeIn { .. }
        | Advice::MakeRoom => mcp::words(advice),
        Advice::Answer(question) => {
            format!("answer_subagent {{\"question\": \"{question}\", \"answer\": \"…\"}}")
        }
        Advice::Session(session) => format!("get_subagent_session with sessionId {session}"),
        Advice::Output(session) => format!("get_subagent_output with sessionId {session}"),
        Advice::Status(run) => format!("background_agent_status with run \"{run}\""),
        Advice::ListRuns => {
            "subagent_runs with includeCompleted lists the runs of this session".to_owned()
        }
        Advice::GetAgent => "list_subagent_profiles shows what there is; a person makes one with /profile create NAME.".to_owned(),
        // A model is not to decide it.
        Advice::Trust => "Only the user can allow that, with /subagents trust.".to_owned(),
        Advice::Diff(_) | Advice::DiffStat(_) | Advice::EditAgent(_) => {
            format!("the user's command {}", pi_command::words(advice))
        }
        Advice::MergeCopies(_)
        | Advice::Review
        | Advice::AcceptWithGate
        | Advice::AcceptWithoutGate
        | Advice::UndoKeepingEdits
        | Advice::Clean
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
