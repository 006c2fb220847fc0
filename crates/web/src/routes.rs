//! The addresses of the server. Without power there are no routes that change anything.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Extension, FromRequest, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use pi_subagents_runs::page_address::Power;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::admission::{Gate, admit, exchange, guard};
use crate::answers::ServedRuns;
use crate::export_file::export_file;
use crate::files;
use crate::problem::Problem;
use crate::query::Query;
use crate::review_acts::{AcceptWish, AnswerWish, SendBackWish, UndoWish};
use crate::run_list::WantedRuns;
use crate::streams::{Streams, View};

/// The length of the longest body of a request.
const LONGEST_BODY: usize = 256 << 10;

/// Everything that answers need.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) runs: ServedRuns,
    pub(crate) power: Power,
    pub(crate) streams: Streams,
}

/// The answer to a request, or the reason why there is none.
type Answer = Result<Response, Problem>;

impl Site {
    /// Answers with JSON. The work may read files, so it is done where that blocks nobody.
    async fn json<A, W>(&self, work: W) -> Answer
    where
        A: ToString + Send + 'static,
        W: FnOnce(&ServedRuns) -> Result<A, Problem> + Send + 'static,
    {
        let answer = self.runs.read(work).await?;
        Ok(json_text(answer.to_string()))
    }
}

/// Returns the addresses that are served.
pub(crate) fn router(site: Site, gate: Arc<Gate>) -> Router {
    let mut api = Router::new()
        .route("/v1/about", get(about))
        .route("/v1/runs", get(runs))
        .route("/v1/runs/{run}", get(run))
        .route("/v1/runs/{run}/events", get(events))
        .route("/v1/runs/{run}/texts", get(texts))
        .route("/v1/runs/{run}/raw", get(raw))
        .route("/v1/runs/{run}/changes", get(changes))
        .route("/v1/runs/{run}/budgets", get(budgets))
        .route("/v1/spans", get(spans))
        .route("/v1/fits", get(fits))
        .route("/v1/usage", get(usage))
        .route("/v1/agents", get(agents))
        .route("/v1/export.html", get(export))
        .route("/v1/trace.json", get(trace))
        .route("/v1/review", get(review))
        .route("/v1/review/count", get(review_count))
        .route("/v1/review/{run}", get(reviewed))
        .route("/v1/review/{run}/diff", get(reviewed_file))
        .route("/v1/review/{run}/parts", get(reviewed_parts))
        .route("/v1/stream", get(stream))
        .route("/v1/streams/{stream}", get(turn));
    if site.power == Power::Full {
        api = api
            .route("/v1/runs/{run}/steer", post(steer))
            .route("/v1/runs/{run}/stop", post(stop))
            .route("/v1/runs/{run}/continue", post(go_on))
            .route("/v1/runs/{run}/again", post(again))
            .route("/v1/runs/{run}/merge", post(merge))
            .route("/v1/runs/{run}/discard", post(discard))
            .route("/v1/runs/{run}/later", post(later))
            .route("/v1/runs/{run}/dismiss", post(dismiss))
            .route("/v1/runs/{run}/send-back", post(send_back))
            .route("/v1/runs/{run}/answer", post(answer))
            .route("/v1/accept", post(accept))
            .route("/v1/undo", post(undo));
    }
    let api = api.layer(from_fn_with_state(Arc::clone(&gate), admit));
    // The files of the page hold nothing that is secret, and a code is exchanged for a token.
    let open = Router::new()
        .route("/", get(start_page))
        .route("/{file}", get(file))
        .route("/v1/token", post(exchange).with_state(Arc::clone(&gate)));
    api.merge(open)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(gate, guard))
        .with_state(site)
}

async fn start_page(headers: HeaderMap) -> Response {
    files::file("index.html", &headers)
}

async fn file(Path(file): Path<String>, headers: HeaderMap) -> Response {
    files::file(&file, &headers)
}

async fn about(State(site): State<Site>, Extension(grant): Extension<Power>) -> Answer {
    let may_act = site.power == Power::Full && grant == Power::Full;
    Ok(json_value(&site.runs.about(may_act)))
}

async fn runs(State(site): State<Site>, query: Query) -> Answer {
    let wanted = WantedRuns::of(&query);
    site.json(move |runs| runs.list(&wanted)).await
}

async fn run(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    site.json(move |runs| runs.run(&run)).await
}

async fn events(State(site): State<Site>, Path(run): Path<String>, query: Query) -> Answer {
    let from = query.number("from");
    site.json(move |runs| runs.events(&run, from)).await
}

async fn texts(State(site): State<Site>, Path(run): Path<String>, query: Query) -> Answer {
    let places = query.places("at");
    site.json(move |runs| crate::texts::texts(&runs.one(&run)?, &places))
        .await
}

async fn raw(State(site): State<Site>, Path(run): Path<String>, query: Query) -> Answer {
    let from = query.number("from").unwrap_or(0);
    site.json(move |runs| crate::texts::raw(&runs.one(&run)?, from))
        .await
}

async fn changes(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    site.json(move |runs| crate::changes::changes(&runs.one(&run)?))
        .await
}

async fn budgets(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    site.json(move |runs| runs.budgets(&run)).await
}

async fn spans(State(site): State<Site>, query: Query) -> Answer {
    let wanted = query.names("runs");
    let part = query.number("from").zip(query.number("to"));
    let most = query.number("most");
    site.json(move |runs| runs.spans(&wanted, part, most)).await
}

async fn fits(State(site): State<Site>, query: Query) -> Answer {
    let wanted = query.names("runs");
    site.json(move |runs| runs.fits(&wanted)).await
}

