//! Advice on the page in a browser: the button to press.

use super::{Advice, in_a_shell};

pub(super) fn words(advice: &Advice) -> String {
    match advice {
        Advice::Resume(_) | Advice::Steer(_) => "a message to it".to_owned(),
        Advice::Stop(_) => "the button Stop".to_owned(),
        Advice::Merge(_) => "the button Merge".to_owned(),
        Advice::Session(_) | Advice::Output(_) | Advice::Answer(_) => "its page".to_owned(),
        Advice::Diff(_) | Advice::DiffStat(_) => "the tab with its changes".to_owned(),
        // The page follows all runs.
        Advice::Wait(_)
        | Advice::Status(_)
        | Advice::Review
        | Advice::Attach
        | Advice::OpenPage => "this page".to_owned(),
        Advice::ListRuns => "the list shows the runs there are".to_owned(),
        Advice::MakeRoom => {
            "The list shows them; wait until one has finished, or stop one.".to_owned()
        }
        Advice::GetAgent => "List them with pi-subagents agents list in a shell.".to_owned(),
        Advice::Trust => "Run pi-subagents trust in a shell to allow that.".to_owned(),
        Advice::MergeIn { .. }
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
        | Advice::ListBudgets
        | Advice::RaiseBudget(_)
        | Advice::Fleet(_) => in_a_shell(advice),
    }
}
