//! Lets a sub-agent work in a git worktree of its own, and merges what it changed if it fits.
//! The binary `pi-subagents` must be on `PATH`, or `PI_SUBAGENTS_BIN` name it.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use pi_subagents::{MergeOutcome, RunnerChoice, Task, TaskWorkspaceState, Team, TeamOptions};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = TeamOptions::new()
        .runner(RunnerChoice::Embedded)
        .model("scripted/tour"); // offline; name a model of your own
    let team = Team::open(options).await?;
    let task = Task::new("spelling", "Mend the spelling in README.md.").isolated();
    let delegated = team.delegate([task], Vec::new()).await?;
    for outcome in delegated.outcomes {
        let waits = outcome
            .workspace
            .is_some_and(|workspace| workspace.state == TaskWorkspaceState::Waiting);
        if !waits {
            println!("{}: nothing to merge", outcome.report.name);
            continue;
        }
        let runs = [outcome.report.run_id];
        let check = team.check_merge(&runs).await?;
        if !check.is_clean {
            println!("{}", check.table);
            continue;
        }
        for merged in team.merge(&runs).await? {
            match merged.outcome {
                MergeOutcome::Merged(files) => println!("{}: {} files", merged.run, files.len()),
                other => println!("{}: {other:?}", merged.run),
            }
        }
    }
    team.close().await;
    Ok(())
}
