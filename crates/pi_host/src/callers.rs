//! Turns the facts that the shim sends about a caller into a `Caller`.

use std::sync::Arc;

use pi_subagents_configuration::Skill;
use pi_subagents_records::CallerName;

use super::wire::{CallerParams, PiParams};
use pi_subagents_calls::caller::{Caller, CallingPi};
use pi_subagents_ground::places::Places;
use pi_subagents_runs::session_runs::SessionRuns;
use pi_subagents_vocabulary::{Answerers, Door};

/// Makes the caller from pi's facts about itself.
pub(super) fn caller(
    told: &CallerParams,
    places: &Places,
    session: String,
    session_runs: Arc<SessionRuns>,
) -> Caller {
    Caller {
        door: Door::Pi,
        name: CallerName::Pi {
            session: session.clone(),
        },
        columns: told.columns,
        answerers: Answerers {
            person: told.has_ui,
            model: true,
        },
        session_runs: Some(session_runs),
        pi: told.pi.as_ref().map(|pi| calling_pi(told, pi, session)),
        ..Caller::at(places.seen_from(told.cwd.clone()))
    }
}

fn calling_pi(told: &CallerParams, pi: &PiParams, session: String) -> CallingPi {
    let script = pi.script.iter().map(|script| script.clone().into());
    let skills = told.skills.iter().map(|skill| Skill {
        name: skill.name.clone(),
        file: skill.path.clone(),
        description: skill.description.clone(),
    });
    CallingPi {
        program: pi.exec_path.clone(),
        arguments: script.collect(),
        version: pi.version.clone(),
        model: told.model.clone(),
        models: told.models.clone(),
        active_tools: told.active_tools.clone(),
        all_tools: told.all_tools.clone(),
        skills: skills.collect(),
        session,
    }
}
