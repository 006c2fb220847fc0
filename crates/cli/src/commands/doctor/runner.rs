//! Finds the program that does the work by default.

use pi_subagents_configuration::RunnerChoice;

use super::check::Check;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::runner::{Asking, FoundPi, NoPi, find_pi, is_pi_named};
use pi_subagents_definition_commands::seen::Seen;

/// Returns the pi on this machine, or why it cannot be used.
pub(super) fn look_for_pi(seen: &Seen) -> Result<FoundPi, NoPi> {
    find_pi(&Caller::at(seen.places.clone()), Asking::Now)
}

pub(super) fn runner(seen: &Seen, pi: &Result<FoundPi, NoPi>) -> Check {
    let choice = seen.configuration().settings.runner;
    let check = |text: String| Check::new("runner", text);
    match (choice, pi) {
        (RunnerChoice::Embedded, _) => {
            check("the embedded agent, as subagents.runner says".to_owned())
        }
        (RunnerChoice::Pi, Ok(pi)) => check(format!("{}, as subagents.runner says", named(pi))),
        (RunnerChoice::Pi, Err(why)) => {
            check("subagents.runner is pi, but there is no pi that can be used".to_owned())
                .problem()
                .hint(why.to_string())
        }
        (RunnerChoice::Auto, Ok(pi)) => check(format!("auto uses {}", named(pi))),
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
