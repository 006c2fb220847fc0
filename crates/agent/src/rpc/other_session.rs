//! How a client has the agent leave its session for another one.

use serde_json::json;

use super::server::Outcome;
use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::model_access::ModelAccess;
use crate::models::ThinkingLevel;
use crate::opened_session::OpenedSession;
use crate::session::{self, Claim, Place};

/// Forgets what was said. A session file belongs to one session, so the new one gets a
/// file of its own beside it.
pub(super) fn begin(agent: &Agent, parent: Option<&str>) -> Outcome {
    let id = uuid::Uuid::now_v7().to_string();
    let before = agent.conversation.borrow();
    let file = before.session_file().map(|file| session::beside(file, &id));
    drop(before);
    let claim = file.map(|file| Claim::take(&file)).transpose();
    let claim = claim.map_err(|error| error.to_string())?;
    let cwd = &agent.setup.cwd;
    let mut conversation = Conversation::begin(claim, id, cwd, parent);
    if let Some(model) = agent.model() {
        conversation.note_model(&model.provider, &model.id);
    }
    conversation.note_thinking(agent.thinking.get().name());
    agent.conversation.replace(conversation);
    Ok(Some(json!({"cancelled": false})))
}

/// Goes on with another session, with the model and the level it was left with.
pub(super) async fn switch(agent: &Agent, access: &ModelAccess, path: &str) -> Outcome {
    let path = agent.setup.cwd.join(path);
    let is_same = agent.conversation.borrow().session_file() == Some(&path);
    if is_same {
        return Ok(Some(json!({"cancelled": false})));
    }
    let id = uuid::Uuid::now_v7().to_string();
    let opened = OpenedSession::take(Place { path, id })?;
    let recorded = opened.recorded.as_ref();
    let (model, thinking) = recorded
        .map(|recorded| (recorded.model.clone(), recorded.thinking.clone()))
        .unwrap_or_default();
    if let Some(elsewhere) = recorded.filter(|recorded| recorded.cwd != agent.setup.cwd) {
        return Err(format!(
            "The session belongs to {}. Start the agent with --session to continue it there.",
            elsewhere.cwd.display()
        ));
    }
    let conversation = opened.conversation(&agent.setup.cwd)?;
    agent.conversation.replace(conversation);
    if let Some((provider, id)) = model {
        // A model that is not to be had any more leaves the one in use.
        let _ = access.switch(agent, &provider, &id).await;
    }
    if let Some(level) = thinking.as_deref().and_then(ThinkingLevel::parse) {
        agent.set_thinking(level);
    }
    Ok(Some(json!({"cancelled": false})))
}
