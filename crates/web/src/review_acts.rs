//! Does with the queue of a review what a person on the page wants.

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use pi_subagents_calls::review_desk::{
    Return, ReviewDesk, WantedAccept, dismiss, look_later, send_back,
};
use pi_subagents_calls::start_from_screen::WantedRun;
use pi_subagents_git::SavedEdits;
use pi_subagents_ground::error::CommandError;
use pi_subagents_ground::places::Places;
use pi_subagents_runs::acts::{self, Addressee, Reach};
use pi_subagents_runs::inbox::{InboxQuestion, find_question};
use pi_subagents_runs::review::undo::undo;
use pi_subagents_runs::review::{AcceptNews, AcceptReport, WantedParts};
use pi_subagents_vocabulary::review::{LineComment, SentBack};
use pi_subagents_vocabulary::{BadId, QuestionId, Reply, Respondent, RunId};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use crate::answers::ServedRuns;
use crate::problem::Problem;
use crate::rows::clean_name;

/// The number of pieces of news that wait for a page that reads slowly.
const NEWS_WAITING: usize = 64;

/// The number of results that one request may name.
const MOST_RESULTS: usize = 256;

/// The results that a person on the page accepts, and the gates that the page has asked about.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AcceptWish {
    #[serde(default)]
    project: Option<String>,
    runs: Vec<String>,
    gates: Vec<String>,
    /// The names of the wanted parts of some results; the others are wanted whole.
    #[serde(default)]
    parts: BTreeMap<String, BTreeSet<String>>,
}

/// The project whose last landing a person takes back.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UndoWish {
    #[serde(default)]
    project: Option<String>,
}

/// What a person sends back with a result.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SendBackWish {
    #[serde(default)]
    note: String,
    #[serde(default)]
    comments: Vec<CommentWish>,
    /// The run on whose result it is done again.
    #[serde(default)]
    on: Option<String>,
}

/// A comment on a line of a result.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CommentWish {
    path: String,
    line: Option<u64>,
    quoted: String,
    words: String,
}

/// The answer to a question.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AnswerWish {
    question: QuestionId,
    reply: Reply,
}

impl ServedRuns {
    /// Accepts results. The answer tells what happens, and ends with what became of each; a page that
    /// is closed meanwhile stops nothing.
    pub(crate) fn accept(&self, wish: AcceptWish) -> Result<Response, Problem> {
        let places = self.places_of(wish.project)?;
        if wish.runs.is_empty() || wish.runs.len() > MOST_RESULTS {
            return Err(Problem::bad_request(format!(
                "Between 1 and {MOST_RESULTS} results can be accepted at once."
            )));
        }
        let other_kind = || Problem::bad_request("A run has another kind of id.");
        let only = wish.runs.iter().map(|run| RunId::parse(run));
        let only = only.collect::<Result<Vec<_>, _>>();
        let parts = wish.parts.into_iter().map(|(run, names)| {
            let run = RunId::parse(&run)?;
            Ok((run, WantedParts::Named(names)))
        });
        let parts: Result<_, BadId> = parts.collect();
        let wanted = WantedAccept {
            only: only.map_err(|_| other_kind())?,
            confirmed: Some(wish.gates),
            parts: parts.map_err(|_| other_kind())?,
        };
        let (send, news) = mpsc::channel(NEWS_WAITING);
        let this = self.clone();
        spawn_blocking(move || {
            let last = this.accept_now(&places, wanted, &send);
            this.board.look_at_results();
            // A page that is gone reads the queue when it comes again.
            _ = send.blocking_send(last);
        });
        let body = unfold(news, |mut news| async {
            let piece: Value = news.recv().await?;
            Some((Ok::<_, Infallible>(format!("data: {piece}\n\n")), news))
        });
        let kind = [(header::CONTENT_TYPE, "text/event-stream")];
        Ok((kind, Body::from_stream(body)).into_response())
    }

    fn accept_now(
        &self,
        places: &Places,
        wanted: WantedAccept,
        send: &mpsc::Sender<Value>,
    ) -> Value {
        let desk = ReviewDesk {
            places,
            index: self.index.known(),
        };
        let report = desk.accept(wanted, &mut |news| {
            _ = send.blocking_send(json!({ "news": news_json(&news) }));
        });
        match report {
            Ok(report) => report_json(&report),
            Err(error) => json!({ "problem": Problem::from(error).message() }),
        }
    }

