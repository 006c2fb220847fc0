//! The one stream of a tab. The tab can turn it to another run while it is open, so that it never
//! has to be opened anew.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::unfold;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::problem::Problem;

/// The part of the runs that a tab looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct View {
    /// The project whose finished runs are listed; `None` for all runs.
    pub(crate) project: Option<String>,
    /// The run that is open.
    pub(crate) run: Option<String>,
    /// The place in its record behind the part that the tab has read already.
    pub(crate) from: u64,
}

/// The number of tabs that are served at once.
const MOST_STREAMS: usize = 64;

/// The streams that are open.
#[derive(Clone)]
pub(crate) struct Streams {
    free: Arc<Semaphore>,
    /// Changes when the server ends or its tokens are revoked.
    ended: watch::Receiver<()>,
    views: Arc<Views>,
}

/// The views of the streams by their numbers.
struct Views {
    next: AtomicU64,
    views: Mutex<HashMap<u64, watch::Sender<View>>>,
}

impl Streams {
    pub(crate) fn new(ended: watch::Receiver<()>) -> Self {
        Self {
            free: Arc::new(Semaphore::new(MOST_STREAMS)),
            ended,
            views: Arc::new(Views::new()),
        }
    }

    /// Opens a stream of the pieces that `follow` begins to send. The first piece has the number of
    /// the stream.
    pub(crate) fn open(
        &self,
        view: View,
        follow: impl FnOnce(watch::Receiver<View>) -> mpsc::Receiver<String>,
    ) -> Result<Response, Problem> {
        let Ok(place) = Arc::clone(&self.free).try_acquire_owned() else {
            let text = "Too many tabs are open. Close some of them.";
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, text));
        };
        let (number, view) = self.views.add(view);
        let mut ended = self.ended.clone();
        // Only what ends later ends this stream.
        ended.mark_unchanged();
        let open = Open {
            first: Some(json!({ "stream": number }).to_string()),
            pieces: follow(view),
            ended,
            number,
            views: Arc::clone(&self.views),
            _place: place,
        };
        let body = unfold(open, |mut open| async {
            let piece = open.next().await?;
            Some((Ok::<_, Infallible>(piece), open))
        });
        let kind = [(header::CONTENT_TYPE, "text/event-stream")];
        Ok((kind, Body::from_stream(body)).into_response())
    }

    /// Turns a stream to another view. Returns whether the stream is open.
    pub(crate) fn turn(&self, number: u64, view: View) -> bool {
        let views = self.views.lock();
        let stream = views.get(&number);
        stream.is_some_and(|stream| stream.send(view).is_ok())
    }
}

impl Views {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(0));
        Self {
            // The numbers of a server that ran before are not used again.
            next: AtomicU64::new(now),
            views: Mutex::default(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, watch::Sender<View>>> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, view: View) -> (u64, watch::Receiver<View>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (turn, turned) = watch::channel(view);
        self.lock().insert(number, turn);
        (number, turned)
    }
}

struct Open {
    /// The piece that comes before those that are followed.
    first: Option<String>,
    pieces: mpsc::Receiver<String>,
    ended: watch::Receiver<()>,
    number: u64,
    views: Arc<Views>,
    _place: OwnedSemaphorePermit,
}

impl Open {
    async fn next(&mut self) -> Option<String> {
        let piece = if let Some(first) = self.first.take() {
            first
        } else {
            tokio::select! {
                piece = self.pieces.recv() => piece?,
                _ = self.ended.changed() => return None,
            }
        };
        Some(format!("data: {piece}\n\n"))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.views.lock().remove(&self.number);
    }
}
