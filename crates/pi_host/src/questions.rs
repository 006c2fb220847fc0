//! Questions of the runs of a call, asked in pi's own dialogs, one after the other. Escape means
//! later: the question stays open, is in the inbox, and the caller's model may answer it.

use std::sync::Weak;

use pi_subagents_ground::places::Places;
use pi_subagents_runs::acts::{self, Addressee};
use pi_subagents_vocabulary::text::{clean, one_line};
use pi_subagents_vocabulary::{
    AnswerForm, Answerer, AskedQuestion, Door, Question, Reply, Respondent,
};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::link::{HostLink, Level};
use pi_subagents_calls::questions::{QuestionDesk, RunQuestion};
use pi_subagents_calls::service::CallService;

/// The type of the entry that pi's session gets when a call was answered with questions. With the
/// first one the extension registers the tool that answers them.
const QUESTION_TYPE: &str = "pi-subagents:question";

/// The option that leads to words of one's own.
const OTHER: &str = "Something else…";

/// The option that leaves the question open, as Escape does.
const LATER: &str = "Later";

/// The questions of a call, for the person inside pi.
pub(super) struct QuestionDialogs {
    pub(super) desk: QuestionDesk,
    pub(super) link: HostLink,
    /// A call that is over does not keep the service alive.
    pub(super) service: Weak<CallService>,
    pub(super) places: Places,
}

/// Notes in pi's session that its model can answer a question.
pub(super) fn note_question(link: &HostLink, pi_session: &str) {
    link.append_entry(pi_session, QUESTION_TYPE, &json!({}));
}

/// Notes the same if a run of an answer waits with a question that its model may answer.
pub(super) fn note_open_questions(link: &HostLink, pi_session: &str, details: &Value) {
    let runs = details["runs"].as_array().into_iter().flatten();
    let mut asked = runs
        .filter_map(|run| run["questions"].as_array())
        .flatten()
        .filter_map(|asked| AskedQuestion::deserialize(asked).ok());
    if asked.any(|asked| asked.is_open() && asked.question.answerer == Answerer::Parent) {
        note_question(link, pi_session);
    }
}

impl QuestionDialogs {
    /// Asks until the runs of the call are over.
    pub(super) async fn ask(self) {
        loop {
            let asked = tokio::select! {
                asked = self.desk.next() => asked,
                () = self.desk.over() => return,
            };
            let id = asked.question.id.clone();
            // Somebody may have answered while another dialog was open.
            if !self.desk.is_open(&id) {
                continue;
            }
            let reply = ask_person(&self.link, &asked.name, &asked.question).await;
            match reply {
                Some(reply) => self.answer(asked, reply).await,
                None => self.desk.put_aside(&id),
            }
        }
    }

    async fn answer(&self, asked: RunQuestion, reply: Reply) {
        let Some(service) = Weak::upgrade(&self.service) else {
            return;
        };
        let reach = service.owner.reach(&self.places);
        drop(service);
        let id = asked.question.id.clone();
        let to = Addressee {
            run: asked.run,
            name: asked.name,
            record: None,
        };
        let answered = acts::answer(&reach, &to, &asked.question, reply, Respondent::Pi).await;
        if let Err(error) = answered {
            self.link
                .notify(&error.lines(Door::PiCommand), Level::Warning);
            // It is still open if the answer did not fit.
            self.desk.put_aside(&id);
        }
    }
}

/// Shows a question in pi's own dialog; `None` if the person wants to answer later.
pub(super) async fn ask_person(link: &HostLink, name: &str, question: &Question) -> Option<Reply> {
    let mut title = format!("main ▸ {} asks: {}", one_line(name), question.text);
    if let Some(context) = &question.context {
        title.push('\n');
        title.push_str(context);
    }
    let title = clean(&title);
    let mut options = match question.form {
        // Pi's own dialog for yes and no takes Escape for a no.
        AnswerForm::YesNo => vec!["Yes".to_owned(), "No".to_owned()],
        AnswerForm::Choice | AnswerForm::Words => question.options.clone(),
    };
    if options.is_empty() {
        return ask_for_words(link, &title).await;
    }
    let real = options.len();
    if question.form == AnswerForm::Words {
        options.push(OTHER.to_owned());
    }
    options.push(LATER.to_owned());
    let chosen = link.select(&title, &options).await?;
    let place = options
        .iter()
        .position(|option| clean(option) == clean(&chosen))?;
    match &*chosen {
        _ if place < real => Some(Reply::Option(place + 1)),
        OTHER => ask_for_words(link, &title).await,
        _ => None,
    }
}

async fn ask_for_words(link: &HostLink, title: &str) -> Option<Reply> {
    let words = link.input(title, "").await?;
    (!words.trim().is_empty()).then_some(Reply::Words(words))
}
