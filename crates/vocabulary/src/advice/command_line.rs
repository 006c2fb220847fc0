//! Advice at the command line: the command to type.

use super::{Advice, FleetStep};
use crate::text::shell_quoted;

pub(super) fn words(advice: &Advice) -> String {
    match advice {
        Advice::Resume(id) => format!("pi-subagents resume {id} PROMPT"),
        Advice::Wait(id) => format!("pi-subagents wait {id}"),
        Advice::Steer(id) => format!("pi-subagents steer {id} MESSAGE"),
        Advice::Answer(question) => format!("pi-subagents answer {question} …"),
        Advice::Stop(run) => format!("pi-subagents stop {run}"),
        Advice::Status(run) => format!("pi-subagents status {run}"),
        Advice::Session(session) => format!("pi-subagents session {session}"),
        Advice::Output(session) => format!("pi-subagents output {session}"),
        Advice::Merge(run) => format!("pi-subagents merge {run}"),
        Advice::MergeIn { run, directory } => {
            let directory = shell_quoted(&directory.display().to_string());
            format!("cd {directory} && pi-subagents merge {run}")
        }
        Advice::MergeCopies(run) => format!("pi-subagents merge --force {run}"),
        Advice::DiscardByForce(run) => format!("pi-subagents discard {run} --force"),
        Advice::Diff(run) => format!("pi-subagents diff {run}"),
        Advice::DiffStat(run) => format!("pi-subagents diff --stat {run}"),
        Advice::Review => "pi-subagents review".to_owned(),
        Advice::AcceptWithGate => {
            "pi-subagents review --accept-all --gate \"cargo test\"".to_owned()
        }
        Advice::AcceptWithoutGate => "pi-subagents review --accept-all --no-gate".to_owned(),
        Advice::UndoKeepingEdits => "pi-subagents undo --keep-edits".to_owned(),
        Advice::ListRuns => "pi-subagents status --all lists the runs of this project".to_owned(),
        Advice::Clean => "pi-subagents clean".to_owned(),
        Advice::Doctor => "pi-subagents doctor".to_owned(),
        Advice::Models => "pi-subagents models".to_owned(),
        Advice::Tour => "pi-subagents tour".to_owned(),
        Advice::Attach => "pi-subagents attach".to_owned(),
        Advice::OpenPage => "pi-subagents web --open".to_owned(),
        Advice::GetAgent => "List them with pi-subagents agents, or copy a ready-made one with pi-subagents agents add NAME.".to_owned(),
        Advice::EditAgent(name) => format!("pi-subagents agents edit {name}"),
        Advice::Trust => r#"Run "pi-subagents trust" to look at it and allow that."#.to_owned(),
        Advice::MakeRoom => "pi-subagents status lists them; wait until one has finished (pi-subagents wait RUN), or stop one (pi-subagents stop RUN).".to_owned(),
        Advice::ListBudgets => "pi-subagents budget".to_owned(),
        Advice::RaiseBudget(scope) => format!("pi-subagents budget raise {scope} …"),
        Advice::Fleet(step) => of_fleet(step),
    }
}

fn of_fleet(step: &FleetStep) -> String {
    let (command, rest) = match step {
        FleetStep::Init(rest) => ("fleet init", rest.as_str()),
        FleetStep::Key(rest) => ("fleet key", rest.as_str()),
        FleetStep::Work(rest) => ("fleet work", rest.as_str()),
        FleetStep::Workers => ("fleet workers", ""),
    };
    format!("pi-subagents {command} {rest}")
        .trim_end()
        .to_owned()
}
