//! Decides whether the files of a project are used in calls from pi.
//!
//! Our own decision counts first, then that of pi's person, then an answer to our question.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use pi_subagents_configuration::{Trust, TrustDecision, TrustSource};
use serde_json::Value;
use tokio::sync::Mutex;

use super::link::{HostLink, Level};
use super::wire::CallerParams;
use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::service::ToolAnswer;
use pi_subagents_calls::trust_question::{TrustQuestion, remember};
use pi_subagents_ground::configuration::{Configuration, IGNORED_SETTINGS};

/// The time for which a program that drives pi may think about a project; after that it is "not
/// now".
const PATIENCE: Duration = Duration::from_mins(1);

/// The questions that were asked, each by the session and the project it was asked in.
#[derive(Default)]
pub(super) struct TrustQuestions {
    asked: Mutex<HashSet<(String, PathBuf)>>,
    /// The warnings about settings that are not used, each with the session that has read it.
    mentioned: std::sync::Mutex<HashSet<(String, String)>>,
}

/// Returns whether pi's person has trusted the project in pi itself. A refusal in our own trust
/// file is stronger.
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
    /// Lets the next call ask about a project again.
    pub(super) async fn forget(&self, session: &str, project: &Path) {
        let asked = (session.to_owned(), project.to_owned());
        self.asked.lock().await.remove(&asked);
    }

    /// Takes the warning that the settings of a project are not used out of an answer, if the
    /// session has read it before.
    pub(super) fn mention_once(&self, session: &str, answer: &mut ToolAnswer) {
        let Some(Value::Array(warnings)) = answer.details.get_mut("warnings") else {
            return;
        };
        let mut mentioned = self
            .mentioned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut repeated = Vec::new();
        warnings.retain(|warning| {
            let words = warning.as_str().unwrap_or_default();
            let is_repeated = words.starts_with(IGNORED_SETTINGS)
                && !mentioned.insert((session.to_owned(), words.to_owned()));
            if is_repeated {
                repeated.push(format!("! {words}"));
            }
            !is_repeated
        });
        if repeated.is_empty() {
            return;
        }
        let lines = answer.text.lines();
        let lines = lines.filter(|line| !repeated.iter().any(|warning| warning == line));
        let text = lines.collect::<Vec<_>>().join("\n");
        text.trim_end().clone_into(&mut answer.text);
    }

    /// Asks about the project if the call depends on it, nobody has decided and somebody can.
    /// Returns the configuration that was read for that, unless somebody was asked: their answer
    /// may have changed it.
    pub(super) async fn settle(
        &self,
        told: &CallerParams,
        arguments: &Value,
        caller: &Caller,
        read: impl Future<Output = Option<(Arc<Configuration>, Option<TrustQuestion>)>>,
        link: &HostLink,
    ) -> Option<Arc<Configuration>> {
        // Simultaneous calls wait for the one answer.
        let mut asked = self.asked.lock().await;
        let project = caller.places.project.as_path();
        let (configuration, question) = read.await?;
        let Some(question) = question.filter(|question| question.concerns(arguments)) else {
            return Some(configuration);
        };
        // In its terminal pi has asked by itself: a project that it does not trust now was refused.
        let was_refused = told.mode == "tui" && told.has_trust_question && !told.trusted;
        if !told.has_ui || was_refused || !question.may_be_asked(&caller.places) {
            return Some(configuration);
        }
        if !asked.insert((link.session_id(), project.to_owned())) {
            return Some(configuration);
        }
        let options = TrustQuestion::options();
        let title = question.message();
        // A person at a terminal takes the time they need; a program may never answer.
        let chosen = match told.mode.as_str() {
            "rpc" => link.select_within(&title, &options, PATIENCE).await,
            _ => link.select(&title, &options).await,
        };
        if let Err(error) = remember(project, chosen.as_deref(), &caller.places) {
            link.notify(&format!("{error}"), Level::Warning);
        }
        None
    }
}
