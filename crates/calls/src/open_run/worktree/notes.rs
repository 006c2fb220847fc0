//! The words for a child about its worktree.

use std::path::PathBuf;

use pi_subagents_git::{LeftOut, WhyLeftOut};
use pi_subagents_vocabulary::text::{count, first_of};

use pi_subagents_runs::workspace::{Workspace, Worktree};

/// At most so many copied files are named.
const MOST_NAMED: usize = 5;

/// Names the ignored files that were copied.
pub(super) fn named_copies(copied: &[PathBuf]) -> Option<String> {
    let names = copied.iter().map(|name| name.display().to_string());
    let names = first_of(names, MOST_NAMED, ", ");
    (!copied.is_empty()).then(|| format!("copied, because .worktreeinclude names them: {names}"))
}

/// Names something that the checkout has and the worktree has not.
pub(super) fn left_out(left: &LeftOut) -> String {
    let path = left.path.display();
    match left.why {
        WhyLeftOut::TooLarge { bytes } => {
            let megabytes = bytes / 1_000_000;
            format!("{path} is not here: it is untracked and has {megabytes} MB")
        }
        WhyLeftOut::NestedRepository => {
            format!("{path} is not here: it is a separate repository")
        }
    }
}

/// Words what the child is told.
pub(super) fn child_note(worktree: &Worktree, workspace: &Workspace) -> String {
    let (path, branch) = (worktree.path.display(), &worktree.branch);
    let project = workspace.repository.display();
    let begun = workspace.base.as_ref().map(|base| {
        let commit = base.commit.get(..8).unwrap_or_default();
        match base.uncommitted {
            0 => format!("It began from the commit {commit}."),
            files => {
                let files = count(files, "uncommitted file");
                format!("It began from your caller's checkout, with {files}.")
            }
        }
    });
    let mut lines = vec![
        "# Your worktree\n".to_owned(),
        format!("You work in a git worktree of your own: {path}, on the branch {branch}."),
    ];
    lines.extend(begun);
    lines.push(format!(
        "The checkout at {project} is your caller's. Change nothing there: a path below it means the \
         same path below {path}."
    ));
    lines.push("You may commit or not; both are kept and shown to your caller.".to_owned());
    lines.push(
        "Files that git ignores, such as build output and installed packages, are not here unless a \
         line below says so."
            .to_owned(),
    );
    lines.extend(workspace.notes.iter().map(|note| format!("- {note}")));
    lines.join("\n") + "\n"
}
