//! The addresses of the server. Without power there are no routes that change anything.

use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Extension, Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::admission::{Gate, admit, guard};
use crate::export::export_file;
use crate::files;
use crate::live::Streams;
use crate::query::Query;
use crate::runs::{Problem, Question, Runs, View, Wish};
use crate::token::{Grant, Power};

/// The length of the longest body of a request.
const LONGEST_BODY: usize = 256 << 10;

/// The number of runs that are listed by default, and the largest number that may be asked for.
const USUAL_RUNS: usize = 200;
const MOST_RUNS: usize = 1000;

/// Everything that answers need.
#[derive(Clone)]
pub(crate) struct Served {
    runs: Arc<dyn Runs>,
    power: Power,
    streams: Streams,
}

impl Served {
    pub(crate) fn new(runs: Arc<dyn Runs>, power: Power, ended: watch::Receiver<()>) -> Self {
        Self {
            runs,
            power,
            streams: Streams::new(ended),
        }
    }

    async fn json(&self, question: Question) -> Response {
        answered(self.runs.answer(question).await)
    }
}

/// Returns the addresses that are served.
pub(crate) fn router(served: Served, gate: Arc<Gate>) -> Router {
    let mut api = Router::new()
        .route("/v1/about", get(about))
        .route("/v1/runs", get(runs))
        .route("/v1/runs/{run}", get(run))
        .route("/v1/runs/{run}/events", get(events))
        .route("/v1/runs/{run}/texts", get(texts))
        .route("/v1/runs/{run}/raw", get(raw))
        .route("/v1/runs/{run}/changes", get(changes))
        .route("/v1/spans", get(spans))
        .route("/v1/fits", get(fits))
        .route("/v1/usage", get(usage))
        .route("/v1/definitions", get(definitions))
        .route("/v1/export.html", get(export))
        .route("/v1/trace.json", get(trace))
        .route("/v1/stream", get(stream))
        .route("/v1/streams/{stream}", get(turn));
    if served.power == Power::Full {
        api = api
            .route("/v1/runs/{run}/steer", post(steer))
            .route("/v1/runs/{run}/stop", post(stop))
            .route("/v1/runs/{run}/continue", post(go_on))
            .route("/v1/runs/{run}/again", post(again))
            .route("/v1/runs/{run}/merge", post(merge))
            .route("/v1/runs/{run}/discard", post(discard));
    }
    let api = api
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(Arc::clone(&gate), admit));
    // The files of the page hold nothing that is secret.
    let files = Router::new()
        .route("/", get(start_page))
        .route("/{file}", get(file));
    api.merge(files)
        .layer(from_fn_with_state(gate, guard))
        .with_state(served)
}

async fn start_page(headers: HeaderMap) -> Response {
    files::file("index.html", &headers)
}

async fn file(Path(file): Path<String>, headers: HeaderMap) -> Response {
    files::file(&file, &headers)
}

async fn about(State(served): State<Served>, Extension(grant): Extension<Grant>) -> Response {
    let may_act = served.power == Power::Full && grant == Grant::Everything;
    served.json(Question::About { may_act }).await
}

async fn runs(State(served): State<Served>, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref());
    let question = Question::Runs {
        project: query.text("project"),
        words: query.text("q"),
        from: query.number("from").unwrap_or(0),
        count: query.number("count").unwrap_or(USUAL_RUNS).min(MOST_RUNS),
    };
    served.json(question).await
}

async fn run(State(served): State<Served>, Path(run): Path<String>) -> Response {
    served.json(Question::Run { run }).await
}

async fn events(
    State(served): State<Served>,
    Path(run): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let from = Query::read(query.as_deref()).number("from");
    served.json(Question::Events { run, from }).await
}

async fn texts(
    State(served): State<Served>,
    Path(run): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let places = Query::read(query.as_deref()).places("at");
    served.json(Question::Texts { run, places }).await
}

async fn raw(
    State(served): State<Served>,
    Path(run): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let from = Query::read(query.as_deref()).number("from").unwrap_or(0);
    served.json(Question::Raw { run, from }).await
}

