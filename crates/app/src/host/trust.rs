//! Whether what a project carries is used in calls from pi.
//!
//! Our own decision counts first, then what pi's person said, then an answer to our question.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use pi_subagents_definitions::{IgnoredReason, Settings, Trust, TrustDecision, TrustSource};
use pi_subagents_delegation::text::clean;
use tokio::sync::Mutex;

use super::session::{HostLink, Level};
use super::wire::CallerParams;
use crate::caller::Caller;
use crate::commands::trust::check_extent;
use crate::configuration::Configuration;

/// How many names a question shows.
const NAMES_SHOWN: usize = 8;

const YES: &str = "Yes, from now on";
const NO: &str = "No, ignore it from now on";
const NOT_NOW: &str = "Not now";

/// The questions that were asked, each by the session and the project it was asked in.
#[derive(Default)]
pub(super) struct TrustQuestions {
    asked: Mutex<HashSet<(String, PathBuf)>>,
}

/// What pi's person has said about the project, beside what is on disk.
pub(super) fn trusts_for_session(told: &CallerParams, caller: &Caller) -> bool {
    if !(told.trusted && told.has_trust_question) {
        return false;
    }
    let (trust, _) = Trust::read(&caller.places.agent_dir);
    !matches!(
        trust.of(&caller.places.project),
        TrustDecision::Refused(TrustSource::Ours(_))
    )
}

impl TrustQuestions {
    /// Asks about the project where nobody has decided and somebody can; gives what the answer
    /// of the call must say where what the project carries stays ignored.
    pub(super) async fn settle(
        &self,
        told: &CallerParams,
        caller: &Caller,
        configuration: impl Fn() -> Configuration,
        link: &HostLink,
    ) -> Option<String> {
        // Calls at once wait for the one answer.
        let mut asked = self.asked.lock().await;
        let project = caller.places.project.as_path();
        let carried = carried(&configuration(), project)?;
        let name = project.display();
        let ignored = format!(
            "{carried} of {name} are ignored: nobody has trusted it yet (pi-subagents trust)"
        );
        // In its terminal pi has asked by itself: what it does not trust now was refused.
        let was_refused = told.mode == "tui" && told.has_trust_question && !told.trusted;
        let is_too_wide = check_extent(project, &caller.places.home).is_err();
        if !told.has_ui || was_refused || is_too_wide {
            return Some(ignored);
        }
        if !asked.insert((link.session_id(), project.to_owned())) {
            return Some(ignored);
        }
        let title = clean(&format!("Use {carried} of {name} for sub-agents?"));
        let options = [YES, NO, NOT_NOW].map(str::to_owned);
        let is_trusted = match link.select(&title, &options).await.as_deref() {
            Some(YES) => true,
            Some(NO) => false,
            Some(_) | None => return Some(ignored),
        };
        if let Err(error) = Trust::remember(&caller.places.agent_dir, project, is_trusted) {
            link.notify(&format!("{error}"), Level::Warning);
            return Some(ignored);
        }
        None
    }
}

/// What the project carries that waits for a decision.
fn carried(configuration: &Configuration, project: &Path) -> Option<String> {
    if configuration.trust.of(project) != TrustDecision::Undecided {
        return None;
    }
    let mut names: Vec<&str> = configuration
        .catalogue
        .ignored()
        .filter(|(_, why)| why.reason == IgnoredReason::Undecided && why.project == project)
        .map(|(definition, _)| definition.name.as_str())
        .collect();
    names.dedup();
    let more = names.len().saturating_sub(NAMES_SHOWN);
    names.truncate(NAMES_SHOWN);
    let list = match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    };
    match (names.is_empty(), Settings::project_has_some(project)) {
        (true, false) => None,
        (true, true) => Some("the settings".to_owned()),
        (false, false) => Some(format!("the definitions ({list})")),
        (false, true) => Some(format!("the settings and definitions ({list})")),
    }
}
