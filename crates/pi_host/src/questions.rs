//! Questions of the runs of a call, asked in pi's own dialogs, one after the other. Escape means
//! later: the question stays open and is in the inbox.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pi_subagents_ground::places::Places;
use pi_subagents_runs::acts::{self, Addressee};
use pi_subagents_vocabulary::text::{clean, one_line};
use pi_subagents_vocabulary::{
    AnswerForm, Door, EventSink, Happening, Question, QuestionId, Reply, Respondent, RunEvent,
    RunId, RunSummary,
};
use tokio::sync::mpsc;

use super::link::{HostLink, Level};
use pi_subagents_calls::service::CallService;

/// The option that leads to words of one's own.
const OTHER: &str = "Something else…";

/// The option that leaves the question open, as Escape does.
const LATER: &str = "Later";

/// A question of a run.
struct AskedHere {
    run: RunId,
    name: String,
    question: Question,
}

/// Hands the questions of a call on to whoever shows them.
pub(super) struct QuestionSink {
    /// Unbounded: the engine bounds the open questions of a run.
    asked: mpsc::UnboundedSender<AskedHere>,
    open: OpenHere,
}

/// The questions that are open, with their runs.
type OpenHere = Arc<Mutex<HashMap<QuestionId, RunId>>>;

/// The questions of a call, for the person inside pi.
pub(super) struct QuestionDialogs {
    asked: mpsc::UnboundedReceiver<AskedHere>,
    open: OpenHere,
    link: HostLink,
    service: Arc<CallService>,
    places: Places,
}

impl QuestionDialogs {
    /// Makes the dialogs of a call, and the sink that they get the questions from.
    pub(super) fn of_call(
        link: &HostLink,
        service: &Arc<CallService>,
        places: &Places,
    ) -> (QuestionSink, Self) {
        let (sender, asked) = mpsc::unbounded_channel();
        let open = OpenHere::default();
        let sink = QuestionSink {
            asked: sender,
            open: Arc::clone(&open),
        };
        let dialogs = Self {
            asked,
            open,
            link: link.clone(),
            service: Arc::clone(service),
            places: places.clone(),
        };
        (sink, dialogs)
    }

    /// Asks for as long as its future is polled.
    pub(super) async fn ask(mut self) {
        while let Some(asked) = self.asked.recv().await {
            // Somebody may have answered while another dialog was open.
            if !lock(&self.open).contains_key(&asked.question.id) {
                continue;
            }
            if let Some(reply) = self.reply(&asked).await {
                self.answer(asked, reply).await;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Shows a question; `None` if the person wants to answer later.
    async fn reply(&self, asked: &AskedHere) -> Option<Reply> {
        let question = &asked.question;
        let mut title = format!("main ▸ {} asks: {}", one_line(&asked.name), question.text);
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
            return self.words(&title).await;
        }
        let real = options.len();
        if question.form == AnswerForm::Words {
            options.push(OTHER.to_owned());
        }
        options.push(LATER.to_owned());
        let chosen = self.link.select(&title, &options).await?;
        let place = options
            .iter()
            .position(|option| clean(option) == clean(&chosen))?;
        match &*chosen {
            _ if place < real => Some(Reply::Option(place + 1)),
            OTHER => self.words(&title).await,
            _ => None,
        }
    }

    async fn words(&self, title: &str) -> Option<Reply> {
        let words = self.link.input(title, "").await?;
        (!words.trim().is_empty()).then_some(Reply::Words(words))
    }

    async fn answer(&self, asked: AskedHere, reply: Reply) {
        let reach = self.service.owner.reach(&self.places);
        let to = Addressee {
            run: asked.run,
            name: asked.name,
            record: None,
        };
        let answered = acts::answer(&reach, &to, &asked.question, reply, Respondent::Pi).await;
        if let Err(error) = answered {
            self.link
                .notify(&error.lines(Door::PiCommand), Level::Warning);
        }
    }
}

impl EventSink for QuestionSink {
    fn on_events(&mut self, events: &[RunEvent], summary: &RunSummary) {
        for event in events {
            match &event.happening {
                Happening::Asked(question) => {
                    lock(&self.open).insert(question.id.clone(), event.run.clone());
                    let task = summary.task.as_ref();
                    // The call may be over.
                    _ = self.asked.send(AskedHere {
                        run: event.run.clone(),
                        name: task.map_or_else(String::new, |task| task.name.clone()),
                        question: question.clone(),
                    });
                }
                Happening::Answered(answered) => _ = lock(&self.open).remove(&answered.id),
                Happening::Ended(_) => lock(&self.open).retain(|_, run| *run != event.run),
                _ => {}
            }
        }
    }
}

fn lock(open: &OpenHere) -> MutexGuard<'_, HashMap<QuestionId, RunId>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
