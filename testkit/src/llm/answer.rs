//! Answers one request.

use std::collections::BTreeMap;
use std::future;
use std::io;
use std::panic;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{self, State as Shared};
use axum::http::{StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::state::{OpenRequest, Request, State};
use super::turn::{Fault, Turn};
use super::wire::{Exchange, Wire};

/// Answers a request with the turn that the script has for it.
pub(super) async fn answer(
    Shared(state): Shared<Arc<State>>,
    request: extract::Request,
) -> Response {
    let open = state.enter();
    let request = read(request).await;
    let Some(wire) = Wire::of_path(&request.path) else {
        return json_response(StatusCode::NOT_FOUND, &Value::Null);
    };
    let user = wire.last_user_text(&request.body);
    let model = wire.model(&request);
    let wants_stream = wire.wants_stream(&request);
    let number = state.record(request);
    let turn = state.take_turn(&user, &model).unwrap_or_else(|| {
        Turn::status(500, format!("no rule has a turn for {model} and: {user}"))
    });
    if turn.gate_after == 0
        && let Some(gate) = &turn.gate
    {
        state.pass(gate).await;
    }
    sleep(Duration::from_millis(turn.delay_ms)).await;
    let exchange = Exchange {
        turn: &turn,
        model: &model,
        number,
    };
    match &turn.fault {
        Some(Fault::Hang) => future::pending().await,
        // Ends the task of the connection without a word from the panic hook.
        Some(Fault::Drop) => panic::resume_unwind(Box::new("the script drops the connection")),
        Some(Fault::Status {
            code,
            message,
            retry_after,
        }) => failure(wire, *code, message, *retry_after),
        _ if wants_stream => {
            let frames = wire.frames(&exchange);
            stream_response(state, open, turn, frames)
        }
        _ => json_response(StatusCode::OK, &wire.whole(&exchange)),
    }
}

async fn read(request: extract::Request) -> Request {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let headers: BTreeMap<String, String> = parts
        .headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect();
    Request {
        path: parts.uri.to_string(),
        headers,
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    }
}

fn failure(wire: Wire, code: u16, message: &str, retry_after: Option<u64>) -> Response {
    let status = StatusCode::from_u16(code).expect("a status of the script");
    let mut response = json_response(status, &wire.error(code, message));
    if let Some(seconds) = retry_after {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .expect("a response of constant headers")
}

type Frame = Result<Bytes, io::Error>;

fn stream_response(
    state: Arc<State>,
    open: OpenRequest,
    turn: Turn,
    frames: Vec<String>,
) -> Response {
    let headers = turn.headers.clone();
    // One frame at most waits, so a slow client slows the script down.
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        tokio::select! {
            () = sender.closed() => {}
            () = send_frames(&state, &turn, frames, &sender) => {}
        }
        drop(open);
    });
    let body = stream::unfold(receiver, |mut receiver: mpsc::Receiver<Frame>| async {
        receiver.recv().await.map(|frame| (frame, receiver))
    });
    let mut response = Response::builder()
        .header(header::CONTENT_TYPE, "text/event-stream")
        .header(header::CACHE_CONTROL, "no-cache");
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response
        .body(Body::from_stream(body))
        .expect("a response of constant headers")
}

async fn send_frames(
    state: &State,
    turn: &Turn,
    frames: Vec<String>,
    sender: &mpsc::Sender<Frame>,
) {
    for (index, frame) in frames.into_iter().enumerate() {
        if index > 0 {
            sleep(Duration::from_millis(turn.between_ms)).await;
        }
        if index > 0
            && index == turn.gate_after
            && let Some(gate) = &turn.gate
        {
            state.pass(gate).await;
        }
        if turn.fault == Some(Fault::CutAfter(index)) {
            break;
        }
        if index == 1 && turn.fault == Some(Fault::Malformed) {
            let _ = sender.send(Ok("data: {\"broken\": \n\n".into())).await;
        }
        if sender.send(Ok(frame.into())).await.is_err() {
            return;
        }
    }
    if matches!(turn.fault, Some(Fault::CutAfter(_))) {
        cut(sender).await;
    }
}

/// Ends the connection after the frames so far have left.
async fn cut(sender: &mpsc::Sender<Frame>) {
    let Ok(room) = sender.reserve().await else {
        return;
    };
    // The connection has taken the last frame; now it gets the time to write it.
    tokio::task::yield_now().await;
    room.send(Err(io::Error::other("the script cuts the stream")));
}