async fn usage(State(site): State<Site>, query: Query) -> Answer {
    let project = query.text("project");
    site.json(move |runs| runs.usage(project)).await
}

async fn agents(State(site): State<Site>, query: Query) -> Answer {
    let project = query.text("project");
    site.json(move |runs| Ok(runs.definitions(project))).await
}

async fn export(State(site): State<Site>, query: Query) -> Answer {
    let wanted = query.names("runs");
    let data = site.runs.read(move |runs| runs.export(&wanted)).await?;
    // It is data here: a browser that is led to this address does not show it.
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    Ok((kind, export_file(&data)).into_response())
}

async fn trace(State(site): State<Site>, query: Query) -> Answer {
    let wanted = query.names("runs");
    site.json(move |runs| runs.trace(&wanted)).await
}

async fn stream(State(site): State<Site>, query: Query) -> Answer {
    site.streams
        .open(view(&query), |view| site.runs.follow(view))
}

async fn turn(State(site): State<Site>, Path(stream): Path<String>, query: Query) -> Answer {
    let number = stream.parse();
    if number.is_ok_and(|number| site.streams.turn(number, view(&query))) {
        return Ok(Json(json!({})).into_response());
    }
    Err(Problem::not_found("There is no such stream."))
}

async fn review(State(site): State<Site>, query: Query) -> Answer {
    let project = query.text("project");
    site.json(move |runs| runs.review(project)).await
}

async fn review_count(State(site): State<Site>, query: Query) -> Answer {
    let project = query.text("project");
    site.json(move |runs| runs.review_count(project)).await
}

async fn reviewed(State(site): State<Site>, Path(run): Path<String>, query: Query) -> Answer {
    let project = query.text("project");
    site.json(move |runs| runs.reviewed(&run, project)).await
}

async fn reviewed_file(State(site): State<Site>, Path(run): Path<String>, query: Query) -> Answer {
    let (project, file) = (query.text("project"), query.number("file").unwrap_or(0));
    site.json(move |runs| runs.reviewed_file(&run, project, file))
        .await
}

async fn reviewed_parts(State(site): State<Site>, Path(run): Path<String>, query: Query) -> Answer {
    let project = query.text("project");
    site.json(move |runs| runs.reviewed_parts(&run, project))
        .await
}

/// Returns the part of the runs that a tab looks at.
fn view(query: &Query) -> View {
    View {
        project: query.text("project"),
        run: query.text("run"),
        from: query.number("from").unwrap_or(0),
    }
}

async fn steer(
    State(site): State<Site>,
    Path(run): Path<String>,
    Message(words): Message,
) -> Answer {
    Ok(json_value(&site.runs.steer(run, words).await?))
}

async fn stop(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    Ok(json_value(&site.runs.stop(run).await?))
}

async fn go_on(
    State(site): State<Site>,
    Path(run): Path<String>,
    Message(prompt): Message,
) -> Answer {
    Ok(json_value(&site.runs.go_on(run, prompt).await?))
}

async fn again(
    State(site): State<Site>,
    Path(run): Path<String>,
    Message(model): Message,
) -> Answer {
    Ok(json_value(&site.runs.again(run, model).await?))
}

async fn merge(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    Ok(json_value(&site.runs.merge(run).await?))
}

async fn discard(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    Ok(json_value(&site.runs.discard(run).await?))
}

async fn later(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    site.json(move |runs| runs.later(&run)).await
}

async fn dismiss(State(site): State<Site>, Path(run): Path<String>) -> Answer {
    site.json(move |runs| runs.dismiss(&run)).await
}

async fn send_back(
    State(site): State<Site>,
    Path(run): Path<String>,
    Wish(wish): Wish<SendBackWish>,
) -> Answer {
    Ok(json_value(&site.runs.send_back(run, wish).await?))
}

async fn answer(
    State(site): State<Site>,
    Path(run): Path<String>,
    Wish(wish): Wish<AnswerWish>,
) -> Answer {
    Ok(json_value(&site.runs.answer(run, wish).await?))
}

async fn accept(State(site): State<Site>, Wish(wish): Wish<AcceptWish>) -> Answer {
    site.runs.read(move |runs| runs.accept(wish)).await
}

async fn undo(State(site): State<Site>, Wish(wish): Wish<UndoWish>) -> Answer {
    site.json(move |runs| runs.undo(wish)).await
}

/// A wish of a person, in the body of a request.
struct Wish<W>(W);

impl<S: Send + Sync, W: DeserializeOwned> FromRequest<S> for Wish<W> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|refused| too_long(refused.status()))?;
        let wish = serde_json::from_slice(&body);
        wish.map(Self).map_err(|error| {
            Problem::bad_request(format!("The body of the request does not fit: {error}"))
        })
    }
}

/// The words of a person, in the body of a request.
struct Message(String);

impl<S: Send + Sync> FromRequest<S> for Message {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|refused| too_long(refused.status()))?;
        let body: Value = serde_json::from_slice(&body)
            .map_err(|_| Problem::bad_request("The body of the request is not JSON."))?;
        let words = body.get("message").and_then(Value::as_str).map(str::trim);
        match words {
            Some(words) if !words.is_empty() => Ok(Self(words.to_owned())),
            _ => Err(Problem::bad_request("The message is empty.")),
        }
    }
}

fn too_long(status: StatusCode) -> Problem {
    let kilobytes = LONGEST_BODY >> 10;
    Problem::new(
        status,
        format!("A message has at most {kilobytes} kB. Nothing was sent to the run."),
    )
}

fn json_value(value: &Value) -> Response {
    json_text(value.to_string())
}

fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
