//! The last words of a tour: the place of its project, and the lines to paste next.

use std::path::Path;

use pi_subagents_vocabulary::text::shell_quoted;

use super::stage::{HOME, PROJECT};

/// The words after a run that did not complete.
pub(super) const BROKEN: &str = "
The tour ends here, because not all of its runs have completed.
pi-subagents tour --here shows sub-agents at work without worktrees.";

/// Names the place of the project, if the directory of the tour stays.
pub(super) fn place(left: Option<&Path>) -> String {
    match left {
        Some(directory) => format!(
            "The project of the tour is in {}",
            shown(directory, PROJECT)
        ),
        None => "The project of the tour is removed, and nothing of it runs.".to_owned(),
    }
}

/// Lists the commands to type next.
pub(super) fn next_steps(left: Option<&Path>) -> String {
    match left {
        Some(directory) => around(directory),
        None => AT_HOME.to_owned(),
    }
}

const AT_HOME: &str = "\
In a repository of yours:
  pi-subagents doctor                        check that a model can be asked
  pi-subagents run \"Review the last commit\"  give a task to a sub-agent
  pi-subagents delegate --isolation worktree --gate \"make test\" \"PROMPT\" \"PROMPT\"

  pi-subagents tour --keep                   play this again, and keep the project
  pi-subagents tour --here                   let three sub-agents look at this directory";

/// Lists the commands with which somebody looks around in a project that was kept.
fn around(directory: &Path) -> String {
    let project = shown(directory, PROJECT);
    let agent_dir = shown(directory, &format!("{HOME}/.pi/agent"));
    let all = shown(directory, "");
    let all = all.trim_end_matches('/');
    format!(
        "\
Look around in it, in a shell that you close afterwards:
  cd {project}
  export PI_CODING_AGENT_DIR={agent_dir}
  git diff                           see what was merged
  pi-subagents status --all          list the three runs
  pi-subagents session horn          read how the horn was made
  pi-subagents merge glow --resolve  let its sub-agent resolve the conflict
  pi-subagents merge glow            merge it then

Remove it:
  rm -rf {all}"
    )
}

fn shown(directory: &Path, below: &str) -> String {
    shell_quoted(&directory.join(below).display().to_string())
}
