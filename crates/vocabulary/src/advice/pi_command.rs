//! Advice for the person in pi: the command that begins with a slash.

use super::{Advice, in_a_shell};

pub(super) fn words(advice: &Advice) -> String {
    match advice {
        Advice::Steer(id) => format!("/subagents steer {id} TEXT"),
        Advice::Answer(question) => format!("/subagents answer {question}"),
        Advice::Stop(run) => format!("/subagents stop {run}"),
        Advice::Session(session) | Advice::Output(session) => {
            format!("/subagents show {session}")
        }
        Advice::Merge(run) => format!("/subagents merge {run}"),
        Advice::Diff(run) | Advice::DiffStat(run) => format!("/subagents diff {run}"),
        Advice::Status(_) => "/subagents list".to_owned(),
        Advice::ListRuns => "/subagents list shows the sub-agents of this session".to_owned(),
        Advice::GetAgent => {
            "List them with /profile list, or create one with /profile create NAME.".to_owned()
        }
        Advice::EditAgent(name) => format!("/profile edit {name}"),
        Advice::Trust => "Use /subagents trust to allow that.".to_owned(),
        Advice::MakeRoom => "/subagents list shows those of this session; wait until one has finished, or stop one (/subagents stop RUN).".to_owned(),
        Advice::Resume(_)
        | Advice::Wait(_)
        | Advice::MergeIn { .. }
        | Advice::MergeCopies(_)
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
