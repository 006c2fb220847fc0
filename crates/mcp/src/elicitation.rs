//! The person of a client, who is asked what runs of a call ask. The form has the options of the
//! question; a person who declines gives no answer, and one who leaves the form answers later.

use std::sync::Arc;

use pi_subagents_calls::caller::Caller;
use pi_subagents_calls::questions::RunQuestion;
use pi_subagents_calls::service::CallService;
use pi_subagents_records::IndexedRun;
use pi_subagents_runs::acts::{self, Addressee};
use pi_subagents_runs::ask_which::find_failure;
use pi_subagents_vocabulary::text::{clean, one_line};
use pi_subagents_vocabulary::{AnswerForm, Question, Reply, Respondent, RunId};
use rmcp::RoleServer;
use rmcp::model::{CustomRequest, ServerRequest};
use rmcp::service::Peer;
use serde_json::{Value, json};
use tracing::debug;

/// The method by which a client is asked to show a form.
pub(crate) const ELICIT: &str = "elicitation/create";
const ANSWER: &str = "answer";
const OTHER: &str = "other";

/// The person of a client that takes questions in the middle of a call.
#[derive(Clone)]
pub(crate) struct ClientPerson {
    pub(crate) peer: Peer<RoleServer>,
}

/// What became of a question that a person has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    Answered,
    /// It is still open.
    Later,
}

impl ClientPerson {
    /// Asks the person, and gives the run their answer.
    pub(crate) async fn settle(
        &self,
        asked: &RunQuestion,
        service: &Arc<CallService>,
        caller: &Caller,
    ) -> Seen {
        // Clients keep what is typed into their forms.
        if asked.question.secret {
            return Seen::Later;
        }
        let request = CustomRequest::new(ELICIT, Some(form(asked)));
        let sent = self
            .peer
            .send_request(ServerRequest::CustomRequest(request));
        let told = sent
            .await
            .ok()
            .and_then(|told| serde_json::to_value(told).ok());
        let reply = told.and_then(|told| reply_in(&asked.question, &told));
        match reply {
            Some(reply) => answer(asked, reply, service, caller).await,
            None => Seen::Later,
        }
    }
}

/// Gives a run the answer of a person.
pub(crate) async fn answer(
    asked: &RunQuestion,
    reply: Reply,
    service: &Arc<CallService>,
    caller: &Caller,
) -> Seen {
    let to = Addressee {
        run: asked.run.clone(),
        name: asked.name.clone(),
        record: record(service, caller, asked.run.clone()).await,
    };
    let reach = service.owner.reach(&caller.places);
    let answered = acts::answer(&reach, &to, &asked.question, reply, Respondent::McpClient).await;
    match answered {
        Ok(_) => Seen::Answered,
        // Somebody else may have been faster.
        Err(error) => {
            debug!(
                error = error.message(),
                "the answer of a client's person was not taken"
            );
            Seen::Later
        }
    }
}

async fn record(service: &Arc<CallService>, caller: &Caller, run: RunId) -> Option<IndexedRun> {
    let find = move |service: &CallService, _: &Caller| {
        let runs = service.owner.index.runs().map_err(find_failure)?;
        Ok(runs.iter().find(|known| known.run == run).cloned())
    };
    service.beside(caller, find).await.ok().flatten()
}

/// Returns the form for a question, as the params of an elicitation.
pub(crate) fn form(asked: &RunQuestion) -> Value {
    let question = &asked.question;
    let text = question.text.clone();
    let text = [Some(text), question.context.clone()].into_iter().flatten();
    let text = text.collect::<Vec<_>>().join("\n");
    let options: Vec<String> = question
        .options
        .iter()
        .map(|option| clean(option))
        .collect();
    let mut fields = json!({});
    fields[ANSWER] = match (question.form, options.is_empty()) {
        (AnswerForm::YesNo, _) => json!({"type": "boolean", "title": "Yes"}),
        (AnswerForm::Choice | AnswerForm::Words, true) => {
            json!({"type": "string", "title": "Answer"})
        }
        (AnswerForm::Choice | AnswerForm::Words, false) => {
            json!({"type": "string", "title": "Answer", "enum": options})
        }
    };
    let takes_other = question.form == AnswerForm::Words && !options.is_empty();
    if takes_other {
        fields[OTHER] = json!({"type": "string", "title": "Something else"});
    }
    let required: &[&str] = if takes_other { &[] } else { &[ANSWER] };
    json!({
        "mode": "form",
        "message": clean(&format!("{} asks: {text}", one_line(&asked.name))),
        "requestedSchema": {"type": "object", "properties": fields, "required": required},
    })
}

/// Reads the answer in the result of an elicitation; `None` if the person answers later.
pub(crate) fn reply_in(question: &Question, told: &Value) -> Option<Reply> {
    match told["action"].as_str() {
        Some("accept") => {}
        Some("decline") => return Some(Reply::Cancel),
        _ => return None,
    }
    let content = &told["content"];
    if let Some(is_yes) = content[ANSWER].as_bool() {
        return Some(if is_yes { Reply::Yes } else { Reply::No });
    }
    let words = |field: &str| {
        let words = content[field].as_str()?;
        (!words.trim().is_empty()).then(|| words.to_owned())
    };
    let other = words(OTHER).map(Reply::Words);
    other.or_else(|| {
        let words = words(ANSWER)?;
        // The options were cleaned to be shown.
        let mut options = question.options.iter();
        let place = options.position(|option| clean(option) == words);
        Some(place.map_or(Reply::Words(words), |place| Reply::Option(place + 1)))
    })
}

#[cfg(test)]
mod tests {
    use pi_subagents_vocabulary::{Answerer, QuestionId, QuestionKind, Timestamp};
    use pretty_assertions::assert_eq;

    use super::*;

    fn question(form: AnswerForm, options: &[&str]) -> Question {
        Question {
            id: QuestionId::new(1),
            kind: QuestionKind::Dialog,
            form,
            text: "Which?".to_owned(),
            context: None,
            options: options.iter().map(|&option| option.to_owned()).collect(),
            answerer: Answerer::Person,
            secret: false,
            asked_at: Timestamp::UNIX_EPOCH,
            lapses_at: None,
        }
    }

    #[test]
    fn each_form_is_read_as_the_person_meant_it() {
        let choice = question(AnswerForm::Choice, &["Allow once", "Deny"]);
        let words = question(AnswerForm::Words, &["v2", "v3"]);
        let sure = question(AnswerForm::YesNo, &[]);
        let accepted = |content: Value| json!({"action": "accept", "content": content});
        for (question, told, expected) in [
            (
                &choice,
                accepted(json!({"answer": "Deny"})),
                Some(Reply::Option(2)),
            ),
            (
                &words,
                accepted(json!({"answer": "v3"})),
                Some(Reply::Option(2)),
            ),
            (
                &words,
                accepted(json!({"answer": "v3", "other": "both"})),
                Some(Reply::Words("both".to_owned())),
            ),
            (&sure, accepted(json!({"answer": false})), Some(Reply::No)),
            (&sure, accepted(json!({"answer": true})), Some(Reply::Yes)),
            (&words, accepted(json!({"answer": " "})), None),
            (&words, json!({"action": "decline"}), Some(Reply::Cancel)),
            (&words, json!({"action": "cancel"}), None),
            (&words, json!({}), None),
        ] {
            assert_eq!(reply_in(question, &told), expected, "{told}");
        }
    }
}
