//! Advice for the model in pi: the tool to call, or the command that its person can type.

use super::{Advice, in_a_shell, mcp, pi_command};

pub(super) fn words(advice: &Advice) -> String {
    match advice {
        Advice::Resume(_)
        | Advice::Session(_)
        | Advice::Output(_)
        | Advice::Merge(_)
        | Advice::MergeIn { .. } => mcp::words(advice),
        Advice::Wait(id) => format!("background_agent_status with run \"{id}\""),
        Advice::Status(run) => format!("background_agent_status with run \"{run}\""),
        Advice::ListRuns => {
            "background_agent_status lists the background runs of this session".to_owned()
        }
        Advice::GetDefinition => "list_subagent_profiles shows what there is; a person makes one with /profile create NAME.".to_owned(),
        // A model is not to decide it.
        Advice::Trust => "Only the user can allow that, with /subagents trust.".to_owned(),
        Advice::MakeRoom => "background_agent_status lists those of this session; wait until one is over, or let a person stop one (/subagents).".to_owned(),
        Advice::Stop(_) | Advice::Diff(_) | Advice::DiffStat(_) => {
            format!("the user's command {}", pi_command::words(advice))
        }
        Advice::Clean
        | Advice::Doctor
        | Advice::Attach
        | Advice::OpenPage
        | Advice::Fleet(_) => in_a_shell(advice),
    }
}
