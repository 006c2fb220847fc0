//! Runs the embedded agent without the app around it.

use std::path::PathBuf;
use std::process::ExitCode;

use pi_subagents_agent::{Surroundings, run};
use pi_subagents_files::NeverProjects;

fn main() -> ExitCode {
    let variables: std::collections::BTreeMap<String, String> = std::env::vars().collect();
    let home = PathBuf::from(variables.get("HOME").map_or("/", String::as_str));
    let agent_dir = variables.get("PI_CODING_AGENT_DIR");
    #[expect(
        clippy::disallowed_methods,
        reason = "here the example stands where the app would"
    )]
    let cwd = std::env::current_dir().unwrap_or_default();
    let surroundings = Surroundings {
        never_projects: NeverProjects::new(&home, [std::env::temp_dir()]),
        agent_dir: agent_dir.map_or_else(|| home.join(".pi/agent"), PathBuf::from),
        cwd,
        home,
        variables,
    };
    ExitCode::from(run(std::env::args().skip(1).collect(), surroundings))
}
