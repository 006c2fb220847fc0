//! Finds the program that does the work by default, and how long it takes to start.

use std::time::{Duration, Instant};

use pi_subagents_configuration::RunnerChoice;

use super::check::Check;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::runner::{Asking, FoundPi, NoPi, find_other_agent, find_pi, is_pi_named};
use pi_subagents_definition_commands::visible_agents::VisibleAgents;

/// The pi on this machine, or why it cannot be used, and how long it took to print its version.
pub(super) struct AskedPi {
    pub(super) found: Result<FoundPi, NoPi>,
    took: Duration,
}

/// Looks for a pi, and starts it.
pub(super) fn look_for_pi(seen: &VisibleAgents) -> AskedPi {
    let begin = Instant::now();
    let found = find_pi(&Caller::at(seen.places.clone()), Asking::Now);
    AskedPi {
        found,
        took: begin.elapsed(),
    }
}

pub(super) fn runner(seen: &VisibleAgents, pi: &AskedPi) -> Check {
    let choice = seen.configuration().settings.runner;
    let check = |text: String| Check::new("runner", text);
    let started = |name: &str| {
        let seconds = pi.took.as_secs_f64();
        format!("{name}; printing its version took {seconds:.1} s")
    };
    match (choice, &pi.found) {
        (RunnerChoice::Embedded, _) => {
            check("the embedded agent, as subagents.runner says".to_owned())
        }
        (RunnerChoice::Bridge(agent), _) => {
            let found = find_other_agent(
                agent,
                &seen.configuration().settings.runners,
                &seen.places,
            );
            let said = check(format!("{}, as subagents.runner says", agent.title()));
            match found {
                Ok(_) => said,
                Err(why) => said.problem().hint(why),
            }
        }
        (RunnerChoice::Pi, Ok(pi)) => {
            check(started(&format!("{}, as subagents.runner says", named(pi))))
        }
        (RunnerChoice::Pi, Err(why)) => {
            check("subagents.runner is pi, but there is no pi that can be used".to_owned())
                .problem()
                .hint(why.to_string())
        }
        (RunnerChoice::Auto, Ok(pi)) => check(started(&format!("auto uses {}", named(pi)))).hint(
            "Every run starts pi anew. The embedded agent starts in a few hundredths of a second: --runner embedded, or subagents.runner in the settings.",
        ),
        (RunnerChoice::Auto, Err(_)) if !is_pi_named(&seen.places) => {
            check("auto uses the embedded agent, because pi was not found".to_owned())
        }
        (RunnerChoice::Auto, Err(why @ NoPi::DoesNotStart(_))) => check(
            "auto uses the embedded agent, because the installed pi does not start".to_owned(),
        )
        .problem()
        .hint(why.to_string()),
        (RunnerChoice::Auto, Err(why)) => check(
            "auto uses the embedded agent, because the installed pi cannot be used".to_owned(),
        )
        .warning()
        .hint(why.to_string()),
    }
}

fn named(pi: &FoundPi) -> String {
    format!("pi {} ({})", pi.version, pi.program.path.display())
}