async fn spans(State(served): State<Served>, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref());
    let question = Question::Spans {
        runs: query.names("runs"),
        part: query.number("from").zip(query.number("to")),
        most: query.number("most"),
    };
    served.json(question).await
}

async fn changes(State(served): State<Served>, Path(run): Path<String>) -> Response {
    served.json(Question::Changes { run }).await
}

async fn fits(State(served): State<Served>, RawQuery(query): RawQuery) -> Response {
    let runs = Query::read(query.as_deref()).names("runs");
    served.json(Question::Fits { runs }).await
}

async fn usage(State(served): State<Served>, RawQuery(query): RawQuery) -> Response {
    let project = Query::read(query.as_deref()).text("project");
    served.json(Question::Usage { project }).await
}

async fn definitions(State(served): State<Served>, RawQuery(query): RawQuery) -> Response {
    let project = Query::read(query.as_deref()).text("project");
    served.json(Question::Definitions { project }).await
}

async fn export(State(served): State<Served>, RawQuery(query): RawQuery) -> Response {
    let runs = Query::read(query.as_deref()).names("runs");
    match served.runs.answer(Question::Export { runs }).await {
        // It is data here: a browser that is led to this address does not show it.
        Ok(data) => {
            let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
            (kind, export_file(&data)).into_response()
        }
        Err(problem) => refused(&problem),
    }
}

async fn trace(State(served): State<Served>, RawQuery(query): RawQuery) -> Response {
    let runs = Query::read(query.as_deref()).names("runs");
    served.json(Question::Trace { runs }).await
}

async fn stream(State(served): State<Served>, RawQuery(query): RawQuery) -> Response {
    let follow = |view| served.runs.follow(view);
    served.streams.open(view(query.as_deref()), follow)
}

async fn turn(
    State(served): State<Served>,
    Path(stream): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let view = view(query.as_deref());
    let number = stream.parse();
    if number.is_ok_and(|number| served.streams.turn(number, view)) {
        return Json(json!({})).into_response();
    }
    refused_with(StatusCode::NOT_FOUND, "There is no such stream.")
}

/// Returns the part of the runs that a tab looks at.
fn view(query: Option<&str>) -> View {
    let query = Query::read(query);
    View {
        project: query.text("project"),
        run: query.text("run"),
        from: query.number("from").unwrap_or(0),
    }
}

async fn steer(
    State(served): State<Served>,
    Path(run): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    match said(&body) {
        Some(message) => answered(served.runs.act(run, Wish::Steer(message)).await),
        None => nothing_said(),
    }
}

async fn stop(State(served): State<Served>, Path(run): Path<String>) -> Response {
    answered(served.runs.act(run, Wish::Stop).await)
}

async fn go_on(
    State(served): State<Served>,
    Path(run): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    match said(&body) {
        Some(prompt) => answered(served.runs.act(run, Wish::Continue(prompt)).await),
        None => nothing_said(),
    }
}

async fn again(
    State(served): State<Served>,
    Path(run): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    match said(&body) {
        Some(model) => answered(served.runs.act(run, Wish::Again(model)).await),
        None => nothing_said(),
    }
}

async fn merge(State(served): State<Served>, Path(run): Path<String>) -> Response {
    answered(served.runs.act(run, Wish::Merge).await)
}

async fn discard(State(served): State<Served>, Path(run): Path<String>) -> Response {
    answered(served.runs.act(run, Wish::Discard).await)
}

/// Returns the words of a request.
fn said(body: &Value) -> Option<String> {
    let words = body.get("message")?.as_str()?.trim();
    (!words.is_empty()).then(|| words.to_owned())
}

fn nothing_said() -> Response {
    refused_with(StatusCode::BAD_REQUEST, "The message is empty.")
}

fn answered(answer: Result<String, Problem>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    match answer {
        Ok(answer) => (kind, answer).into_response(),
        Err(problem) => refused(&problem),
    }
}

fn refused(problem: &Problem) -> Response {
    let status = if problem.is_not_found {
        StatusCode::NOT_FOUND
    } else {
        StatusCode::CONFLICT
    };
    refused_with(status, &problem.message)
}

fn refused_with(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({"error": message}))).into_response()
}
