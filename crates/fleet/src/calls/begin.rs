//! The state that a run of a fleet begins from. On its worker every run has a directory of its own,
//! so a worktree needs nothing more; a base that does not travel is refused by its name.

use pi_subagents_fleet_queue::wire::{Bundle, Workspace};
use pi_subagents_vocabulary::{BaseChoice, Refusal};

use pi_subagents_calls::resolve::RunPlace;

/// Makes a workspace begin from the state that its task asks for, or says why it cannot.
pub(super) fn begin_from(place: &RunPlace, workspace: Workspace) -> Result<Workspace, Refusal> {
    let (base, earlier) = match place {
        RunPlace::Checkout => return Ok(workspace),
        RunPlace::Worktree { base, earlier } => (base, earlier),
    };
    if let Some(earlier) = earlier
        && let Some(path) = earlier.workspace.path()
        && earlier.workspace.is_unmerged()
    {
        return Err(refusal(&format!(
            "isolation: the changes of this session are in {}, which does not travel to a fleet. Merge or discard them first, or use --on local.",
            path.display()
        )));
    }
    match (workspace, base) {
        (Workspace::Shared(_), _) => Err(refusal(
            "isolation: with --workspace shared a sub-agent works in the shared directory itself, and not in a worktree. Use --workspace bundle, or leave isolation out.",
        )),
        (Workspace::Bundle(bundle), BaseChoice::Head) => from_head(*bundle),
        (Workspace::None, BaseChoice::Head | BaseChoice::Revision(_)) => Err(refusal(&format!(
            "base is {}, and with --workspace none there are no files to begin from. Use --workspace bundle, or leave base out.",
            base.as_str()
        ))),
        (Workspace::Bundle(_) | Workspace::Clone(_), BaseChoice::Revision(revision)) => {
            Err(refusal(&format!(
                "base is {revision}, and only the commit that is checked out travels to a fleet. Check {revision} out, set base to working or head, or use --on local."
            )))
        }
        // A clone is of HEAD in any case, and its caller was told what stays behind.
        (workspace @ Workspace::Clone(_), BaseChoice::Working | BaseChoice::Head)
        | (workspace @ (Workspace::Bundle(_) | Workspace::None), BaseChoice::Working) => {
            Ok(workspace)
        }
    }
}

/// Leaves the uncommitted files of a project out, and those of its submodules.
fn from_head(mut bundle: Bundle) -> Result<Workspace, Refusal> {
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
    Ok(Workspace::Bundle(Box::new(bundle)))
}

fn refusal(message: &str) -> Refusal {
    Refusal {
        message: message.to_owned(),
    }
}
