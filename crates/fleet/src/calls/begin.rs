//! The state that a run of a fleet begins from. On its worker every run has a directory of its own,
//! so a worktree needs nothing more; a base that does not travel is refused by its name.

use pi_subagents_fleet_queue::wire::{Bundle, SentWorkspace};
use pi_subagents_vocabulary::{BaseChoice, Refusal, WorkspaceChoice};

use pi_subagents_calls::resolve::RunPlace;

/// Refuses a task that asks for a beginning that cannot travel.
pub(super) fn check_beginning(place: &RunPlace, workspace: WorkspaceChoice) -> Result<(), Refusal> {
    let (base, earlier) = match place {
        RunPlace::Checkout => return Ok(()),
        RunPlace::Worktree { base, earlier } => (base, earlier),
    };
    if let Some(earlier) = earlier
        && let Some(path) = earlier.workspace.path()
        && earlier.workspace.is_unmerged()
    {
        return Err(refusal(&format!(
            "isolation: the changes of this session are in {}, which is not sent to a fleet. Merge or discard them first, or use --on local.",
            path.display()
        )));
    }
    match (workspace, base) {
        (WorkspaceChoice::Shared, _) => Err(refusal(
            "isolation: with --workspace shared a sub-agent works in the shared directory itself, and not in a worktree. Use --workspace bundle, or leave isolation out.",
        )),
        (WorkspaceChoice::None, BaseChoice::Head | BaseChoice::Revision(_)) => {
            Err(refusal(&format!(
                "base is {}, and with --workspace none there are no files to begin from. Use --workspace bundle, or leave base out.",
                base.as_str()
            )))
        }
        (WorkspaceChoice::Bundle | WorkspaceChoice::Clone, BaseChoice::Revision(revision)) => {
            Err(refusal(&format!(
                "base is {revision}, and only the commit that is checked out is sent to a fleet. Check {revision} out, set base to working or head, or use --on local."
            )))
        }
        // A clone is of HEAD in any case, and its caller was told what stays behind.
        (
            WorkspaceChoice::Clone | WorkspaceChoice::Bundle,
            BaseChoice::Working | BaseChoice::Head,
        )
        | (WorkspaceChoice::None, BaseChoice::Working) => Ok(()),
    }
}

/// Makes a workspace begin from the state that its task asks for, or says why it cannot.
pub(super) fn begin_from(
    place: &RunPlace,
    workspace: SentWorkspace,
) -> Result<SentWorkspace, Refusal> {
    match (place, workspace) {
        (
            RunPlace::Worktree {
                base: BaseChoice::Head,
                ..
            },
            SentWorkspace::Bundle(bundle),
        ) => from_head(*bundle),
        (RunPlace::Worktree { .. } | RunPlace::Checkout, workspace) => Ok(workspace),
    }
}

/// Leaves the uncommitted files of a project out, and those of its submodules.
fn from_head(mut bundle: Bundle) -> Result<SentWorkspace, Refusal> {
    let mut submodules = bundle.submodules.iter();
    if bundle.head.is_none() || submodules.any(|one| one.bundle.head.is_none()) {
        return Err(refusal(
            "base is head, and the repository or a submodule of it has no commit yet. Leave base out.",
        ));
    }
    bundle.from_head = true;
    for submodule in &mut bundle.submodules {
        submodule.bundle.from_head = true;
    }
    Ok(SentWorkspace::Bundle(Box::new(bundle)))
}

fn refusal(message: &str) -> Refusal {
    Refusal {
        message: message.to_owned(),
    }
}