    /// Takes the last landing in a project back.
    pub(crate) fn undo(&self, wish: UndoWish) -> Result<Value, Problem> {
        let places = self.places_of(wish.project)?;
        let report = undo(&places, self.index.known(), SavedEdits::Refused)?;
        self.board.look_at_results();
        let lines = [vec![report.line()], report.warnings.clone()].concat();
        Ok(message_json(&lines.join("\n")))
    }

    /// Marks a run as something for later, or takes the mark away.
    pub(crate) fn later(&self, run: &str) -> Result<Value, Problem> {
        Ok(message_json(&look_later(&self.one(run)?)?))
    }

    /// Lists a failed run no more.
    pub(crate) fn dismiss(&self, run: &str) -> Result<Value, Problem> {
        Ok(message_json(&dismiss(&self.one(run)?)?))
    }

    /// Sends a result back to its sub-agent.
    pub(crate) async fn send_back(
        &self,
        run: String,
        wish: SendBackWish,
    ) -> Result<Value, Problem> {
        let run = self.wanted(run).await?;
        let sent = SentBack {
            name: run.name.clone(),
            comments: wish.comments.into_iter().map(LineComment::from).collect(),
            note: wish.note,
        };
        let on = wish.on.map(|on| RunId::parse(&on)).transpose();
        let on = on.map_err(|_| Problem::bad_request("A run has another kind of id."))?;
        if sent.is_empty() && on.is_none() {
            return Err(Problem::bad_request(
                "Say what should change, or comment on a line.",
            ));
        }
        let went = send_back(&self.starter, Return { run, sent, on }).await?;
        Ok(json!({ "run": went.run.as_str(), "message": went.sentence }))
    }

    /// Answers a question of a run. A run that was parked goes on with the answer as its next prompt.
    pub(crate) async fn answer(&self, run: String, wish: AnswerWish) -> Result<Value, Problem> {
        let this = self.clone();
        let AnswerWish { question, reply } = wish;
        let found = spawn_blocking(move || this.question(&run, &question)).await??;
        let asked = &found.asked.question;
        if !found.parked {
            let (reach, to) = (Reach::by_owners(&self.places), Addressee::from(found.run));
            let answered = acts::answer(&reach, &to, asked, reply, Respondent::Page).await?;
            return Ok(message_json(&answered.sentence()));
        }
        let taken = asked.take(&reply).map_err(|problem| {
            CommandError::failed(format!("the answer was not taken: {problem}"))
        })?;
        let prompt = taken.prompt(&asked.text);
        let usual = format!("{} continues with your answer.", clean_name(&found.name));
        let run = Box::new(found.run);
        self.start(WantedRun::Resumed { run, prompt }, usual).await
    }

    fn question(&self, run: &str, id: &QuestionId) -> Result<InboxQuestion, Problem> {
        let found = find_question(self.index.known(), id)?;
        let found = found.into_iter().find(|one| one.run_id.as_str() == run);
        let found = found.ok_or_else(|| Problem::not_found("There is no such question."))?;
        match &found.asked.outcome {
            None => Ok(found),
            Some(outcome) => Err(Problem::failed(format!(
                "The question is answered already: {}",
                outcome.sentence()
            ))),
        }
    }
}

impl From<CommentWish> for LineComment {
    fn from(wish: CommentWish) -> Self {
        Self {
            path: wish.path,
            line: wish.line,
            quoted: wish.quoted,
            words: wish.words,
        }
    }
}

fn news_json(news: &AcceptNews<'_>) -> Value {
    let words = news.sentence();
    match news {
        AcceptNews::Confined(sandbox) => {
            json!({ "kind": "confined", "sandbox": sandbox, "words": words })
        }
        AcceptNews::GateBegan { results, command } => {
            json!({ "kind": "began", "results": results, "command": command, "words": words })
        }
        AcceptNews::GateEnded {
            results,
            command,
            code,
            took,
        } => json!({
            "kind": "ended", "results": results, "command": command, "code": code,
            "seconds": took.as_secs_f64(), "words": words,
        }),
        AcceptNews::Again => json!({ "kind": "again", "words": words }),
        AcceptNews::Lands => json!({ "kind": "lands", "words": words }),
    }
}

fn report_json(report: &AcceptReport) -> Value {
    let fates = report.results.iter();
    let words: Vec<String> = fates.map(|one| one.fate.words()).collect();
    json!({
        "report": report.printed(),
        "words": words,
        "message": report.sentence(),
        "notes": report.notes(),
    })
}

fn message_json(message: &str) -> Value {
    json!({ "message": message })
}
