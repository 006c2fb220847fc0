//! The one stream of a tab.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

/// The number of tabs that are served at once.
const MOST_STREAMS: usize = 64;

/// The streams that are open.
#[derive(Clone)]
pub(crate) struct Streams {
    free: Arc<Semaphore>,
    /// Changes when the server ends.
    ended: watch::Receiver<()>,
}

impl Streams {
    pub(crate) fn new(ended: watch::Receiver<()>) -> Self {
        Self {
            free: Arc::new(Semaphore::new(MOST_STREAMS)),
            ended,
        }
    }

    /// Opens a stream of the pieces that `follow` begins to send.
    pub(crate) fn open(&self, follow: impl FnOnce() -> mpsc::Receiver<String>) -> Response {
        let Ok(place) = Arc::clone(&self.free).try_acquire_owned() else {
            let text = "Too many tabs are open. Close some of them.\n";
            return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
        };
        let open = Open {
            pieces: follow(),
            ended: self.ended.clone(),
            _place: place,
        };
        let body = unfold(open, |mut open| async {
            let piece = open.next().await?;
            Some((Ok::<_, Infallible>(piece), open))
        });
        let kind = [(header::CONTENT_TYPE, "text/event-stream")];
        (kind, Body::from_stream(body)).into_response()
    }
}

struct Open {
    pieces: mpsc::Receiver<String>,
    ended: watch::Receiver<()>,
    _place: OwnedSemaphorePermit,
}

impl Open {
    async fn next(&mut self) -> Option<String> {
        tokio::select! {
            piece = self.pieces.recv() => Some(format!("data: {}\n\n", piece?)),
            _ = self.ended.changed() => None,
        }
    }
}
