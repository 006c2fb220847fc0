//! Advice on the screen with all runs: the key to press.

use super::{Advice, in_a_shell};

pub(super) fn words(advice: &Advice) -> String {
    match advice {
        Advice::Resume(_) => "the key r".to_owned(),
        Advice::Steer(_) => "the key s".to_owned(),
        Advice::Stop(_) => "the key x".to_owned(),
        Advice::Answer(_) => "the key !".to_owned(),
        Advice::Output(_) => "the key o".to_owned(),
        Advice::Merge(_) => "the key m".to_owned(),
        Advice::Diff(_) => "the key d".to_owned(),
        // The screen follows all runs.
        Advice::Wait(_) | Advice::Status(_) | Advice::Review | Advice::Attach => {
            "this list".to_owned()
        }
        Advice::Session(_) => "the key Enter".to_owned(),
        Advice::ListRuns => "the list shows the runs there are".to_owned(),
        Advice::MakeRoom => {
            "The list shows them; wait until one has finished, or stop one with the key x."
                .to_owned()
        }
        Advice::GetAgent => "List them with pi-subagents agents list in a shell.".to_owned(),
        Advice::Trust => "Run pi-subagents trust in a shell to allow that.".to_owned(),
        Advice::MergeIn { .. }
        | Advice::DiffStat(_)
        | Advice::MergeCopies(_)
        | Advice::AcceptWithGate
        | Advice::AcceptWithoutGate
        | Advice::UndoKeepingEdits
        | Advice::Clean
        | Advice::EditAgent(_)
        | Advice::Doctor
        | Advice::Models
        | Advice::Tour
        | Advice::DiscardByForce(_)
        | Advice::OpenPage
        | Advice::ListBudgets
        | Advice::RaiseBudget(_)
        | Advice::Fleet(_) => in_a_shell(advice),
    }
}
