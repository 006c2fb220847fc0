//! `/subagents trust`: shows the decision about the project, and lets a person decide again.

use std::sync::Arc;

use pi_subagents_configuration::{Trust, TrustDecision, TrustSource};

use crate::link::HostLink;
use crate::trust::TrustQuestions;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::trust_question::{TrustQuestion, check_extent};
use pi_subagents_ground::error::CommandError;

const YES: &str = "yes: use its agents, settings and skills";
const NO: &str = "no: ignore them";
const ASK: &str = "ask me again";

/// Decides about the project of a caller, by a word or by a dialog. Returns the present decision as
/// a sentence.
pub(super) async fn trust(
    word: &str,
    caller: &Caller,
    has_ui: bool,
    link: &HostLink,
    questions: &Arc<TrustQuestions>,
) -> Result<String, CommandError> {
    let project = caller.places.project.as_path();
    let chosen = match word {
        "" if has_ui => {
            let options = [YES, NO, ASK].map(str::to_owned);
            link.select(&state(caller), &options).await
        }
        "" => None,
        word => Some(word.to_owned()),
    };
    let agent_dir = &caller.places.agent_dir;
    let kept = match chosen.as_deref() {
        None => return Ok(state(caller)),
        Some(YES | "yes") => {
            check_extent(project, &caller.places.home)?;
            Trust::remember(agent_dir, project, true)
        }
        Some(NO | "no") => Trust::remember(agent_dir, project, false),
        Some(ASK | "ask") => {
            questions.forget(&link.session_id(), project).await;
            Trust::forget(agent_dir, project)
        }
        Some(other) => {
            return Err(CommandError::usage(format!(
                "there is no answer \"{other}\" to /subagents trust"
            ))
            .hint("Use /subagents trust yes, /subagents trust no or /subagents trust ask."));
        }
    };
    kept.map_err(|error| CommandError::failed("could not save the decision").because(&error))?;
    Ok(state(caller))
}

/// Returns a sentence about the decision.
fn state(caller: &Caller) -> String {
    let project = caller.places.project.display();
    let (trust, _) = Trust::read(&caller.places.agent_dir);
    let by = |source: TrustSource| match source {
        TrustSource::ThisCall => String::new(),
        TrustSource::Ours(path) => format!(" (decided for {})", path.display()),
        TrustSource::Pi(path) => format!(" (decided with pi for {})", path.display()),
    };
    match trust.of(&caller.places.project) {
        TrustDecision::Trusted(source) => format!(
            "{project} is trusted{}: sub-agents use what it contains.",
            by(source)
        ),
        TrustDecision::Refused(source) => format!(
            "{project} is not trusted{}: what it contains for sub-agents is ignored.",
            by(source)
        ),
        TrustDecision::Undecided if TrustQuestion::is_decided(caller) => {
            format!("{project} is trusted in this session of pi.")
        }
        TrustDecision::Undecided => {
            format!("Nobody has decided about {project}: you are asked when a call needs it.")
        }
    }
}
